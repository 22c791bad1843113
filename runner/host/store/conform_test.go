package store

import (
	"testing"

	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/runnertest"
)

func TestARunConforms(t *testing.T) {
	t.Parallel()
	runnertest.ConformLog(t, func(t *testing.T) (runner.Log, runner.Blobs, func() []event.Event) {
		dir := t.TempDir()
		run, err := Create(dir, "conform")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(run.Close)
		return run, run, func() []event.Event {
			again, events, cut, err := OpenRead(dir, "conform")
			if err != nil || cut != 0 {
				t.Fatalf("cut %d, %v", cut, err)
			}
			defer again.Close()
			for i := range events {
				if err := events[i].Load(again.Get); err != nil {
					t.Fatal(err)
				}
			}
			return events
		}
	})
}
