package runner_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
	"github.com/pawl-ci/pawl/runner/machine"
)

// The oracle is the language's meaning, written down a second time without
// tokens, events or concurrency: it walks a workflow by recursion, one branch
// after the other. It must agree with the engine on every workflow.
type oracle struct {
	w      *ir.Workflow
	visits map[*ir.Node]int
	trace  map[string][]string // by branch: what its nodes gave, in order
}

// visible are the newest outputs that a branch sees.
type visible map[string]map[string]any

// ended is how one branch ended: what it brought, or why it failed.
type ended struct {
	path, at string
	class    event.FailureClass
	input    map[string]any
	log      []written
	did      []string // nodes that it finished, or that branches of its own did which arrived
}

// written is one output of a branch, for those who come after the join.
type written struct {
	node   string
	output map[string]any
}

// verdict is how a run ended.
type verdict struct {
	outcome event.Outcome
	class   event.FailureClass
	trace   map[string][]string
}

func interpret(w *ir.Workflow, input map[string]any) verdict {
	o := &oracle{w: w, visits: make(map[*ir.Node]int), trace: make(map[string][]string)}
	ends := o.walk(w.Entry, input, map[string]int{}, visible{}, "", nil)
	v := verdict{outcome: event.Done, trace: o.trace}
	if class := ends[0].class; class != "" {
		v.outcome, v.class = event.Failed, class
	}
	return v
}

// walk follows one branch from n to its join, or to the end of the run. A fan-out
// that meets at the branch's own join makes several endings out of one.
func (o *oracle) walk(n *ir.Node, in map[string]any, loops map[string]int, see visible, path string, join *ir.Node) []ended {
	var log []written
	var did []string
	failed := func(class event.FailureClass) []ended {
		return []ended{{path: path, at: n.ID, class: class, log: log, did: did}}
	}
	var met []ended
	for {
		if end, ok := n.Op.(*ir.End); ok {
			if end.Fail || join != nil {
				return failed(event.FailNode)
			}
			return []ended{{path: path}}
		}
		out, class := o.perform(n, in, see, met)
		met = nil
		if class != "" {
			return failed(class)
		}
		see[n.ID] = out
		log, did = append(log, written{n.ID, out}), append(did, n.ID)
		o.trace[path] = append(o.trace[path], n.ID+" "+fmt.Sprint(out))
		if route, ok := n.Op.(*ir.Route); ok && route.FansOut() {
			ends, class := o.fan(n, in, loops, see, path)
			switch {
			case class != "":
				return failed(class)
			case n.Meets() == join:
				ends[0].log = append(slices.Clone(log), ends[0].log...)
				for i := range ends {
					ends[i].did = append(slices.Clone(did), ends[i].did...)
				}
				return ends
			}
			for _, e := range ends {
				if e.class == "" {
					did = append(did, e.did...)
				}
				for _, x := range e.log {
					see[x.node] = x.output
				}
				log = append(log, e.log...)
			}
			n, met, in = n.Meets(), ends, together(ends)
			continue
		}
		e, class := o.choose(n, out, loops)
		if class != "" {
			return failed(class)
		}
		if in, class = o.flow(e, in, out, see); class != "" {
			return failed(class)
		}
		loops = counted(o.w, loops, e)
		if n = e.To; n == join {
			return []ended{{path: path, input: in, log: log, did: did}}
		}
	}
}

// fan walks the branches of a fan-out, one after the other.
func (o *oracle) fan(n *ir.Node, in map[string]any, loops map[string]int, see visible, path string) ([]ended, event.FailureClass) {
	var ends []ended
	var inputs []map[string]any
	var edges []*ir.Edge
	for _, e := range n.Edges {
		if used(o.w, loops, e) {
			continue
		}
		input, class := o.flow(e, in, in, see)
		if class != "" {
			return nil, class
		}
		inputs, edges = append(inputs, input), append(edges, e)
	}
	if len(edges) == 0 {
		return nil, event.FailLoopExhausted
	}
	for i, e := range edges {
		branch := strings.TrimPrefix(path+"/"+e.To.ID, "/")
		if e.To == n.Meets() {
			ends = append(ends, ended{path: branch, input: inputs[i]})
			continue
		}
		ends = append(ends, o.walk(e.To, inputs[i], counted(o.w, loops, e), maps.Clone(see), branch, n.Meets())...)
	}
	return ends, ""
}

