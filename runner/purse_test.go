package runner_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
	"github.com/pawl-ci/pawl/runner/machine"
	kit "github.com/pawl-ci/pawl/runner/runnertest"
)

// TestSpendNeverExceedsTheLimit lets parallel agents spend from one purse, with
// failures, crashes and resumes anywhere. What the provider has really worked, the
// answers that were lost included, stays within the limit, and so do the books
// after every single event.
func TestSpendNeverExceedsTheLimit(t *testing.T) {
	t.Parallel()
	rounds, most := 10, 0
	if testing.Short() {
		rounds = 1
	}
	for range rounds {
		rapid.Check(t, func(t *rapid.T) {
			calls := spendAll(t)
			most = max(most, calls)
		})
	}
	if most < 10 {
		t.Errorf("at most %d calls were paid for: the runs are not the ones meant", most)
	}
}

func spendAll(t *rapid.T) (calls int) {
	w := spenders(rapid.IntRange(1, 6).Draw(t, "agents"))
	w.Limits = budget.Limits{
		MaxTokens: rapid.Int64Range(100, 30_000).Draw(t, "limit"), MaxParallelBranches: rapid.Int64Range(0, 4).Draw(t, "parallel"),
	}
	if rapid.Bool().Draw(t, "money") {
		w.Limits.MaxCost = budget.Micros(w.Limits.MaxTokens / 2)
	}
	world := kit.NewWorld(nil)
	spent := budget.Amount{}
	greed := rapid.IntRange(1, 4).Draw(t, "greed")
	world.Answer = func(req *runner.ModelRequest) (*runner.ModelResponse, error) {
		out := req.MaxOutput / int64(greed)
		r := kit.JSON(map[string]any{"text": "done"})
		if req.Trace.Turn < 4 {
			r = kit.Use("t", "read_file", `{"path":"x"}`)
		}
		r.Usage = budget.Usage{Input: size(req) / 3, Output: out}
		spent = spent.Add(budget.Amount{Tokens: r.Usage.Input + out, Cost: budget.Micros(r.Usage.Input + out)})
		calls++
		return r, nil
	}
	for range 8 {
		if rapid.Bool().Draw(t, "faulty") {
			world.Inject(rapid.IntRange(1, 40).Draw(t, "at"), rapid.SampledFrom(kit.Faults).Draw(t, "fault"))
		}
		state := machine.NewState(w)
		for _, e := range world.Events() {
			if err := state.Apply(e); err != nil {
				t.Fatal(err)
			}
			within(t, state, e)
		}
		var first event.Body = &event.RunResumed{Attempt: state.Attempt + 1}
		switch state.Status {
		case machine.New:
			first = &event.RunStarted{Workflow: w.Name, Inputs: event.Inline(json.RawMessage(`{}`)), Source: event.Inline(json.RawMessage(`""`)), Limits: w.Limits, Base: world.Head()}
		case machine.Finished:
			return calls
		}
		// An error is the injected fault; the next attempt goes on.
		_ = runner.Run(context.Background(), state, first, runID, world.Ports(), runner.Options{Prices: kit.Price()})
		world.Restart()
		if spent.Tokens > w.Limits.MaxTokens || w.Limits.MaxCost > 0 && spent.Cost > w.Limits.MaxCost {
			t.Fatalf("%+v was spent, the limits are %+v", spent, w.Limits)
		}
	}
	return calls
}

func within(t *rapid.T, s *machine.State, e event.Event) {
	used, l := s.Purse.Used(), s.Purse.Limits
	if used.Tokens > l.MaxTokens || l.MaxCost > 0 && used.Cost > l.MaxCost {
		t.Fatalf("after event %d the books say %+v, the limits are %+v", e.Seq, used, l)
	}
}

// size is the text of a request in bytes: no tokenizer makes more tokens of it
// than half of that.
func size(req *runner.ModelRequest) int64 {
	n := 0
	for _, m := range req.Messages {
		n += len(m.Text)
	}
	return int64(n)
}

// spenders is a fan-out of agents that meet and are judged by one more.
func spenders(n int) *ir.Workflow {
	f := kit.NewFlow("spenders")
	agent := func(id string) {
		f.Node(id, &ir.Call{Model: ir.Literal("m"), Session: ir.Fresh, Tools: []ir.ToolRef{{Name: "read_file"}}, User: ir.Literal("work hard, and say it in many words")})
	}
	f.Node("all", &ir.Route{Mode: ir.FanOutAll})
	f.Node("meet", &ir.Join{BestEffort: true})
	agent("judge")
	for i := range n {
		id := fmt.Sprintf("a%d", i)
		agent(id)
		f.Edge("all", id).Edge(id, "meet")
	}
	w := f.Edge("meet", "judge").Edge("judge", "done").Seal()
	w.Verify.Mode = ir.VerifyNone
	return w
}
