package event

import "fmt"

// SequenceError says that an event cannot stand where it does. A record with one
// has an unbroken chain and yet was not written by a sound engine.
type SequenceError struct {
	Seq    Seq
	Type   Type
	Reason string
}

// Error implements error.
func (e *SequenceError) Error() string {
	return fmt.Sprintf("event %d (%s) is out of sequence: %s", e.Seq, e.Type, e.Reason)
}

// CheckSequence checks the events of a whole record, in order, against the rules
// of [Sequence]. The error is nil or a *[SequenceError] for the first event that
// breaks one.
func CheckSequence(events []Event) error {
	var s Sequence
	for i := range events {
		if err := s.Add(&events[i]); err != nil {
			return err
		}
	}
	return nil
}

// Sequence checks a record event by event, without knowing the workflow:
//
//   - numbers run from 1 without gaps, and all events belong to one run;
//   - RunStarted comes first and once; attempts of RunResumed count up from 2;
//   - an effect is started once, ends once, and ends as what it was started as,
//     by the same token;
//   - an effect that was open when a process died is in doubt: after RunResumed
//     only EffectForfeited may end it, and nothing else happens before that;
//   - a gate may be asked again and is answered at most once;
//   - visits of a node count up from 1; each ends at most once, by its token;
//   - tokens of branches count up from 2;
//   - a run that has stopped, parked or finished starts nothing: what was under
//     way may still end, and a run that has not finished may be resumed.
//
// The zero value is ready for the first event. A Sequence that returned an error
// must not be used any more.
type Sequence struct {
	last    Seq
	run     RunID
	attempt int
	ended   Type // RunStopped, RunParked or RunFinished while it is in force
	effects map[Key]*effect
	open    int // effects that are open
	doubt   int // of these, how many a dead process left behind
	nodes   map[string]int
	visits  map[visit]TokenID // that have not ended
	forked  TokenID           // tokens that fan-outs have made; the run itself has token 1
}

// effect is what has become of a key.
type effect struct {
	started Type
	token   TokenID
	node    string
	attempt int // of the run, when it was started
	open    bool
	done    bool // its outcome is known: it must not happen again
}

type visit struct {
	node   string
	number int
}

// Add checks the next event.
func (s *Sequence) Add(e *Event) error {
	if s.effects == nil {
		s.effects, s.nodes, s.visits = make(map[Key]*effect), make(map[string]int), make(map[visit]TokenID)
	}
	reason := s.place(e)
	if reason == "" {
		reason = s.content(e)
	}
	if reason != "" {
		return &SequenceError{Seq: e.Seq, Type: e.Body.EventType(), Reason: reason}
	}
	s.last = e.Seq
	return nil
}

// place checks what does not depend on the event's own content.
func (s *Sequence) place(e *Event) string {
	_, first := e.Body.(*RunStarted)
	switch {
	case e.Seq != s.last+1:
		return fmt.Sprintf("number %d was expected", s.last+1)
	case s.last == 0 && !first:
		return "a record begins with RunStarted"
	case s.last > 0 && first:
		return "the run has started already"
	case s.last > 0 && e.Run != s.run:
		return fmt.Sprintf("it belongs to run %s, the record to %s", e.Run, s.run)
	case s.doubt > 0 && !settles(e.Body):
		return fmt.Sprintf("not every effect that the last process left open is forfeited (%d to go)", s.doubt)
	case s.ended != "" && !ends(e.Body):
		return fmt.Sprintf("nothing begins after %s", s.ended)
	}
	return ""
}

// settles reports whether b may come while effects are in doubt: what settles
// them, or another end of the process.
func settles(b Body) bool {
	switch b.(type) {
	case *EffectForfeited, *RunResumed, *RunStopped:
		return true
	}
	return false
}

// ends reports whether b may come after the run's end: what ends something that
// was under way, or begins another attempt.
func ends(b Body) bool {
	switch b.(type) {
	case *RunResumed, *NodeFinished, *NodeFailed, *GateAsked, *GateAnswered:
		return true
	}
	_, _, isEnd := endOf(b)
	return isEnd
}

func (s *Sequence) content(e *Event) string {
	switch b := e.Body.(type) {
	case *RunStarted:
		s.run, s.attempt = e.Run, 1
		return ""
	case *RunResumed:
		return s.resumed(b)
	case *RunParked:
		return s.end(e.Body, s.open > 0)
	case *RunStopped, *RunFinished:
		return s.end(e.Body, false)
	case *NodeStarted:
		return s.arrives(e, b)
	case *NodeFinished:
		return s.leaves(e, b.Visit)
	case *NodeFailed:
		return s.leaves(e, b.Visit)
	case *NodeRetried:
		return s.inside(e, b.Visit)
	case *Forked:
		return s.forks(b)
	case *GateAsked:
		return s.asked(e, b.Key, false)
	case *GateAnswered:
		return s.asked(e, b.Key, true)
	}
	if key, is := startOf(e.Body); is {
		return s.starts(e, key)
	}
	if key, started, is := endOf(e.Body); is {
		return s.finishes(e, key, started)
	}
	return ""
}

func (s *Sequence) resumed(b *RunResumed) string {
	if s.ended == "RunFinished" {
		return "a finished run is not resumed"
	}
	if b.Attempt != s.attempt+1 {
		return fmt.Sprintf("it opens attempt %d, %d was expected", b.Attempt, s.attempt+1)
	}
	s.attempt, s.ended, s.doubt = b.Attempt, "", s.open
	return ""
}

func (s *Sequence) forks(b *Forked) string {
	for _, branch := range b.Branches {
		s.forked++
		if branch.Token != s.forked+1 {
			return fmt.Sprintf("branch to %s is token %d, %d was expected", branch.To, branch.Token, s.forked+1)
		}
	}
	return ""
}

func (s *Sequence) end(b Body, busy bool) string {
	if busy {
		return fmt.Sprintf("effects are still open (%d)", s.open)
	}
	s.ended = b.EventType()
	return ""
}

func (s *Sequence) arrives(e *Event, b *NodeStarted) string {
	if want := s.nodes[e.Node] + 1; b.Visit != want {
		return fmt.Sprintf("visit %d of %s, %d was expected", b.Visit, e.Node, want)
	}
	s.nodes[e.Node] = b.Visit
	s.visits[visit{e.Node, b.Visit}] = e.Token
	return ""
}

func (s *Sequence) inside(e *Event, number int) string {
	if token, open := s.visits[visit{e.Node, number}]; !open || token != e.Token {
		return fmt.Sprintf("token %d is not on visit %d of %s", e.Token, number, e.Node)
	}
	return ""
}

func (s *Sequence) leaves(e *Event, number int) string {
	reason := s.inside(e, number)
	if reason == "" {
		delete(s.visits, visit{e.Node, number})
	}
	return reason
}
