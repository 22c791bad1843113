package store

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/pawl-ci/pawl/runner/event"
)

const testRun event.RunID = "ci-fix-0a1b"

var began = time.Date(2026, 11, 21, 6, 30, 0, 0, time.UTC)

// story is n events of a run: a start, then visits of one node.
func story(run event.RunID, n int) []event.Event {
	events := make([]event.Event, 0, n+3)
	add := func(b event.Body) {
		seq := len(events) + 1
		events = append(events, event.Event{
			Seq: event.Seq(seq), Time: began.Add(time.Duration(seq) * time.Millisecond),
			Run: run, Token: 1, Node: "fixer", Body: b,
		})
	}
	add(&event.RunStarted{
		Workflow: "ci_fix", Path: "ci-fix.iter", Source: event.Inline(json.RawMessage(`"workflow"`)),
		Inputs: event.Inline(json.RawMessage(`{}`)), Branch: "pawl/ci_fix/" + string(run),
	})
	for visit := 1; len(events) < n; visit++ {
		add(&event.NodeStarted{Visit: visit})
		add(&event.NodeFinished{Visit: visit, Output: event.Inline(json.RawMessage(`{"summary":"did a part of it"}`))})
		add(&event.EdgeTaken{To: "fixer", Loop: "again", Count: visit})
	}
	return events[:n]
}

func create1(tb testing.TB, dir string, run event.RunID) *Run {
	tb.Helper()
	r, err := create(idleDisk{}, dir, run)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(r.Close)
	return r
}

// open1 opens a run that must be sound.
func open1(tb testing.TB, dir string, run event.RunID) (*Run, []event.Event, int) {
	tb.Helper()
	r, events, cut, err := openRun(idleDisk{}, dir, run)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(r.Close)
	return r, events, cut
}

func add(tb testing.TB, r *Run, events ...event.Event) {
	tb.Helper()
	if err := r.Append(context.Background(), events); err != nil {
		tb.Fatal(err)
	}
}

// holds requires that the record on disk is exactly events.
func holds(tb testing.TB, dir string, run event.RunID, events []event.Event) {
	tb.Helper()
	_, got, cut, err := OpenRead(dir, run)
	if err != nil || cut != 0 {
		tb.Fatalf("cut %d, error %v: want a whole record", cut, err)
	}
	same(tb, got, events)
}

// same compares events by their lines.
func same(tb testing.TB, got, want []event.Event) {
	tb.Helper()
	if len(got) != len(want) {
		tb.Fatalf("%d events, want %d", len(got), len(want))
	}
	if !reflect.DeepEqual(lines(tb, got), lines(tb, want)) {
		tb.Fatal("the events are not those that were appended")
	}
}

func lines(tb testing.TB, events []event.Event) []string {
	tb.Helper()
	var chain event.Chain
	var buf []byte
	for i := range events {
		var err error
		if buf, err = chain.Append(buf, &events[i]); err != nil {
			tb.Fatal(err)
		}
	}
	return strings.SplitAfter(string(buf), "\n")
}

// idleDisk is the real disk without waiting for it: tests that are not about the
// sync itself need not depend on how busy the machine's disk is.
type idleDisk struct{ osDisk }

func (idleDisk) SyncDir(path string) error { _, err := os.Stat(path); return err }

func (idleDisk) Create(path string) (file, error) { return idle(osDisk{}.Create(path)) }

func (idleDisk) Append(path string) (file, error) { return idle(osDisk{}.Append(path)) }

func idle(f file, err error) (file, error) {
	if err != nil {
		return nil, err
	}
	return idleFile{f}, nil
}

type idleFile struct{ file }

func (idleFile) Sync() error { return nil }

func blob(n int) (event.Digest, []byte) {
	content := fmt.Appendf(nil, "blob %d %s", n, strings.Repeat("x", 5000))
	return event.DigestOf(content), content
}
