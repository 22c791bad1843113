package replay

import (
	"fmt"

	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
	"github.com/pawl-ci/pawl/runner/machine"
)

// Difference is the first place at which a record says something else than the
// machine decides. It is an error.
type Difference struct {
	Seq      event.Seq
	Token    event.TokenID // 0 when the event concerns no token
	Node     string        // "" when the event concerns no node
	Expected string        // one line: type and content
	Recorded string        // one line: type and content
}

// Error implements error.
func (d *Difference) Error() string {
	return fmt.Sprintf("event %d: expected %s, recorded %s", d.Seq, d.Expected, d.Recorded)
}

// Result says how much of a record was decided again.
type Result struct {
	Events    int // in the record
	Decisions int // that were made again and compared
	Starts    int // of effects, compared with what the machine would start
	Readings  int // of answers, from models and people
	Status    machine.Status
}

// Compile gives the workflow of a resumed attempt whose text was edited, from the
// event that opened it.
type Compile func(*event.RunResumed) (*ir.Workflow, error)

// Run folds events, which must be a record from its beginning with all payloads
// loaded, and compares. w is the workflow that the record was opened with;
// compile is asked where an attempt brought another text. The error is nil, a
// *[Difference], or what compile returned.
func Run(w *ir.Workflow, events []event.Event, compile Compile) (Result, error) {
	r := &replay{state: machine.NewState(w), asked: make(map[event.Key]machine.CallModel)}
	for i := range events {
		e := &events[i]
		if resumed, ok := e.Body.(*event.RunResumed); ok && resumed.Source != nil {
			edited, err := compile(resumed)
			if err != nil {
				return r.result, fmt.Errorf("event %d: %w", e.Seq, err)
			}
			if err := r.over(edited, events[:i]); err != nil {
				return r.result, err
			}
		}
		if err := r.event(e); err != nil {
			return r.result, err
		}
	}
	r.result.Status = r.state.Status
	return r.result, nil
}

// replay is one pass over one record.
type replay struct {
	state  *machine.State
	order  event.Sequence
	asked  map[event.Key]machine.CallModel // open model calls
	result Result
}

// over folds what happened so far over an edited workflow, as the resume did.
func (r *replay) over(w *ir.Workflow, events []event.Event) error {
	r.state = machine.NewState(w)
	for i := range events {
		if err := r.apply(&events[i]); err != nil {
			return err
		}
	}
	return nil
}

func (r *replay) event(e *event.Event) error {
	r.result.Events++
	if err := r.order.Add(e); err != nil {
		return differ(e, "an event that may stand here: "+err.Error())
	}
	if err := r.check(e); err != nil {
		return err
	}
	return r.apply(e)
}

func (r *replay) apply(e *event.Event) error {
	if err := r.state.Apply(*e); err != nil {
		return differ(e, "an event that can follow: "+err.Error())
	}
	return nil
}

// check compares one event with what the machine says before it.
func (r *replay) check(e *event.Event) error {
	switch b := e.Body.(type) {
	case *event.RunStarted, *event.RunResumed, *event.EffectForfeited, *event.GateAsked,
		*event.ModelCallFailed, *event.ToolCallFinished, *event.CommandFinished, *event.VerifyFinished,
		*event.MergeFinished:
		return nil // from outside
	case *event.RunStopped:
		return r.stopped(e)
	case *event.ModelCallFinished:
		return r.answered(e, b)
	case *event.GateAnswered:
		return r.person(e, b)
	case *event.NodeFinished:
		return r.finished(e, b)
	case *event.NodeFailed:
		if r.unresolved(e, b) {
			return nil
		}
	case *event.ModelCallStarted, *event.ToolCallStarted, *event.CommandStarted, *event.GateOpened, *event.VerifyStarted,
		*event.MergeStarted:
		return r.started(e)
	}
	r.result.Decisions++
	return r.decided(e, e.Body)
}

// decided compares an event that only writes a decision down. Commands of one
// moment are recorded one after the other, so the order of tokens is free.
func (r *replay) decided(e *event.Event, body event.Body) error {
	var expected string
	for _, c := range r.commands(e) {
		record, ok := c.(machine.Record)
		if !ok {
			expected = describeCommand(c)
			continue
		}
		same, text := sameBody(record.Body, body)
		if same && record.Token == e.Token && record.Node == e.Node {
			return nil
		}
		expected = text
	}
	return differ(e, expected)
}

// commands are what may stand at e: the step of its token, or for an event of
// the whole run whatever the machine says.
func (r *replay) commands(e *event.Event) []machine.Command {
	if e.Token != 0 {
		if c := r.state.Step(e.Token); c != nil {
			return []machine.Command{c}
		}
		return nil
	}
	return r.state.Next()
}

// stopped: most stops come from outside. One that the machine decides (a model
// that cannot be reached, the bound on iterations) must be that one.
func (r *replay) stopped(e *event.Event) error {
	if e.Token == 0 {
		return nil
	}
	if c, ok := r.state.Step(e.Token).(machine.Record); ok {
		if _, stop := c.Body.(*event.RunStopped); stop {
			r.result.Decisions++
			return r.decided(e, e.Body)
		}
	}
	return nil // the purse refused the call: its size is the engine's to know
}

// finished compares all but the commit, which only git can tell.
func (r *replay) finished(e *event.Event, b *event.NodeFinished) error {
	r.result.Decisions++
	f, ok := r.state.Step(e.Token).(machine.Finish)
	if !ok {
		return r.decided(e, b)
	}
	done := *f.Done
	if f.Commit {
		done.Commit, done.Changed = b.Commit, b.Changed
	}
	if same, text := sameBody(&done, b); !same {
		return differ(e, text)
	}
	return nil
}

// unresolved: only git can tell that an agent left the marks of a conflict.
func (r *replay) unresolved(e *event.Event, b *event.NodeFailed) bool {
	f, due := r.state.Step(e.Token).(machine.Finish)
	if !due || b.Class != event.FailConflict {
		return false
	}
	merges, _ := f.Token.Merging()
	return merges != ""
}

func differ(e *event.Event, expected string) *Difference {
	if expected == "" {
		expected = "nothing: no step is due"
	}
	return &Difference{Seq: e.Seq, Token: e.Token, Node: e.Node, Expected: expected, Recorded: describe(e.Body)}
}
