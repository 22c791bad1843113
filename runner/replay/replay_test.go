package replay_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
	"github.com/pawl-ci/pawl/runner/machine"
	"github.com/pawl-ci/pawl/runner/replay"
	kit "github.com/pawl-ci/pawl/runner/runnertest"
)

// story runs everything with a park in the middle and returns the record.
func story(t *testing.T, w *ir.Workflow) []event.Event {
	t.Helper()
	world := kit.EverythingWorld()
	person := world.Person
	world.Person = nil
	first := &event.RunStarted{
		Workflow: w.Name, Inputs: event.Inline(json.RawMessage(`{}`)), Source: event.Inline(json.RawMessage(`""`)), Base: world.Head(),
	}
	work(t, w, world, first)
	world.Person = person
	work(t, w, world, &event.RunResumed{Attempt: 2})
	return world.Events()
}

func work(t *testing.T, w *ir.Workflow, world *kit.World, first event.Body) {
	t.Helper()
	s := machine.NewState(w)
	for _, e := range world.Events() {
		if err := s.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := runner.Run(context.Background(), s, first, "r", world.Ports(), runner.Options{Prices: kit.Price()}); err != nil {
		t.Fatal(err)
	}
}

func TestTheStoryIsDecidedAgain(t *testing.T) {
	t.Parallel()
	w := kit.Everything()
	events := story(t, w)
	got, err := replay.Run(w, events, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Status != machine.Finished || got.Events != len(events) || got.Decisions < 20 || got.Starts < 12 || got.Readings < 5 {
		t.Errorf("%+v of %d events", got, len(events))
	}
}

// checked are the types whose every value is a decision. What stands in the list
// beside a type comes from outside.
var checked = map[event.Type][]string{
	"NodeStarted": nil, "EdgeTaken": nil, "RunFinished": nil, "RunParked": nil, "GateOpened": nil, "VerifyStarted": nil, "CommandStarted": nil,
	"ToolCallStarted": nil, "NodeFinished": {"commit", "changed"}, "ModelCallStarted": {"max_output", "reserved", "tokens", "cost_micros"},
}

// TestEveryAlteredDecisionIsFound changes one value of one decision at a time:
// the replay must name that event, or a later one that no longer follows.
func TestEveryAlteredDecisionIsFound(t *testing.T) {
	t.Parallel()
	w := kit.Everything()
	events := story(t, w)
	altered := 0
	for i, e := range events {
		free, ok := checked[e.Body.EventType()]
		if !ok {
			continue
		}
		for n := 0; ; n++ {
			body, what := alter(t, e.Body, n, free)
			if body == nil {
				break
			}
			if what == "" {
				continue
			}
			changed := append([]event.Event(nil), events...)
			changed[i].Body = body
			_, err := replay.Run(w, changed, nil)
			var d *replay.Difference
			if !errors.As(err, &d) || d.Seq < e.Seq {
				t.Errorf("event %d (%s) with another %s: %v", e.Seq, e.Body.EventType(), what, err)
			}
			altered++
		}
	}
	if altered < 100 {
		t.Errorf("only %d values were altered", altered)
	}
}

// alter changes the n-th leaf of a body's JSON; what is its key, "" when it is
// free. It returns nil behind the last leaf.
func alter(t *testing.T, body event.Body, n int, free []string) (event.Body, string) {
	t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(raw, &tree); err != nil {
		t.Fatal(err)
	}
	what := ""
	tree = touch(tree, "", &n, &what)
	if n >= 0 {
		return nil, ""
	}
	for _, name := range append(free, "frame") {
		if what == name {
			return body, ""
		}
	}
	raw, _ = json.Marshal(tree)
	out := event.New(body.EventType())
	if json.Unmarshal(raw, out) != nil {
		return body, "" // no body at all any more
	}
	return out, what
}

// touch changes leaf number n, counting down to -1.
func touch(v any, key string, n *int, what *string) any {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range sorted(v) {
			v[k] = touch(v[k], k, n, what)
		}
		return v
	case []any:
		for i := range v {
			v[i] = touch(v[i], key, n, what)
		}
		return v
	}
	*n--
	if *n != -1 {
		return v
	}
	*what = key
	switch v := v.(type) {
	case string:
		return v + "x"
	case float64:
		return v + 1
	case bool:
		return !v
	}
	return "x"
}

func sorted(m map[string]any) []string {
	raw, _ := json.Marshal(m)
	dec := json.NewDecoder(bytes.NewReader(raw))
	var keys []string
	depth := 0
	for {
		tok, err := dec.Token()
		if err != nil {
			return keys
		}
		switch tok := tok.(type) {
		case json.Delim:
			if strings.ContainsRune("{[", rune(tok)) {
				depth++
			} else {
				depth--
			}
		case string:
			if _, is := m[tok]; is && depth == 1 && !contains(keys, tok) {
				keys = append(keys, tok)
			}
		}
	}
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// A record from which a decision was taken out, or with one too many, no longer
// follows.
func TestMissingAndDoubledEventsAreFound(t *testing.T) {
	t.Parallel()
	w := kit.Everything()
	events := story(t, w)
	for i := 1; i < len(events)-1; i++ {
		if events[i].Body.EventType() == "RunParked" {
			continue // the process may die before it can park
		}
		for name, changed := range map[string][]event.Event{
			"without": append(append([]event.Event(nil), events[:i]...), events[i+1:]...),
			"twice":   append(append([]event.Event(nil), events[:i+1]...), events[i:]...),
		} {
			for j := range changed {
				changed[j].Seq = event.Seq(j + 1)
			}
			var d *replay.Difference
			if _, err := replay.Run(w, changed, nil); !errors.As(err, &d) {
				t.Errorf("%s event %d (%s): %v", name, i+1, events[i].Body.EventType(), err)
			}
		}
	}
}

// An answer that was recorded as something that it does not say is found.
func TestAnotherReadingIsFound(t *testing.T) {
	t.Parallel()
	w := kit.Everything()
	events := story(t, w)
	found := 0
	for i, e := range events {
		b, ok := e.Body.(*event.ModelCallFinished)
		if !ok || b.Output == nil {
			continue
		}
		other := *b
		p := event.Inline(json.RawMessage(`{"summary":"another"}`))
		other.Output = &p
		changed := append([]event.Event(nil), events...)
		changed[i].Body = &other
		var d *replay.Difference
		if _, err := replay.Run(w, changed, nil); !errors.As(err, &d) || d.Seq != e.Seq || !strings.Contains(d.Recorded, "another") {
			t.Errorf("event %d: %v", e.Seq, err)
		}
		found++
	}
	if found < 4 {
		t.Errorf("only %d answers in the record", found)
	}
}

// A resume may bring another text, which holds from there on.
func TestAnEditedWorkflowHoldsFromItsResume(t *testing.T) {
	t.Parallel()
	w := kit.Everything()
	events := story(t, w)
	for i, e := range events {
		if b, ok := e.Body.(*event.RunResumed); ok {
			edited := *b
			p := event.Inline(json.RawMessage(`"text"`))
			edited.Source = &p
			events[i].Body = &edited
		}
	}
	asked := false
	_, err := replay.Run(w, events, func(*event.RunResumed) (*ir.Workflow, error) { asked = true; return kit.Everything(), nil })
	if err != nil || !asked {
		t.Errorf("error %v, asked for the text: %v", err, asked)
	}
	other := kit.Everything()
	other.Node("judge").Out = &ir.Schema{Name: "o", Fields: []ir.Field{kit.Field("approved", gates.Bool), kit.Field("grade", gates.Int)}}
	var d *replay.Difference
	if _, err = replay.Run(w, events, func(*event.RunResumed) (*ir.Workflow, error) { return other, nil }); !errors.As(err, &d) || d.Node != "judge" {
		t.Errorf("another text gives %v, want a difference at judge", err)
	}
}

func TestReplayKeepsItsEvents(t *testing.T) {
	t.Parallel()
	w := kit.Everything()
	events := story(t, w)
	var before [][]byte
	for _, e := range events {
		raw, _ := json.Marshal(e.Body)
		before = append(before, raw)
	}
	if _, err := replay.Run(w, events, nil); err != nil {
		t.Fatal(err)
	}
	for i, e := range events {
		raw, _ := json.Marshal(e.Body)
		if !reflect.DeepEqual(raw, before[i]) {
			t.Errorf("event %d was changed", e.Seq)
		}
	}
}