// together is the input of a join.
func together(ends []ended) map[string]any {
	in, failed, shared := map[string]any{}, []any{}, map[string]bool{}
	for _, e := range ends {
		if e.class != "" {
			failed = append(failed, fmt.Sprintf("%s at %s: %s", e.path, e.at, e.class))
		}
		for k, v := range e.input {
			if strings.HasPrefix(k, "_") {
				continue
			}
			if old, given := in[k]; given && !reflect.DeepEqual(old, v) {
				shared[k] = true
			}
			in[k] = v
		}
	}
	in["_failed_branches"], in["_conflicting_keys"] = failed, []any{}
	for _, k := range slices.Sorted(maps.Keys(shared)) {
		in["_conflicting_keys"] = append(in["_conflicting_keys"].([]any), k)
	}
	return in
}

// perform is what a node gives.
func (o *oracle) perform(n *ir.Node, in map[string]any, see visible, met []ended) (map[string]any, event.FailureClass) {
	o.visits[n]++
	switch op := n.Op.(type) {
	case *ir.Join:
		var did []string
		bad := 0
		for _, e := range met {
			if e.class != "" {
				bad++
				continue
			}
			did = append(did, e.did...)
		}
		lacks := slices.ContainsFunc(op.Require, func(id string) bool { return !slices.Contains(did, id) })
		if met != nil && (bad > 0 && !op.BestEffort || bad == len(met) || lacks) {
			return nil, event.FailBranch
		}
		out := maps.Clone(in)
		for _, k := range []string{"_failed_branches", "_conflicting_keys"} {
			if out[k] == nil {
				out[k] = []any{}
			}
		}
		return out, ""
	case *ir.Exec:
		v, given := in["v"]
		if !given {
			return nil, event.FailInput
		}
		if v == nil {
			v = "null"
		}
		out, ok := stepResult(n.ID, fmt.Sprint(v))
		if !ok {
			return nil, event.FailCommand
		}
		return out, ""
	}
	return in, ""
}

// choose is the edge that a node is left by.
func (o *oracle) choose(n *ir.Node, out map[string]any, loops map[string]int) (*ir.Edge, event.FailureClass) {
	if r, ok := n.Op.(*ir.Route); ok && r.Mode == ir.RoundRobin {
		return n.Edges[(o.visits[n]-1)%len(n.Edges)], ""
	}
	class := event.FailNoEdge
	var fallback *ir.Edge
	for _, e := range n.Edges {
		switch {
		case e.Cond != nil && out[e.Cond.Field] == e.Cond.Not:
		case used(o.w, loops, e):
			class = event.FailLoopExhausted
		case e.Cond != nil:
			return e, ""
		case fallback == nil:
			fallback = e
		}
	}
	if fallback != nil {
		return fallback, ""
	}
	return nil, class
}

// flow is what an edge brings to its target.
func (o *oracle) flow(e *ir.Edge, in, out map[string]any, see visible) (map[string]any, event.FailureClass) {
	if len(e.With) == 0 {
		return out, ""
	}
	brought := make(map[string]any)
	for _, b := range e.With {
		ref := b.Value.Single()
		from, ran := in, true
		field := ref.Path[len(ref.Path)-1]
		if ref.Root == ir.RootOutputs {
			if from, ran = see[ref.Path[0]]; !ran && o.w.InLoop(o.w.Node(ref.Path[0])) {
				brought[b.Key] = nil
				continue
			}
		}
		v, given := from[field]
		if !ran || !given {
			return nil, event.FailInput
		}
		brought[b.Key] = v
	}
	return brought, ""
}

