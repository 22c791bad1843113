package event_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/runner/event"
)

// whole is a record in which every type of event has its place: a failed and a
// forfeited attempt, a crash, a gate asked in two attempts, a park, a stop.
func whole() []event.Event {
	return script(
		opening(),
		&event.NodeStarted{Visit: 1},
		&event.ModelCallStarted{Key: "m1"},
		&event.ModelCallFailed{Key: "m1"},
		&event.BudgetWarned{Limit: "max_tokens"},
		&event.ModelCallStarted{Key: "m2"}, // the process dies here
		&event.RunResumed{Attempt: 2},
		&event.EffectForfeited{Key: "m2"},
		&event.ModelCallStarted{Key: "m3"},
		&event.ModelCallFinished{Key: "m3"},
		&event.ToolCallStarted{Key: "t1"},
		&event.ToolCallFinished{Key: "t1"},
		&event.NodeFinished{Visit: 1},
		&event.EdgeTaken{To: "fixer"},
		&event.NodeStarted{Visit: 2},
		&event.GateOpened{Key: "g1"},
		&event.GateAsked{Key: "g1"},
		&event.RunParked{},
		&event.RunResumed{Attempt: 3},
		&event.GateAsked{Key: "g1"},
		&event.RunParked{},
		&event.RunResumed{Attempt: 4},
		&event.GateAnswered{Key: "g1"},
		&event.NodeFinished{Visit: 2},
		&event.EdgeTaken{To: "fixer"},
		&event.NodeStarted{Visit: 3},
		&event.CommandStarted{Key: "c1"},
		&event.RunStopped{Reason: event.StopCancelled},
		&event.EffectForfeited{Key: "c1"},
		&event.RunResumed{Attempt: 5},
		&event.CommandStarted{Key: "c2"},
		&event.CommandFinished{Key: "c2"},
		&event.NodeRetried{Visit: 3, Try: 1},
		&event.NodeFailed{Visit: 3},
		&event.VerifyStarted{Key: "v1"},
		&event.VerifyFinished{Key: "v1"},
		&event.Forked{Branches: []event.Branch{{Token: 2, To: "a"}, {Token: 3, To: "b"}}},
		&event.BranchFailed{Class: event.FailNode},
		&event.MergeStarted{Key: "j1"},
		&event.MergeFinished{Key: "j1"},
		&event.ConflictReferred{To: "fixer"},
		&event.ModelCallStarted{Key: "other branch"},
		&event.RunFinished{Outcome: event.Done},
		&event.ModelCallFinished{Key: "other branch"},
	)
}

func TestSequenceAcceptsAWholeRun(t *testing.T) {
	t.Parallel()
	events := whole()
	if err := event.CheckSequence(events); err != nil {
		t.Fatal(err)
	}
	seen := make(map[event.Type]bool)
	for _, e := range events {
		seen[e.Body.EventType()] = true
	}
	for _, kind := range event.Types() {
		if !seen[kind] {
			t.Errorf("no %s in the record: its rules are not tried", kind)
		}
	}
}

func TestSequenceAcceptsEveryPrefix(t *testing.T) {
	t.Parallel()
	events := whole()
	for n := range events {
		if err := event.CheckSequence(events[:n]); err != nil {
			t.Errorf("the first %d events: %v", n, err)
		}
	}
}

