package report

import (
	"time"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// Build folds a record into its summary. Payloads that a fold needs must be
// loaded (see [event.Event.Load]); one that is not is left out. w is the workflow
// the record was made with, or nil: then operations, loop bounds and the unwalked
// part of the graph are missing. Build changes nothing it is given and takes any
// sequence of events, also a torn one: judging a record is not its business.
func Build(events []event.Event, w *ir.Workflow, extra Extra) Summary {
	f := newFold(w, extra)
	f.measured(events)
	for i := range events {
		f.apply(&events[i])
	}
	return f.summary()
}

// fold is the state of Build. Lists are held by pointer while they grow.
type fold struct {
	w     *ir.Workflow
	extra Extra
	s     Summary
	purse budget.Purse // kept exactly as the machine keeps it
	last  time.Time

	running, parked, down time.Duration

	path     []*Step
	clocks   map[*Step]*stopwatch
	at       map[event.TokenID]*Step // where each token stands
	open     map[event.Key]*effect
	attempts []*Attempt
	began    []time.Duration // by attempt: the running clock when it began
	models   []*ModelUse
	gates    []*Gate
	tools    map[string]*ToolUse
	priced   map[string]bool // by the name the workflow uses
	failure  *Step           // the last one that failed
	branches
	stale bool // something was written since the last evidence

	questions int // of agents, that models have answered
	measure   measuring
}

// effect is one that was started and has not ended.
type effect struct {
	step     *Step
	attempt  *Attempt
	tool     string // of a tool call
	call     bool   // a model call
	model    string // of a model call, as the workflow names it
	reserved budget.Amount
	question string    // of an agent, when the model call answers one
	at       time.Time // when it began
}

// stopwatch measures a step on the run's own clock, which stands still while
// nothing runs.
type stopwatch struct {
	total, since time.Duration
	going        bool
}

func (c *stopwatch) start(now time.Duration) {
	if !c.going {
		c.since, c.going = now, true
	}
}

func (c *stopwatch) stop(now time.Duration) {
	if c.going {
		c.total, c.going = c.total+now-c.since, false
	}
}

func newFold(w *ir.Workflow, extra Extra) *fold {
	f := &fold{
		w: w, extra: extra,
		clocks: make(map[*Step]*stopwatch), branches: newBranches(),
		at:     make(map[event.TokenID]*Step),
		open:   make(map[event.Key]*effect),
		tools:  make(map[string]*ToolUse),
		priced: make(map[string]bool),
	}
	f.s.Status, f.s.Flow = Running, w
	f.s.Warnings = []string{}
	f.s.Commits = []Commit{}
	f.s.Repeats.Failures = []Count{}
	f.s.Verification.Evidence = []Evidence{}
	f.s.Tools = ToolActivity{ByName: []ToolUse{}, Last: []ToolUsed{}}
	return f
}

func (f *fold) apply(e *event.Event) {
	f.tick(e)
	switch b := e.Body.(type) {
	case *event.RunStarted:
		f.runStarted(e, b)
	case *event.RunResumed:
		f.runResumed(e, b)
	case *event.RunParked:
		f.ended(Parked, Outcome{Class: "gate"})
	case *event.RunStopped:
		f.ended(Stopped, Outcome{Class: string(b.Reason), Node: e.Node, Limit: b.Limit, Detail: b.Detail, Hint: b.Hint})
	case *event.RunFinished:
		f.runFinished(b)
	case *event.BudgetWarned:
		f.warn("four fifths of %s are gone: %s of %s", b.Limit, b.Used, b.Max)
	default:
		f.applyNode(e)
	}
}

// tick sorts the time since the last event: running, parked, or down.
func (f *fold) tick(e *event.Event) {
	gap := e.Time.Sub(f.last)
	if f.last.IsZero() || gap < 0 {
		gap = 0
	}
	_, resumed := e.Body.(*event.RunResumed)
	switch {
	case f.s.Status == Running && !resumed:
		f.running += gap
		f.purse.Elapsed += gap
	case f.s.Status == Parked:
		f.parked += gap
	default:
		f.down += gap
	}
	f.last = e.Time
	if f.s.StartedAt.IsZero() {
		f.s.StartedAt = e.Time.UTC()
	}
	f.s.UpdatedAt = e.Time.UTC()
}

func (f *fold) runStarted(e *event.Event, b *event.RunStarted) {
	f.s.RunID, f.s.Workflow, f.s.Source = e.Run, b.Workflow, b.Path
	f.s.Branch, f.s.Base, f.s.BaseRef, f.s.Head = b.Branch, b.Base, b.BaseRef, b.Base
	f.s.Comparison = b.Comparison
	f.purse.Limits = b.Limits
	f.newAttempt(e, b.Pawl, 1).Sandbox = b.Sandbox
}

func (f *fold) runResumed(e *event.Event, b *event.RunResumed) {
	if a := f.attempt(); a != nil {
		a.End = string(f.s.Status)
		if f.s.Status == Running {
			a.End = "died"
		}
	}
	f.s.Status, f.s.Outcome = Running, Outcome{}
	f.newAttempt(e, b.Pawl, b.Attempt).Sandbox = b.Sandbox
	if b.CutTail > 0 {
		f.warn("attempt %d dropped a torn last line of the record (%d bytes): the attempt before it died while writing", b.Attempt, b.CutTail)
	}
	if b.Limits != nil {
		f.limitsChanged(b.Attempt, *b.Limits)
	}
}

// limitsChanged keeps a change of the bounds visible: somebody allowed it.
func (f *fold) limitsChanged(attempt int, now budget.Limits) {
	before := f.gauges()
	f.purse.Limits = now
	for i, g := range f.gauges() {
		if g.Max != before[i].Max {
			f.warn("attempt %d changed %s from %s to %s", attempt, g.Limit, before[i].MaxText(), g.MaxText())
		}
	}
}

func (f *fold) newAttempt(e *event.Event, pawl string, number int) *Attempt {
	a := &Attempt{Number: number, Pawl: pawl, StartedAt: e.Time.UTC()}
	f.attempts = append(f.attempts, a)
	f.began = append(f.began, f.running)
	return a
}

// attempt is the present one, or nil before the first.
func (f *fold) attempt() *Attempt {
	if len(f.attempts) == 0 {
		return nil
	}
	return f.attempts[len(f.attempts)-1]
}

func (f *fold) ended(status Status, o Outcome) { f.s.Status, f.s.Outcome = status, o }

func (f *fold) runFinished(b *event.RunFinished) {
	if b.Head != "" {
		f.s.Head = b.Head
	}
	if b.Outcome == event.Done {
		f.ended(Done, Outcome{})
		f.closeEnds(StepFinished)
		return
	}
	o := Outcome{Class: string(b.Class), Detail: b.Detail}
	if f.failure != nil && f.failure.Failure.Class == o.Class {
		o.Node, o.Hint = f.failure.Node, f.failure.Failure.Hint
	}
	f.ended(Failed, o)
	f.closeEnds(StepFailed)
}

// closeEnds marks the step at done or fail: ends are reached, not executed.
func (f *fold) closeEnds(state StepState) {
	for _, st := range f.path {
		if st.State != StepFailed && (st.Node == ir.DoneID || st.Node == ir.FailID) {
			st.Visit, st.State = 1, state
			f.clocks[st].stop(f.running)
		}
	}
}
