package event

import "fmt"

// startOf is the key of the effect that b starts.
func startOf(b Body) (Key, bool) {
	switch b := b.(type) {
	case *ModelCallStarted:
		return b.Key, true
	case *ToolCallStarted:
		return b.Key, true
	case *CommandStarted:
		return b.Key, true
	case *GateOpened:
		return b.Key, true
	case *VerifyStarted:
		return b.Key, true
	case *MergeStarted:
		return b.Key, true
	}
	return "", false
}

// endOf is the key of the effect that b ends, with the type that must have
// started it; "" stands for any. Gates have rules of their own.
func endOf(b Body) (key Key, started Type, is bool) {
	switch b := b.(type) {
	case *ModelCallFinished:
		return b.Key, "ModelCallStarted", true
	case *ModelCallFailed:
		return b.Key, "ModelCallStarted", true
	case *ToolCallFinished:
		return b.Key, "ToolCallStarted", true
	case *CommandFinished:
		return b.Key, "CommandStarted", true
	case *VerifyFinished:
		return b.Key, "VerifyStarted", true
	case *MergeFinished:
		return b.Key, "MergeStarted", true
	case *EffectForfeited:
		return b.Key, "", true
	}
	return "", "", false
}

func (s *Sequence) starts(e *Event, key Key) string {
	switch old := s.effects[key]; {
	case old == nil:
	case old.open:
		return fmt.Sprintf("effect %s is open already", key)
	default:
		return fmt.Sprintf("effect %s was started before and has ended", key)
	}
	s.effects[key] = &effect{
		started: e.Body.EventType(), token: e.Token, node: e.Node, attempt: s.attempt, open: true,
	}
	s.open++
	return ""
}

// finishes ends an effect. EffectForfeited ends any kind, for any token, because
// the process that settles it may know no more than the key.
func (s *Sequence) finishes(e *Event, key Key, started Type) string {
	f := s.effects[key]
	switch {
	case f == nil || !f.open:
		return fmt.Sprintf("effect %s is not open", key)
	case started == "":
		s.close(f)
		return ""
	case f.started != started:
		return fmt.Sprintf("effect %s was opened by %s", key, f.started)
	case f.token != e.Token || f.node != e.Node:
		return fmt.Sprintf("effect %s belongs to token %d at %s", key, f.token, f.node)
	}
	s.close(f)
	f.done = true
	return ""
}

// asked checks a gate's later events. A gate whose asking ended or was forfeited
// is asked again under its old key, so it need not be open.
func (s *Sequence) asked(e *Event, key Key, answered bool) string {
	f := s.effects[key]
	switch {
	case f == nil || f.started != "GateOpened":
		return fmt.Sprintf("gate %s was not opened", key)
	case f.done:
		return fmt.Sprintf("gate %s is answered already", key)
	case f.token != e.Token || f.node != e.Node:
		return fmt.Sprintf("gate %s belongs to token %d at %s", key, f.token, f.node)
	}
	s.close(f)
	f.done = answered
	return ""
}

// close marks f as no longer open. What an earlier process left open is then no
// longer in doubt.
func (s *Sequence) close(f *effect) {
	if !f.open {
		return
	}
	f.open = false
	s.open--
	if f.attempt < s.attempt {
		s.doubt--
	}
}