// TestSequenceAcceptsAResumeAnywhere: a process may die behind any event.
func TestSequenceAcceptsAResumeAnywhere(t *testing.T) {
	t.Parallel()
	events := whole()
	for n := 1; n < len(events)-1; n++ {
		attempt, open := 1, map[event.Key]bool{}
		var order []event.Key
		for _, e := range events[:n] {
			switch b := e.Body.(type) {
			case *event.RunResumed:
				attempt = b.Attempt
			case *event.ModelCallStarted:
				open[b.Key], order = true, append(order, b.Key)
			case *event.ModelCallFinished:
				delete(open, b.Key)
			case *event.ModelCallFailed:
				delete(open, b.Key)
			case *event.EffectForfeited:
				delete(open, b.Key)
			}
		}
		if _, finished := events[n-1].Body.(*event.RunFinished); finished {
			continue
		}
		bodies := bodiesOf(events[:n])
		bodies = append(bodies, &event.RunResumed{Attempt: attempt + 1}, &event.RunResumed{Attempt: attempt + 2})
		for _, key := range order {
			if open[key] {
				bodies = append(bodies, &event.EffectForfeited{Key: key})
			}
		}
		if err := event.CheckSequence(script(bodies...)); err != nil {
			t.Errorf("resumed behind event %d: %v", n, err)
		}
	}
}

func bodiesOf(events []event.Event) []event.Body {
	var out []event.Body
	for _, e := range events {
		out = append(out, e.Body)
	}
	return out
}

func TestSequenceRefuses(t *testing.T) {
	t.Parallel()
	start, call, crash := opening(), &event.ModelCallStarted{Key: "k"}, &event.RunResumed{Attempt: 2}
	finished := &event.RunFinished{Outcome: event.Done}
	gate := &event.GateOpened{Key: "g"}
	for name, c := range map[string]struct {
		bodies []event.Body // the last one is out of place
		want   string
	}{
		"no start":                  {[]event.Body{&event.NodeStarted{Visit: 1}}, "begins with RunStarted"},
		"second start":              {[]event.Body{start, opening()}, "started already"},
		"finish of nothing":         {[]event.Body{start, &event.ModelCallFinished{Key: "k"}}, "effect k is not open"},
		"failure of nothing":        {[]event.Body{start, &event.ModelCallFailed{Key: "k"}}, "effect k is not open"},
		"forfeit of nothing":        {[]event.Body{start, &event.EffectForfeited{Key: "k"}}, "effect k is not open"},
		"finished twice":            {[]event.Body{start, call, &event.ModelCallFinished{Key: "k"}, &event.ModelCallFinished{Key: "k"}}, "not open"},
		"started while open":        {[]event.Body{start, call, call}, "effect k is open already"},
		"finished work again":       {[]event.Body{start, call, &event.ModelCallFinished{Key: "k"}, call}, "started before and has ended"},
		"ends as another kind":      {[]event.Body{start, call, &event.CommandFinished{Key: "k"}}, "opened by ModelCallStarted"},
		"in doubt, finished":        {[]event.Body{start, call, crash, &event.ModelCallFinished{Key: "k"}}, "left open is forfeited (1 to go)"},
		"in doubt, work goes on":    {[]event.Body{start, call, crash, &event.NodeStarted{Visit: 1}}, "is forfeited (1 to go)"},
		"in doubt after two deaths": {[]event.Body{start, call, crash, &event.RunResumed{Attempt: 3}, &event.NodeStarted{Visit: 1}}, "is forfeited (1 to go)"},
		"attempt left out":          {[]event.Body{start, &event.RunResumed{Attempt: 3}}, "attempt 3, 2 was expected"},
		"finished, resumed":         {[]event.Body{start, finished, crash}, "not resumed"},
		"finished, goes on":         {[]event.Body{start, finished, &event.NodeStarted{Visit: 1}}, "nothing begins after RunFinished"},
		"finished twice over":       {[]event.Body{start, finished, finished}, "nothing begins after RunFinished"},
		"finished, edge":            {[]event.Body{start, finished, &event.EdgeTaken{}}, "nothing begins after RunFinished"},
		"stopped, effect":           {[]event.Body{start, &event.RunStopped{}, call}, "nothing begins after RunStopped"},
		"parked, effect":            {[]event.Body{start, &event.RunParked{}, call}, "nothing begins after RunParked"},
		"parked while busy":         {[]event.Body{start, call, &event.RunParked{}}, "still open (1)"},
		"visit left out":            {[]event.Body{start, &event.NodeStarted{Visit: 2}}, "visit 2 of fixer, 1 was expected"},
		"visit twice":               {[]event.Body{start, &event.NodeStarted{Visit: 1}, &event.NodeStarted{Visit: 1}}, "2 was expected"},
		"visit never begun":         {[]event.Body{start, &event.NodeFinished{Visit: 1}}, "token 1 is not on visit 1"},
		"visit ends twice":          {[]event.Body{start, &event.NodeStarted{Visit: 1}, &event.NodeFinished{Visit: 1}, &event.NodeFailed{Visit: 1}}, "not on visit 1"},
		"gate never opened":         {[]event.Body{start, &event.GateAsked{Key: "g"}}, "gate g was not opened"},
		"answer to a model call":    {[]event.Body{start, call, &event.GateAnswered{Key: "k"}}, "gate k was not opened"},
		"answered twice":            {[]event.Body{start, gate, &event.GateAnswered{Key: "g"}, &event.GateAnswered{Key: "g"}}, "answered already"},
		"asked after the answer":    {[]event.Body{start, gate, &event.GateAnswered{Key: "g"}, &event.GateAsked{Key: "g"}}, "answered already"},
		"branch token left out":     {[]event.Body{start, &event.Forked{Branches: []event.Branch{{Token: 2, To: "a"}, {Token: 4, To: "b"}}}}, "branch to b is token 4, 3 was expected"},
		"gate reopened":             {[]event.Body{start, gate, &event.GateAsked{Key: "g"}, gate}, "started before"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refuses(t, script(c.bodies...), len(c.bodies), c.want)
		})
	}
}

