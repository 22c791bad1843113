package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/machine"
	kit "github.com/pawl-ci/pawl/runner/runnertest"
)

// meetingPoint is a shell whose commands wait until enough of them run at once.
type meetingPoint struct {
	mu         sync.Mutex
	all        chan struct{}
	wanted     int
	here, most int
}

// Run implements runner.Shell.
func (m *meetingPoint) Run(ctx context.Context, _ runner.ShellCommand) (runner.ShellResult, error) {
	m.mu.Lock()
	m.here++
	m.most = max(m.most, m.here)
	if m.here == m.wanted {
		close(m.all)
		m.all = make(chan struct{})
		m.here = 0
		m.mu.Unlock()
		return runner.ShellResult{Stdout: "ok"}, nil
	}
	wait := m.all
	m.mu.Unlock()
	select {
	case <-wait:
		return runner.ShellResult{Stdout: "ok"}, nil
	case <-ctx.Done():
		return runner.ShellResult{}, errors.New("nobody else came")
	}
}

// TestBranchesWorkAtTheSameTime lets every command wait for as many others as may
// run beside it: all branches without a limit, and exactly as many as
// max_parallel_branches says with one.
func TestBranchesWorkAtTheSameTime(t *testing.T) {
	t.Parallel()
	for _, limit := range []int64{0, 1, 3, 6} {
		w := fan(6)
		w.Limits.MaxParallelBranches = limit
		m := &meetingPoint{all: make(chan struct{}), wanted: 6}
		if limit > 0 {
			m.wanted = int(limit)
		}
		world := kit.NewWorld(nil)
		ports := world.Ports()
		ports.Shell = m
		first := &event.RunStarted{Workflow: w.Name, Inputs: event.Inline(json.RawMessage(`{}`)), Source: event.Inline(json.RawMessage(`""`)), Limits: w.Limits, Base: world.Head()}
		state := machine.NewState(w)
		if err := runner.Run(t.Context(), state, first, runID, ports, runner.Options{}); err != nil || state.Outcome == nil || state.Outcome.Outcome != event.Done {
			t.Errorf("limit %d: %v, %+v", limit, err, state.Outcome)
		}
		if m.most != m.wanted {
			t.Errorf("limit %d: %d commands at once, want %d", limit, m.most, m.wanted)
		}
	}
}
