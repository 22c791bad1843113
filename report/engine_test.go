package report_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/report"
	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/machine"
	kit "github.com/pawl-ci/pawl/runner/runnertest"
)

// crashing is a repository whose bug takes two rounds, in a world that can crash.
func crashing() *kit.World {
	w := kit.NewWorld(map[string]string{"bug.go": "broken"})
	w.Command = func(files map[string]string, _ string) runner.ShellResult {
		if files["bug.go"] == "fixed" {
			return runner.ShellResult{Stdout: "ok"}
		}
		return runner.ShellResult{Stdout: "FAIL", Exit: 1}
	}
	w.Answer = func(req *runner.ModelRequest) (*runner.ModelResponse, error) {
		if req.Trace.Turn == 1 {
			content := map[int]string{1: "half", 2: "fixed"}[req.Trace.Visit]
			return kit.Use("t", "write_file", fmt.Sprintf(`{"path":"bug.go","content":%q}`, content)), nil
		}
		return kit.JSON(map[string]any{"summary": "wrote it"}), nil
	}
	w.Person = func(gates.Question) *gates.Answer {
		return &gates.Answer{Values: map[string]json.RawMessage{"approved": json.RawMessage("true")}, By: "ada", Via: "test"}
	}
	return w
}

// TestEngineRecords folds what the real engine wrote, with a crash or failure at
// every operation, and compares with the machine's own books.
func TestEngineRecords(t *testing.T) {
	t.Parallel()
	flow := kit.CIFix()
	run := func(w *kit.World, state *machine.State) *machine.State {
		var first event.Body = &event.RunResumed{Attempt: state.Attempt + 1}
		if state.Status == machine.New {
			first = &event.RunStarted{
				Workflow: flow.Name, Inputs: event.Inline(json.RawMessage(`{}`)), Source: event.Inline(json.RawMessage(`""`)),
				Limits: budget.Limits{MaxTokens: 1_000_000}, Base: w.Head(), Branch: "pawl/x/r1",
			}
		}
		// A crash is an error of the attempt; what counts is what the record holds.
		_ = runner.Run(context.Background(), state, first, "r1", w.Ports(), runner.Options{Prices: kit.Price()})
		folded := machine.NewState(flow)
		for _, e := range w.Events() {
			if err := folded.Apply(e); err != nil {
				t.Fatal(err)
			}
		}
		return folded
	}
	operations := 1
	for _, fault := range append([]kit.Fault{kit.None}, kit.Faults...) {
		for n := 1; n <= operations; n++ {
			w := crashing()
			w.Inject(n, fault)
			state := run(w, machine.NewState(flow))
			if fault == kit.None {
				operations = w.Operations()
			}
			for attempt := 0; state.Status != machine.Finished && attempt < 4; attempt++ {
				same(t, fmt.Sprintf("%s at %d, unfinished", fault, n), state, w.Events())
				w.Restart()
				state = run(w, state)
			}
			same(t, fmt.Sprintf("%s at %d", fault, n), state, w.Events())
			if fault == kit.None {
				break
			}
		}
	}
	if operations < 20 {
		t.Errorf("only %d operations could fail", operations)
	}
}

// same compares the report with the machine.
func same(t *testing.T, name string, state *machine.State, events []event.Event) {
	t.Helper()
	s := report.Build(events, state.Workflow, report.Extra{})
	booksBalance(t, name, events, s)
	used, b := state.Purse.Used(), s.Budget
	if b.Gauge("max_tokens").Used != used.Tokens || b.Gauge("max_cost_usd").Used != int64(used.Cost) {
		t.Errorf("%s: %d tokens and %d micros, the purse has %+v", name, b.Gauge("max_tokens").Used, b.Gauge("max_cost_usd").Used, used)
	}
	if b.Gauge("max_iterations").Used != state.Purse.Iterations || s.RunningMS != state.Purse.Elapsed.Milliseconds() {
		t.Errorf("%s: %d executions in %d ms, the purse has %d in %s", name, b.Gauge("max_iterations").Used, s.RunningMS, state.Purse.Iterations, state.Purse.Elapsed)
	}
	if state.Seq > 0 && (s.Head != state.Head || len(s.Attempts) != state.Attempt) {
		t.Errorf("%s: head %s after %d attempts, want %s after %d", name, s.Head, len(s.Attempts), state.Head, state.Attempt)
	}
	if state.Status == machine.Finished && (s.Status != report.Done || s.Verification.State != report.VerifyPassed || !s.Vouched()) {
		t.Errorf("%s: %s, %s", name, s.Status, s.Verification.State)
	}
}
