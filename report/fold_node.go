package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

func (f *fold) applyNode(e *event.Event) {
	switch b := e.Body.(type) {
	case *event.NodeStarted:
		st := f.step(e)
		st.Visit, st.State, st.StartedAt = b.Visit, StepRunning, e.Time.UTC()
		f.clocks[st].start(f.running)
		f.purse.Iterations++
	case *event.NodeFinished:
		f.nodeFinished(e, b)
	case *event.NodeRetried:
		f.step(e).Retries = b.Try
	case *event.NodeFailed:
		st := f.step(e)
		st.State, st.Failure = StepFailed, &Outcome{Class: string(b.Class), Node: e.Node, Detail: b.Detail, Hint: b.Hint}
		f.clocks[st].stop(f.running)
		f.failure = st
	case *event.EdgeTaken:
		f.edgeTaken(e, b)
	case *event.GateOpened:
		f.gateOpened(e, b)
	case *event.GateAsked:
		f.gateAsked(e, b)
	case *event.GateAnswered:
		f.gateAnswered(e, b)
	default:
		f.applyBranch(e)
	}
}

// step is the one that e's token stands at. An event that names another node, or
// a token seen for the first time, begins one.
func (f *fold) step(e *event.Event) *Step {
	st := f.at[e.Token]
	if st == nil || st.Node != e.Node {
		st = f.arrive(e, e.Node, nil)
	}
	return st
}

func (f *fold) arrive(e *event.Event, node string, via *Via) *Step {
	st := &Step{Node: node, Token: e.Token, Via: via, State: StepArrived, StartedAt: e.Time.UTC(), Op: f.word(node), Branch: f.paths[e.Token]}
	if via == nil && len(f.path) > 0 {
		st.Joined = f.brought[node]
		delete(f.brought, node)
	}
	f.path = append(f.path, st)
	f.clocks[st] = &stopwatch{}
	f.at[e.Token] = st
	return st
}

func (f *fold) node(id string) *ir.Node {
	if f.w == nil {
		return nil
	}
	return f.w.Node(id)
}

func (f *fold) word(id string) string {
	if n := f.node(id); n != nil && n.Op != nil {
		return n.Op.Word()
	}
	return ""
}

func (f *fold) nodeFinished(e *event.Event, b *event.NodeFinished) {
	st := f.step(e)
	st.State = StepFinished
	f.clocks[st].stop(f.running)
	output := object(b.Output)
	st.Facts = f.facts(st.Node, output)
	st.Reason, st.By, st.Chosen = b.Reason, b.By, f.chosen(e.Node, b.Route)
	if b.By != "" {
		f.answeredByModel(e, modelAnswer{gate: fmt.Sprintf("%s#%d", e.Node, b.Visit), by: b.By, opened: st.StartedAt, values: b.Output.Raw()})
	}
	f.observe(st.Node, output)
	f.back(e)
	if b.Commit == "" {
		return
	}
	if f.paths[e.Token] == "" {
		f.s.Head = b.Commit
	}
	if b.Changed {
		st.Commit = b.Commit
		f.committed(e, Commit{Commit: b.Commit, Node: st.Node, Visit: b.Visit, Subject: subject(output)})
	}
}

// object decodes a payload that holds one; nil otherwise.
func object(p event.Payload) map[string]any {
	raw := p.Raw() // p is a copy: the caller's event stays as it is
	if len(raw) == 0 {
		return nil
	}
	v, err := ir.Decode(raw)
	if err != nil {
		return nil
	}
	m, _ := v.(map[string]any)
	return m
}

// maxFacts is how many fields of an output a step shows.
const maxFacts = 4

// facts are the fields of an output that say where the path goes: yes or no, and
// words out of a closed set, in the schema's order.
func (f *fold) facts(node string, output map[string]any) []Fact {
	n := f.node(node)
	if n == nil || n.Out == nil {
		return nil
	}
	var facts []Fact
	for _, field := range n.Out.Fields {
		value := ""
		switch v := output[field.Name].(type) {
		case bool:
			value = map[bool]string{true: "yes", false: "no"}[v]
		case string:
			if len(field.Enum) > 0 {
				value = v
			}
		}
		if value != "" && len(facts) < maxFacts {
			facts = append(facts, Fact{field.Name, value})
		}
	}
	return facts
}

