package machine

import (
	"fmt"

	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// Apply folds one event into the state. Payloads that folding needs must be
// loaded. An error means that the record does not belong to this workflow or is
// damaged: the state must not be used any more.
func (s *State) Apply(e event.Event) error {
	if e.Seq != s.Seq+1 {
		return fmt.Errorf("apply event %d: event %d was expected", e.Seq, s.Seq+1)
	}
	s.tick(e)
	if err := s.apply(e); err != nil {
		return fmt.Errorf("apply event %d (%s): %w", e.Seq, e.Body.EventType(), err)
	}
	return nil
}

// tick counts the time since the last event as running time, except the time
// between two attempts.
func (s *State) tick(e event.Event) {
	_, resumed := e.Body.(*event.RunResumed)
	if s.Status == Running && !resumed && e.Time.After(s.Time) {
		s.Purse.Elapsed += e.Time.Sub(s.Time)
	}
	s.Seq, s.Time = e.Seq, e.Time
}

func (s *State) apply(e event.Event) error {
	switch b := e.Body.(type) {
	case *event.RunStarted:
		return s.runStarted(e, b)
	case *event.RunResumed:
		return s.runResumed(b)
	case *event.RunParked:
		s.Status = Parked
		return nil
	case *event.RunStopped:
		s.Status, s.Stop = Stopped, b
		return nil
	case *event.RunFinished:
		s.Status, s.Outcome = Finished, b
		return nil
	case *event.BudgetWarned:
		s.warned[b.Limit] = true
		return nil
	case *event.VerifyStarted:
		return s.begins(e, b.Key)
	case *event.VerifyFinished:
		return s.verified(b)
	case *event.EffectForfeited:
		return s.forfeited(b)
	}
	return s.applyNode(e)
}

func (s *State) applyNode(e event.Event) error {
	t := s.tokens[e.Token]
	if t == nil {
		return fmt.Errorf("there is no token %d", e.Token)
	}
	switch b := e.Body.(type) {
	case *event.NodeStarted:
		return s.nodeStarted(t, b)
	case *event.NodeFinished:
		return s.nodeFinished(t, b)
	case *event.NodeRetried:
		return s.retried(t, b)
	case *event.NodeFailed:
		t.Phase, t.Failure = Broken, b
		return nil
	case *event.EdgeTaken:
		return s.edgeTaken(t, b)
	case *event.Forked:
		return s.forked(t, b)
	case *event.BranchFailed:
		return s.branchFailed(t, b)
	case *event.ConflictReferred:
		return s.conflictReferred(t, b)
	case *event.GateOpened:
		t.Question, t.Phase, t.paused = b, Asking, s.Purse.Elapsed
		return s.begins(e, b.Key)
	case *event.GateAsked:
		if err := t.isAsked(b.Key); err != nil {
			return err
		}
		s.end(b.Key)
		s.rest(t)
		t.Phase = Waiting
		s.waiting++
		s.release(t)
		return nil
	case *event.GateAnswered:
		return s.gateAnswered(t, b)
	}
	return s.applyEffect(e, t)
}

func (s *State) begins(e event.Event, key event.Key) error {
	t := s.tokens[e.Token]
	if t == nil {
		return fmt.Errorf("there is no token %d", e.Token)
	}
	if s.open[key].token != nil {
		return fmt.Errorf("effect %s is already open", key)
	}
	t.attempts++
	s.begin(key, t)
	return nil
}

func (s *State) runStarted(e event.Event, b *event.RunStarted) error {
	if s.Status != New {
		return fmt.Errorf("the run has already started")
	}
	vars, err := object(b.Vars)
	if err != nil {
		return fmt.Errorf("vars: %w", err)
	}
	inputs, err := object(b.Inputs.Raw())
	if err != nil {
		return fmt.Errorf("inputs: %w", err)
	}
	if b.Trigger != nil {
		if s.Trigger, err = ir.Decode(b.Trigger.Raw()); err != nil {
			return fmt.Errorf("trigger: %w", err)
		}
	}
	s.Run, s.Vars, s.Base, s.Head, s.Branch, s.Model = e.Run, vars, b.Base, b.Base, b.Branch, b.Model
	s.Purse.Limits = b.Limits
	s.Status, s.Attempt = Running, 1
	s.lastToken++
	t := &Token{ID: s.lastToken, At: s.Workflow.Entry, Loops: make(map[string]int), Input: admit(s.Workflow.Entry, inputs)}
	s.root = &Tree{Head: b.Base}
	t.seen, t.tree, t.own = &view{}, s.root, true
	s.tokens[t.ID] = t
	s.wake(t)
	return nil
}

// runResumed opens another attempt: what failed may be tried as often again, and
// gates are asked about again.
func (s *State) runResumed(b *event.RunResumed) error {
	if s.Status == New || s.Status == Finished {
		return fmt.Errorf("a %s run cannot be resumed", s.Status)
	}
	s.Status, s.Attempt, s.Stop = Running, b.Attempt, nil
	if b.Model != "" {
		s.Model = b.Model
	}
	if b.Limits != nil {
		s.Purse.Limits = *b.Limits
		clear(s.warned)
	}
	for _, id := range inOrder(s.tokens) {
		t := s.tokens[id]
		t.failures, t.lastFail = 0, nil
		if t.Phase == Waiting {
			t.Phase = Asking
			s.waiting--
			s.wake(t)
		}
	}
	s.admitNext()
	return nil
}

func object(raw []byte) (map[string]any, error) {
	if len(raw) == 0 {
		return map[string]any{}, nil
	}
	v, err := ir.Decode(raw)
	if err != nil {
		return nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("want a JSON object")
	}
	return m, nil
}