// refuses requires that the events break a rule at number seq and not before.
func refuses(t *testing.T, events []event.Event, seq int, want string) {
	t.Helper()
	err := event.CheckSequence(events)
	var s *event.SequenceError
	if !errors.As(err, &s) || s.Seq != events[seq-1].Seq || !strings.Contains(s.Reason, want) {
		t.Errorf("error %v, want event %d refused with %q", err, seq, want)
	}
}

func TestSequenceRefusesStrangers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		bodies []event.Body
		spoil  func(*event.Event) // of the last event
		want   string
	}{
		"number":        {[]event.Body{opening(), &event.NodeStarted{Visit: 1}}, func(e *event.Event) { e.Seq++ }, "number 2 was expected"},
		"run":           {[]event.Body{opening(), &event.NodeStarted{Visit: 1}}, func(e *event.Event) { e.Run = "x" }, "belongs to run x"},
		"token":         {[]event.Body{opening(), &event.CommandStarted{Key: "k"}, &event.CommandFinished{Key: "k"}}, func(e *event.Event) { e.Token = 9 }, "belongs to token 1"},
		"node":          {[]event.Body{opening(), &event.CommandStarted{Key: "k"}, &event.CommandFinished{Key: "k"}}, func(e *event.Event) { e.Node = "x" }, "belongs to token 1 at fixer"},
		"visit's token": {[]event.Body{opening(), &event.NodeStarted{Visit: 1}, &event.NodeFinished{Visit: 1}}, func(e *event.Event) { e.Token = 9 }, "token 9 is not on visit 1"},
		"gate's token":  {[]event.Body{opening(), &event.GateOpened{Key: "g"}, &event.GateAnswered{Key: "g"}}, func(e *event.Event) { e.Token = 9 }, "belongs to token 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			events := script(c.bodies...)
			c.spoil(&events[len(events)-1])
			refuses(t, events, len(events), c.want)
		})
	}
}

func TestSequenceLetsAnyTokenForfeit(t *testing.T) {
	t.Parallel()
	events := script(opening(), &event.ModelCallStarted{Key: "k"}, &event.RunResumed{Attempt: 2}, &event.EffectForfeited{Key: "k"})
	events[3].Token, events[3].Node = 0, ""
	if err := event.CheckSequence(events); err != nil {
		t.Error(err)
	}
}
