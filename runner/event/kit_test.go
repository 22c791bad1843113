package event_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/runner/event"
)

const testRun event.RunID = "fix-0a1b"

var testStart = time.Date(2026, 11, 21, 6, 30, 0, 123456000, time.UTC)

// script numbers bodies as one token's events at one node.
func script(bodies ...event.Body) []event.Event {
	events := make([]event.Event, len(bodies))
	for i, b := range bodies {
		events[i] = event.Event{
			Seq: event.Seq(i + 1), Time: testStart.Add(time.Duration(i) * time.Millisecond),
			Run: testRun, Token: 1, Node: "fixer", Body: b,
		}
	}
	return events
}

func opening() *event.RunStarted {
	return &event.RunStarted{
		Pawl: "dev", Workflow: "ci_fix", Path: "ci-fix.iter", Source: event.Inline(json.RawMessage(`"workflow ci_fix"`)),
		NodeDigests: map[string]event.Digest{"fixer": "f0", "approve": "a0"}, Inputs: event.Inline(json.RawMessage(`{}`)),
		Limits: budget.Limits{MaxTokens: 1000, MaxDuration: time.Hour},
	}
}

// visits is the record of a run whose node is visited n times: what a chain of n
// nodes writes, three events a node, with outputs of size bytes.
func visits(n, size int) []event.Event {
	output := json.RawMessage(fmt.Sprintf(`{"summary":%q}`, bytes.Repeat([]byte("x"), size)))
	bodies := []event.Body{opening()}
	for i := range n {
		bodies = append(bodies,
			&event.NodeStarted{Visit: i + 1},
			&event.NodeFinished{Visit: i + 1, Output: event.Inline(output)},
			&event.EdgeTaken{To: "fixer", Edge: 0, Loop: "again", Count: i + 1})
	}
	return script(bodies...)
}

// encode is the record of events.
func encode(tb testing.TB, events []event.Event) []byte {
	tb.Helper()
	var chain event.Chain
	var out []byte
	for i := range events {
		var err error
		if out, err = chain.Append(out, &events[i]); err != nil {
			tb.Fatal(err)
		}
	}
	return out
}

// newerLine is a sound line of a version that is not known yet.
func newerLine(tb testing.TB) []byte {
	tb.Helper()
	content := fmt.Sprintf(`{"v":%d,"event":{"seq":5,"shape":"unknown here"},"padding":"%0200d"`, event.Version+1, 0)
	return fmt.Appendf(nil, "%s,\"hash\":\"%x\"}\n", content, sha256.Sum256([]byte(content+"}")))
}