func entered(w *ir.Workflow, e *ir.Edge) []*ir.Loop {
	var in []*ir.Loop
	for _, l := range w.Loops {
		if l.Contains(e.To) && !l.Contains(e.From) {
			in = append(in, l)
		}
	}
	return in
}

func used(w *ir.Workflow, loops map[string]int, e *ir.Edge) bool {
	return e.Loop != nil && !slices.Contains(entered(w, e), e.Loop) && loops[e.Loop.Name] >= e.Loop.Max
}

func counted(w *ir.Workflow, loops map[string]int, e *ir.Edge) map[string]int {
	loops = maps.Clone(loops)
	for _, l := range entered(w, e) {
		delete(loops, l.Name)
	}
	if e.Loop != nil {
		loops[e.Loop.Name]++
	}
	return loops
}

// stepResult is what the command of a random workflow's step does: a number made
// of its name and its input, and a failure now and then.
func stepResult(id, v string) (map[string]any, bool) {
	n := 7
	for _, c := range id + ":" + v {
		n = (n*31 + int(c)) % 1009
	}
	return map[string]any{"v": n, "ok": n%2 == 0}, n%11 != 0
}

// atWork are the branches that have begun and neither ended nor forked.
type atWork map[event.TokenID]bool

func (w atWork) count(e *event.Event, inBranch bool) int {
	switch b := e.Body.(type) {
	case *event.NodeStarted:
		if inBranch {
			w[e.Token] = true
		}
	case *event.Forked, *event.BranchFailed:
		delete(w, e.Token)
	case *event.EdgeTaken:
		if b.Joins {
			delete(w, e.Token)
		}
	}
	return len(w)
}

// walked is the verdict that a record holds.
func walked(w *ir.Workflow, events []event.Event) (verdict, error) {
	v := verdict{trace: make(map[string][]string)}
	busy := make(atWork)
	s := machine.NewState(w)
	for i := range events {
		e := &events[i]
		branch := ""
		if t := s.Token(e.Token); t != nil {
			branch = t.Branch()
		}
		if err := s.Apply(*e); err != nil {
			return v, err
		}
		if most := w.Limits.MaxParallelBranches; most > 0 && busy.count(e, branch != "") > int(most) {
			return v, fmt.Errorf("event %d: %d branches are at work, the limit is %d", e.Seq, len(busy), most)
		}
		switch b := e.Body.(type) {
		case *event.NodeFinished:
			out, err := ir.Decode(b.Output.Raw())
			if err != nil {
				return v, err
			}
			v.trace[branch] = append(v.trace[branch], e.Node+" "+fmt.Sprint(withoutReasons(out.(map[string]any))))
		case *event.RunFinished:
			v.outcome, v.class = b.Outcome, b.Class
		}
	}
	return v, event.CheckSequence(events)
}

// withoutReasons writes failed branches as the oracle does: texts for people are
// not its business.
func withoutReasons(out map[string]any) map[string]any {
	list, ok := out["_failed_branches"].([]any)
	if !ok {
		return out
	}
	out = maps.Clone(out)
	short := []any{}
	for _, f := range list {
		if m, ok := f.(map[string]any); ok {
			f = fmt.Sprintf("%s at %s: %s", m["branch"], m["node"], m["class"])
		}
		short = append(short, f)
	}
	out["_failed_branches"] = short
	return out
}

// stepShell runs the commands of random workflows.
func stepShell(_ map[string]string, line string) runner.ShellResult {
	id, v, _ := strings.Cut(line, " ")
	out, ok := stepResult(id, strings.Trim(v, "'"))
	if !ok {
		return runner.ShellResult{Exit: 1, Combined: "unlucky number"}
	}
	return runner.ShellResult{Stdout: fmt.Sprintf(`{"v": %d, "ok": %t}`, out["v"], out["ok"])}
}
