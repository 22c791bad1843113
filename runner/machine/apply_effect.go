package machine

import (
	"fmt"

	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

func (s *State) applyEffect(e event.Event, t *Token) error {
	switch b := e.Body.(type) {
	case *event.ModelCallStarted:
		s.Purse.Hold(string(b.Key), b.Reserved)
		if err := s.sideOpened(t, b); err != nil {
			return err
		}
		if b.Writes {
			t.Wrote = true
			s.writes(t)
		}
		return s.begins(e, b.Key)
	case *event.ModelCallFinished:
		return s.modelFinished(t, b)
	case *event.ModelCallFailed:
		return s.modelFailed(t, b)
	case *event.ToolCallStarted:
		if b.Writes {
			t.Wrote = true
			s.writes(t)
		}
		return s.begins(e, b.Key)
	case *event.ToolCallFinished:
		return s.toolFinished(t, b)
	case *event.CommandStarted:
		s.commandStarted(t)
		return s.begins(e, b.Key)
	case *event.CommandFinished:
		return s.commandFinished(t, b)
	case *event.MergeStarted:
		return s.mergeStarted(e, t, b)
	case *event.MergeFinished:
		return s.mergeFinished(t, b)
	}
	return fmt.Errorf("unknown event type")
}

// ends closes the effect of t that key names.
func (s *State) ends(key event.Key, t *Token) error {
	if s.open[key].token != t {
		return fmt.Errorf("effect %s is not open", key)
	}
	s.end(key)
	return nil
}

// succeeded says that the next effect of t is another one.
func (t *Token) succeeded() { t.attempts, t.failures, t.lastFail = 0, 0, nil }

func (s *State) modelFinished(t *Token, b *event.ModelCallFinished) error {
	if err := s.ends(b.Key, t); err != nil {
		return err
	}
	s.Purse.Settle(string(b.Key), b.Usage)
	s.keep(t, b.Snapshot)
	t.usage, t.model = t.usage.Add(b.Usage), b.Model
	t.succeeded()
	if _, asked := t.waitingQuestion(); asked {
		return t.sideAnswered(b)
	}
	t.Conversation.Turns = append(t.Conversation.Turns, Turn{Response: b.Response, Tools: b.Tools, Problem: b.Problem})
	if b.Output == nil {
		return nil
	}
	switch op := t.At.Op.(type) {
	case *ir.Ask:
		return t.decided(op, b)
	case *ir.Route:
		return s.routed(t, b)
	}
	t.Output, t.Phase = b.Output, Completed
	return nil
}

func (s *State) modelFailed(t *Token, b *event.ModelCallFailed) error {
	if err := s.ends(b.Key, t); err != nil {
		return err
	}
	switch {
	case b.Used != nil:
		s.Purse.Settle(string(b.Key), *b.Used)
		t.usage = t.usage.Add(*b.Used)
	case b.Charged.Tokens > 0 || b.Charged.Cost > 0:
		s.Purse.Forfeit(string(b.Key))
	default:
		s.Purse.Release(string(b.Key))
	}
	t.failures++
	t.lastFail = b
	return nil
}

func (s *State) toolFinished(t *Token, b *event.ToolCallFinished) error {
	if err := s.ends(b.Key, t); err != nil {
		return err
	}
	if len(t.Conversation.Turns) == 0 {
		return fmt.Errorf("a tool ran before the first turn")
	}
	turn := &t.Conversation.Turns[len(t.Conversation.Turns)-1]
	turn.Results = append(turn.Results, b.Result)
	s.keep(t, b.Snapshot)
	t.succeeded()
	return nil
}

// commandStarted marks what a command may change. The built-in verification
// puts the worktree back and changes nothing.
func (s *State) commandStarted(t *Token) {
	exec, ok := t.At.Op.(*ir.Exec)
	switch {
	case ok && exec.Writes():
		t.Wrote = true
		s.writes(t)
	case ok && Private(exec):
		s.seclude(t)
	}
}

func (s *State) commandFinished(t *Token, b *event.CommandFinished) error {
	if err := s.ends(b.Key, t); err != nil {
		return err
	}
	s.keep(t, b.Snapshot)
	if b.Evidence != nil {
		s.proved(t, b.Evidence)
	}
	if b.Output != nil {
		t.succeeded()
		t.Output, t.Phase = b.Output, Completed
		return nil
	}
	t.failures++
	t.Failure = &event.NodeFailed{Visit: t.Visit, Class: b.Class, Detail: b.Problem}
	return nil
}

func (s *State) keep(t *Token, snapshot string) {
	if snapshot != "" {
		s.moved(t, t.tree.Head, snapshot)
	}
}

// isAsked says whether the question of that key is t's, and open.
func (t *Token) isAsked(key event.Key) error {
	if t.Question == nil || t.Question.Key != key || t.Phase != Asking {
		return fmt.Errorf("gate %s is not open", key)
	}
	return nil
}

func (s *State) gateAnswered(t *Token, b *event.GateAnswered) error {
	if err := t.isAsked(b.Key); err != nil {
		return err
	}
	delete(s.open, b.Key)
	s.rest(t)
	t.succeeded()
	t.began += s.Purse.Elapsed - t.paused // a person's time is not the node's
	err := s.heard(t, b)
	s.wake(t)
	return err
}

// heard takes a person's answer.
func (s *State) heard(t *Token, b *event.GateAnswered) error {
	_, asked := t.waitingQuestion()
	_, conflict := t.At.Op.(*ir.Join)
	if !asked && !conflict {
		output := event.Inline(b.Output)
		t.Output, t.Phase = &output, Completed
		return nil
	}
	said, err := object(b.Output)
	switch {
	case err != nil:
		return fmt.Errorf("answer: %w", err)
	case conflict:
		s.chosenSides(t, said)
		return nil
	}
	return t.told(said[answerField])
}

func (s *State) verified(b *event.VerifyFinished) error {
	t := s.end(b.Key)
	if t == nil {
		return fmt.Errorf("effect %s is not open", b.Key)
	}
	evidence := b.Evidence
	s.proved(t, &evidence)
	t.verified = true
	t.succeeded()
	return nil
}

// forfeited counts an effect in doubt as spent; it will be started again.
func (s *State) forfeited(b *event.EffectForfeited) error {
	t := s.end(b.Key)
	if t == nil {
		return fmt.Errorf("effect %s is not open", b.Key)
	}
	s.Purse.Forfeit(string(b.Key))
	return nil
}
