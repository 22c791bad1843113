package reporttest

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/report"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// History is a record with what belongs to it.
type History struct {
	Name     string
	Events   []event.Event
	Workflow *ir.Workflow
	Extra    report.Extra
}

// Summary folds the history.
func (h History) Summary() report.Summary { return report.Build(h.Events, h.Workflow, h.Extra) }

// Record writes events by hand, in the order in which the engine would.
type Record struct {
	Run    event.RunID
	Events []event.Event
	now    time.Time
	turn   map[string]int
	visits map[string]int
}

// NewRecord begins a record at a fixed time.
func NewRecord(run event.RunID) *Record {
	return &Record{
		Run: run, now: time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC),
		turn: make(map[string]int), visits: make(map[string]int),
	}
}

// Wait lets time pass.
func (r *Record) Wait(d time.Duration) *Record { r.now = r.now.Add(d); return r }

// Add appends an event of token 1 at node.
func (r *Record) Add(node string, body event.Body) *Record {
	r.now = r.now.Add(2 * time.Millisecond)
	e := event.Event{Seq: event.Seq(len(r.Events) + 1), Time: r.now, Run: r.Run, Node: node, Body: body}
	if node != "" {
		e.Token = 1
	}
	r.Events = append(r.Events, e)
	return r
}

// Start opens the record.
func (r *Record) Start(w *ir.Workflow, limits budget.Limits) *Record {
	return r.Add("", &event.RunStarted{
		Pawl: "v0.1.0", Workflow: w.Name, Path: w.Name + ".iter", Source: JSON(""), Inputs: JSON(map[string]any{}), Limits: limits,
		Base: "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d", BaseRef: "main", Branch: "pawl/" + w.Name + "/" + string(r.Run),
	})
}

// Enter begins a visit of node.
func (r *Record) Enter(node string) *Record {
	r.visits[node]++
	r.turn[node] = 0
	return r.Add(node, &event.NodeStarted{Visit: r.visits[node]})
}

// Leave ends the visit with output; commit may be "".
func (r *Record) Leave(node string, output any, commit string) *Record {
	return r.Add(node, &event.NodeFinished{Visit: r.visits[node], Output: JSON(output), Commit: commit, Changed: commit != ""})
}

// Take moves along an edge.
func (r *Record) Take(from, to string, edge int) *Record {
	return r.Add(from, &event.EdgeTaken{To: to, Edge: edge})
}

// Loop moves along an edge that counts.
func (r *Record) Loop(from, to string, edge int, loop string, n int) *Record {
	return r.Add(from, &event.EdgeTaken{To: to, Edge: edge, Loop: loop, Count: n})
}

// Key names the next effect of node's present visit.
func (r *Record) Key(node, what string, attempt int) event.Key {
	return event.Key(fmt.Sprintf("1/%s/%d/%s/%d", node, r.visits[node], what, attempt))
}

// Ask starts a model call.
func (r *Record) Ask(node, model string, attempt int, reserved budget.Amount) event.Key {
	if attempt == 1 {
		r.turn[node]++
	}
	key := r.Key(node, fmt.Sprintf("model/%d", r.turn[node]), attempt)
	r.Add(node, &event.ModelCallStarted{Key: key, Turn: r.turn[node], Attempt: attempt, Model: model, Reserved: reserved})
	return key
}

// Call is one model call with its answer.
func (r *Record) Call(node, model, reported string, u budget.Usage, took time.Duration) *Record {
	key := r.Ask(node, model, 1, budget.Amount{Tokens: 2 * (u.Input + u.Output), Cost: 2 * u.Cost})
	u.Calls = 1
	return r.Wait(took).Add(node, &event.ModelCallFinished{Key: key, Model: reported, Response: JSON(map[string]any{}), Usage: u, Millis: took.Milliseconds()})
}

// Tool is one tool call of the present turn.
func (r *Record) Tool(node, name, summary string, writes, failed bool) *Record {
	key := r.Key(node, fmt.Sprintf("tool/%d.%d", r.turn[node], len(r.Events)), 1)
	r.Add(node, &event.ToolCallStarted{Key: key, Turn: r.turn[node], Attempt: 1, Name: name, Writes: writes})
	return r.Wait(15*time.Millisecond).Add(node, &event.ToolCallFinished{Key: key, Result: JSON("…"), Summary: summary, Error: failed, Millis: 15})
}

// Command is one command of a tool node.
func (r *Record) Command(node, line string, exit int, took time.Duration) *Record {
	key := r.Key(node, "command", 1)
	r.Add(node, &event.CommandStarted{Key: key, Attempt: 1, Command: line})
	return r.Wait(took).Add(node, &event.CommandFinished{Key: key, Exit: exit, Millis: took.Milliseconds()})
}

// Open asks a person.
func (r *Record) Open(node, text string, fields []gates.Field, input any, ref string) *Record {
	id := fmt.Sprintf("%s#%d", node, r.visits[node])
	key := r.Key(node, "gate", 1)
	raw := JSON(input)
	q := gates.Question{Run: string(r.Run), Gate: gates.ID(id), Node: node, Text: text, Fields: fields, Input: raw.Raw()}
	r.Add(node, &event.GateOpened{Key: key, Gate: id, Question: JSON(q)})
	return r.Add(node, &event.GateAsked{Key: key, Gate: id, Ref: ref})
}

// Answer closes the gate of node's present visit.
func (r *Record) Answer(node string, values any, by, via string) *Record {
	raw := JSON(values)
	return r.Add(node, &event.GateAnswered{
		Key: r.Key(node, "gate", 1), Gate: fmt.Sprintf("%s#%d", node, r.visits[node]), Output: raw.Raw(), By: by, Via: via,
	})
}

// Verify runs the repository's tests at done.
func (r *Record) Verify(ev event.Evidence, took time.Duration) *Record {
	key := event.Key("1/done/0/verify/1")
	r.Add(ir.DoneID, &event.VerifyStarted{Key: key})
	return r.Wait(took).Add(ir.DoneID, &event.VerifyFinished{Key: key, Evidence: ev})
}

// JSON makes a payload of v.
func JSON(v any) event.Payload {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // histories hold plain values only
	}
	return event.Inline(raw)
}