// subject is what a node says it did, under the names that commits use.
func subject(output map[string]any) string {
	for _, name := range []string{"commit_message", "title", "summary"} {
		if s, ok := output[name].(string); ok && strings.TrimSpace(s) != "" {
			return strings.Join(strings.Fields(s), " ")
		}
	}
	return ""
}

func (f *fold) edgeTaken(e *event.Event, b *event.EdgeTaken) {
	via := f.via(e.Node, b.Edge, b.Loop, b.Count)
	if b.Joins {
		f.brought[b.To] = append(f.brought[b.To], *via)
		return
	}
	f.arrive(e, b.To, via)
}

func (f *fold) via(from string, edge int, loop string, count int) *Via {
	via := &Via{From: from, Edge: edge, Loop: loop, Count: count}
	if n := f.node(from); n != nil && edge >= 0 && edge < len(n.Edges) && n.Edges[edge].Loop != nil {
		via.Max = n.Edges[edge].Loop.Max
	}
	return via
}

func (f *fold) gateOpened(e *event.Event, b *event.GateOpened) {
	f.begin(e, b.Key, &effect{})
	g := f.gate(e, b.Gate)
	var q gates.Question
	payload := b.Question
	if raw := payload.Raw(); raw != nil && json.Unmarshal(raw, &q) == nil {
		g.Text, g.Input, g.MinAnswers, g.Commit = q.Text, q.Input, q.MinAnswers, q.Commit
		g.Fields = append(g.Fields, q.Fields...)
	}
}

// chosen names the targets of edges.
func (f *fold) chosen(node string, edges []int) []string {
	var names []string
	n := f.node(node)
	for _, i := range edges {
		if n != nil && i >= 0 && i < len(n.Edges) {
			names = append(names, n.Edges[i].To.ID)
		}
	}
	return names
}

// ByModel is the Via of a gate that a model answered in a person's place.
const ByModel = "model"

type modelAnswer struct {
	gate, text, by string
	opened         time.Time
	values         json.RawMessage
}

// answeredByModel keeps what no person was asked.
func (f *fold) answeredByModel(e *event.Event, a modelAnswer) {
	g, at := f.gate(e, a.gate), e.Time.UTC()
	g.State, g.OpenedAt, g.AnsweredAt, g.Text = GateAnswered, a.opened, &at, a.text
	g.By, g.Via, g.Values = a.by, ByModel, a.values
}

// gate is the one of that name, which a torn record may mention unopened.
func (f *fold) gate(e *event.Event, id string) *Gate {
	for _, g := range f.gates {
		if g.Gate == id {
			return g
		}
	}
	g := &Gate{Gate: id, Node: cmp.Or(e.Node, id), State: GateOpen, Fields: []gates.Field{}, OpenedAt: e.Time.UTC()}
	f.gates = append(f.gates, g)
	return g
}

func (f *fold) gateAsked(e *event.Event, b *event.GateAsked) {
	f.end(b.Key)
	st := f.step(e)
	st.State = StepWaiting
	f.clocks[st].stop(f.running)
	if g := f.gate(e, b.Gate); b.Ref != "" {
		g.Ref = b.Ref
	}
}

func (f *fold) gateAnswered(e *event.Event, b *event.GateAnswered) {
	f.end(b.Key)
	st := f.step(e)
	st.State = StepRunning
	f.clocks[st].start(f.running)
	g, at := f.gate(e, b.Gate), e.Time.UTC()
	g.State, g.AnsweredAt, g.By, g.Via, g.Values = GateAnswered, &at, b.By, b.Via, b.Output
}

// attemptOf reads the attempt out of a key: its last part.
func attemptOf(key event.Key) int {
	n, err := strconv.Atoi(string(key[strings.LastIndexByte(string(key), '/')+1:]))
	if err != nil || n < 1 {
		return 1
	}
	return n
}
