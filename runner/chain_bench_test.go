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

// chain is n tool nodes in a row, each with an effect of its own, so that every
// result must be durable before the next node begins.
func chain(n int) *ir.Workflow {
	f := kit.NewFlow("chain")
	id := func(i int) string { return fmt.Sprintf("n%d", i) }
	for i := range n {
		f.Node(id(i), &ir.Exec{Command: ir.Literal("true"), Readonly: true})
	}
	for i := range n - 1 {
		f.Edge(id(i), id(i+1))
	}
	w := f.Edge(id(n-1), "done").Seal()
	w.Verify.Mode = ir.VerifyNone
	return w
}

// BenchmarkDurableChain runs chains over a real record. µs/node and fsyncs/node
// are the figures; BenchmarkFdatasync of the same run is what the disk needs for
// one.
func BenchmarkDurableChain(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := chain(n)
			var stats store.Stats
			for i := 0; b.Loop(); i++ {
				world := kit.NewWorld(nil)
				world.Command = func(map[string]string, string) runner.ShellResult { return runner.ShellResult{Stdout: "ok"} }
				record, err := store.Create(b.TempDir(), runID)
				if err != nil {
					b.Fatal(err)
				}
				ports := world.Ports()
				ports.Log, ports.Blobs, ports.Workspace = record, record, nil
				first := &event.RunStarted{Workflow: w.Name, Inputs: event.Inline(json.RawMessage(`{}`)), Source: event.Inline(json.RawMessage(`""`))}
				state := machine.NewState(w)
				if err := runner.Run(context.Background(), state, first, runID, ports, runner.Options{}); err != nil || state.Outcome == nil {
					b.Fatal(err, state.Status)
				}
				stats = record.Stats()
				record.Close()
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/node")
			b.ReportMetric(float64(stats.Syncs)/float64(n), "fsyncs/node")
			b.ReportMetric(float64(stats.Bytes)/float64(n), "B/node")
		})
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
