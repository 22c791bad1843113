package transcript

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/pawl-ci/pawl/runner/event"
)

// Visit is one execution of a node.
type Visit struct {
	Node      string          `json:"node"`
	Visit     int             `json:"visit"` // from 1
	Token     event.TokenID   `json:"token"`
	Session   string          `json:"session,omitempty"`   // id of its conversation
	Continues string          `json:"continues,omitempty"` // the visit whose conversation goes on
	StartedAt time.Time       `json:"started_at"`
	Entries   []Entry         `json:"entries"`
	Output    json.RawMessage `json:"output,omitempty"`
	Failure   string          `json:"failure,omitempty"`
}

// Kind says who speaks in an entry.
type Kind string

// The kinds of entry.
const (
	System   Kind = "system"   // the workflow and pawl tell the model
	User     Kind = "user"     // the node's prompt
	Model    Kind = "model"    // the model answers
	Use      Kind = "tool"     // the model uses a tool
	Result   Kind = "result"   // of a tool
	Command  Kind = "command"  // of a tool node
	Question Kind = "question" // to a person
	Answer   Kind = "answer"   // of a person
	Note     Kind = "note"     // of pawl: what went wrong, what was left out
)

// Entry is one thing said or done in a visit.
type Entry struct {
	At    time.Time `json:"at"`
	Kind  Kind      `json:"kind"`
	Who   string    `json:"who,omitempty"`  // the model, the tool or the person
	Text  string    `json:"text,omitempty"` // arguments of a tool: its JSON
	Error bool      `json:"error,omitempty"`
}

// Of reads the visits of node from a record whose payloads are all loaded, in the
// order in which they began.
func Of(events []event.Event, node string) []Visit {
	r := &reader{calls: make(map[event.Key]string)}
	for i := range events {
		if e := &events[i]; e.Node == node {
			r.read(e)
		}
	}
	return r.visits
}

type reader struct {
	visits []Visit
	calls  map[event.Key]string // tools by the key of their call
}

// at is the visit that a token is in: its last one.
func (r *reader) at(token event.TokenID) *Visit {
	for i := len(r.visits) - 1; i >= 0; i-- {
		if r.visits[i].Token == token {
			return &r.visits[i]
		}
	}
	return nil
}

func (r *reader) read(e *event.Event) {
	if b, ok := e.Body.(*event.NodeStarted); ok {
		r.visits = append(r.visits, Visit{
			Node: e.Node, Visit: b.Visit, Token: e.Token, Session: b.Session, Continues: b.Continues, StartedAt: e.Time.UTC(), Entries: []Entry{},
		})
		r.prompt(e, b.Prompt)
		return
	}
	v := r.at(e.Token)
	if v == nil {
		return
	}
	switch b := e.Body.(type) {
	case *event.NodeFinished:
		v.Output = b.Output.Raw()
		if b.Reason != "" {
			r.add(e, Note, "", "chosen: "+b.Reason)
		}
		if b.By != "" {
			r.add(e, Note, b.By, "answered in place of a person")
		}
	case *event.NodeFailed:
		v.Failure = b.Detail
	case *event.NodeRetried:
		r.add(e, Note, "", "begins again: "+b.Detail)
	default:
		r.effect(e)
	}
}

func (r *reader) effect(e *event.Event) {
	switch b := e.Body.(type) {
	case *event.ModelCallStarted:
		if b.Cut > 0 {
			r.add(e, Note, "", fmt.Sprintf("%d bytes of older tool results are left out of the next request", b.Cut))
		}
		if b.Question != "" {
			r.add(e, Note, b.Model, "is asked in place of a person")
			r.prompt(e, b.Prompt)
		}
	case *event.ModelCallFinished:
		r.answer(e, b)
	case *event.ModelCallFailed:
		r.fail(e, b.Detail)
	case *event.ToolCallStarted:
		r.calls[b.Key] = b.Name
	case *event.ToolCallFinished:
		r.result(e, b)
	case *event.CommandStarted:
		r.add(e, Command, "", b.Command)
	case *event.CommandFinished:
		r.add(e, Result, fmt.Sprintf("exit %d", b.Exit), commandText(b))
	case *event.GateOpened:
		r.question(e, b)
	case *event.GateAnswered:
		r.add(e, Answer, b.By, string(b.Output))
	case *event.EffectForfeited:
		r.fail(e, b.Detail)
	}
}

func (r *reader) add(e *event.Event, kind Kind, who, text string) {
	v := r.at(e.Token)
	v.Entries = append(v.Entries, Entry{At: e.Time.UTC(), Kind: kind, Who: who, Text: text})
}

func (r *reader) fail(e *event.Event, text string) {
	v := r.at(e.Token)
	v.Entries = append(v.Entries, Entry{At: e.Time.UTC(), Kind: Note, Text: text, Error: true})
}

func (r *reader) prompt(e *event.Event, payload *event.Payload) {
	var p struct{ System, Frame, User string }
	if payload == nil || json.Unmarshal(payload.Raw(), &p) != nil {
		return
	}
	if p.System != "" || p.Frame != "" {
		r.add(e, System, "", join(p.System, p.Frame))
	}
	r.add(e, User, "", p.User)
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}

func (r *reader) answer(e *event.Event, b *event.ModelCallFinished) {
	var said struct {
		Text  string `json:"text"`
		Calls []struct {
			Name string `json:"name"`
			Args string `json:"args"`
		} `json:"tool_calls"`
	}
	if json.Unmarshal(b.Response.Raw(), &said) != nil {
		return
	}
	if said.Text != "" || len(said.Calls) == 0 {
		r.add(e, Model, b.Model, said.Text)
	}
	for _, c := range said.Calls {
		r.add(e, Use, c.Name, c.Args)
	}
	if b.Problem != "" {
		r.fail(e, "the answer cannot be used: "+b.Problem)
	}
}

func (r *reader) result(e *event.Event, b *event.ToolCallFinished) {
	var text string
	if json.Unmarshal(b.Result.Raw(), &text) != nil {
		text = string(b.Result.Raw())
	}
	r.add(e, Result, r.calls[b.Key], text)
	v := r.at(e.Token)
	v.Entries[len(v.Entries)-1].Error = b.Error
}

func (r *reader) question(e *event.Event, b *event.GateOpened) {
	var q struct {
		Text string `json:"text"`
	}
	payload := b.Question
	if json.Unmarshal(payload.Raw(), &q) == nil {
		r.add(e, Question, b.Gate, q.Text)
	}
}

// commandText is what a command printed, as far as the record keeps it.
func commandText(b *event.CommandFinished) string {
	if b.Output == nil {
		return b.Problem
	}
	var out struct {
		Output string `json:"output"`
	}
	if json.Unmarshal(b.Output.Raw(), &out) != nil {
		return ""
	}
	return out.Output
}
