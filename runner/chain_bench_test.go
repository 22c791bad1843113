package runner_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/host/store"
	"github.com/pawl-ci/pawl/runner/lang/ir"
	"github.com/pawl-ci/pawl/runner/machine"
	kit "github.com/pawl-ci/pawl/runner/runnertest"
)

// shapes are workflows of about n nodes, or steps, whose every result must be on
// disk before the next node begins.
var shapes = []struct {
	name string
	of   func(n int) *ir.Workflow
}{
	{"chain", chain}, {"loop with history", loop}, {"fan-out", fan},
}

func command(f *kit.Flow, id string) {
	f.Node(id, &ir.Exec{Command: ir.Literal("true"), Readonly: true})
}

// chain is n tool nodes in a row.
func chain(n int) *ir.Workflow {
	f := kit.NewFlow("chain")
	id := func(i int) string { return fmt.Sprintf("n%d", i) }
	for i := range n {
		command(f, id(i))
	}
	for i := range n - 1 {
		f.Edge(id(i), id(i+1))
	}
	return unverified(f.Edge(id(n-1), "done"))
}

// loop is one tool node, n times, that reads its own history.
func loop(n int) *ir.Workflow {
	f := kit.NewFlow("loop")
	command(f, "step")
	f.Edge("step", "step", kit.As("again", n-1), kit.With("first", kit.Ref(ir.RootOutputs, "step", "history", "0", "result")))
	return unverified(f.Edge("step", "done"))
}

// fan is n tool nodes beside each other.
func fan(n int) *ir.Workflow {
	f := kit.NewFlow("fan")
	f.Node("all", &ir.Route{Mode: ir.FanOutAll})
	f.Node("meet", &ir.Join{})
	for i := range n {
		id := fmt.Sprintf("n%d", i)
		command(f, id)
		f.Edge("all", id).Edge(id, "meet", kit.With(id, kit.Ref(ir.RootOutputs, id, "exit_code")))
	}
	return unverified(f.Edge("meet", "done"))
}

func unverified(f *kit.Flow) *ir.Workflow {
	w := f.Seal()
	w.Verify.Mode = ir.VerifyNone
	return w
}

// BenchmarkDurable runs the shapes over a real record. µs/node, fsyncs/node and
// B/node are the figures; BenchmarkFdatasync of the same run is what the disk
// needs for one.
func BenchmarkDurable(b *testing.B) {
	for _, shape := range shapes {
		for _, n := range []int{10, 64, 256, 1_000, 10_000} {
			b.Run(fmt.Sprintf("%s/%d", shape.name, n), func(b *testing.B) {
				w := shape.of(n)
				var stats store.Stats
				for b.Loop() {
					stats = record(b, w, b.TempDir())
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/node")
				b.ReportMetric(float64(stats.Syncs)/float64(n), "fsyncs/node")
				b.ReportMetric(float64(stats.Bytes)/float64(n), "B/node")
				b.ReportMetric(float64(stats.Syncs), "fsyncs")
			})
		}
	}
}

// record runs w to its end with its record in dir.
func record(b *testing.B, w *ir.Workflow, dir string) store.Stats {
	b.Helper()
	log, err := store.Create(dir, runID)
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	ports := stubs{}.ports(log)
	first := &event.RunStarted{Workflow: w.Name, Inputs: event.Inline(json.RawMessage(`{}`)), Source: event.Inline(json.RawMessage(`""`))}
	state := machine.NewState(w)
	if err := runner.Run(context.Background(), state, first, runID, ports, runner.Options{}); err != nil || state.Outcome == nil || state.Outcome.Outcome != event.Done {
		b.Fatal(err, state.Status, state.Outcome)
	}
	return log.Stats()
}

// stubs are ports that cost nothing.
type stubs struct{}

func (s stubs) ports(log *store.Run) runner.Ports {
	world := kit.NewWorld(nil).Ports()
	world.Log, world.Blobs, world.Workspace, world.Branches, world.Shell = log, log, nil, nil, s
	return world
}

// Run implements runner.Shell.
func (stubs) Run(context.Context, runner.ShellCommand) (runner.ShellResult, error) {
	return runner.ShellResult{Stdout: "ok"}, nil
}

// BenchmarkResume reads a record of n finished nodes and folds it: what a resume
// costs before it does anything.
func BenchmarkResume(b *testing.B) {
	for _, shape := range shapes {
		for _, n := range []int{10, 100, 1_000, 10_000} {
			b.Run(fmt.Sprintf("%s/%d", shape.name, n), func(b *testing.B) {
				w, dir := shape.of(n), b.TempDir()
				record(b, w, dir)
				b.ResetTimer()
				for b.Loop() {
					log, events, _, err := store.Open(dir, runID)
					if err != nil {
						b.Fatal(err)
					}
					state := machine.NewState(w)
					for _, e := range events {
						if err := state.Apply(e); err != nil {
							b.Fatal(err)
						}
					}
					log.Close()
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/node")
			})
		}
	}
}

// BenchmarkFdatasync is the disk's own price of one durable append.
func BenchmarkFdatasync(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "f"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	line := make([]byte, 600)
	for b.Loop() {
		if _, err := f.Write(line); err != nil {
			b.Fatal(err)
		}
		if err := datasync(f); err != nil {
			b.Fatal(err)
		}
	}
}
