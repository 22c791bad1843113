package report_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/report"
	"github.com/pawl-ci/pawl/report/reporttest"
	"github.com/pawl-ci/pawl/runner/event"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write summaries to testdata/golden")

// TestNamesAreStable holds the --json form against golden files: a name that
// changes breaks somebody's script.
func TestNamesAreStable(t *testing.T) {
	t.Parallel()
	for _, h := range reporttest.Histories() {
		if h.Name == "hostile" {
			continue
		}
		got, err := json.MarshalIndent(h.Summary(), "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", "golden", h.Name+".json")
		if *update {
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, append(got, '\n'), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(append(got, '\n'), want) {
			t.Errorf("%s differs; look at it with -update and git diff", file)
		}
	}
}

func TestListsAreNeverNull(t *testing.T) {
	t.Parallel()
	raw, err := json.Marshal(report.Build(nil, nil, report.Extra{}))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), "null") || !strings.Contains(string(raw), `"status":"running"`) {
		t.Errorf("an empty record gives %s", raw)
	}
}

func TestStatuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		h       reporttest.History
		status  report.Status
		outcome report.Outcome
		verify  report.VerifyState
		next    string
	}{
		{reporttest.DoneAfterTwo(), report.Done, report.Outcome{}, report.VerifyPassed, "git diff 1a2b3c4d5e6f...pawl/ci_fix/20261121-093000-k4t9"},
		{reporttest.ParkedAtGate(), report.Parked, report.Outcome{Class: "gate", Node: "approve"}, report.VerifyNotRun, "pawl resume 20261121-093000-p7m2 --answer approved=true"},
		{reporttest.FailedVerify(), report.Failed, report.Outcome{Class: "verify_failed", Detail: "go: exit status 1, 2 of 31 tests fail"}, report.VerifyFailed, "cd .pawl/worktrees/20261121-093000-v3x1 && go test ./..."},
		{reporttest.OutOfBudget(), report.Stopped, report.Outcome{Class: "budget", Node: "fixer", Limit: "max_tokens",
			Detail: "max_tokens: 6200 tokens needed, 3200 tokens left, before the next call of fixer",
			Hint:   "raise the limit in the budget block, or resume with --max-tokens"}, report.VerifyNotRun, "pawl resume 20261121-093000-b8w5 --max-tokens 40000"},
		{reporttest.Interrupted(), report.Running, report.Outcome{Node: "fixer"}, report.VerifyNotRun, "pawl resume 20261121-093000-i1n6"},
		{reporttest.Unverified(), report.Done, report.Outcome{}, report.VerifyNoTests, "git diff 1a2b3c4d5e6f...pawl/docs/20261121-093000-u2q8"},
	} {
		s := c.h.Summary()
		if s.Status != c.status || s.Outcome != c.outcome || s.Verification.State != c.verify {
			t.Errorf("%s: %s %+v %s, want %s %+v %s", c.h.Name, s.Status, s.Outcome, s.Verification.State, c.status, c.outcome, c.verify)
		}
		if s.Next[0].Commands[0] != c.next {
			t.Errorf("%s: next is %q, want %q", c.h.Name, s.Next[0].Commands[0], c.next)
		}
	}
}

func TestPath(t *testing.T) {
	t.Parallel()
	var got []string
	for _, st := range reporttest.DoneAfterTwo().Summary().Path {
		line := st.Op + " " + st.Node + " " + string(st.State)
		if st.Via != nil && st.Via.Loop != "" {
			line += " " + st.Via.Loop + " " + string(rune('0'+st.Via.Count)) + "/" + string(rune('0'+st.Via.Max))
		}
		for _, f := range st.Facts {
			line += " " + f.Name + "=" + f.Value
		}
		got = append(got, line)
	}
	want := []string{
		"tool run_tests finished passed=no", "agent fixer finished fix 1/3",
		"tool run_tests finished passed=no", "agent fixer finished fix 2/3",
		"tool run_tests finished passed=yes", "judge review finished approved=yes risk=low",
		"human approve finished approved=yes", "end done finished",
	}
	if !slices.Equal(got, want) {
		t.Errorf("path\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestTimes: parked and dead time are no running time, and a step's clock stands
// still with the run's.
func TestTimes(t *testing.T) {
	t.Parallel()
	s := reporttest.DoneAfterTwo().Summary()
	if s.ParkedMS != (2*time.Hour+3*time.Minute).Milliseconds()+2 || s.DownMS != 0 {
		t.Errorf("parked %d ms, down %d ms", s.ParkedMS, s.DownMS)
	}
	if s.RunningMS < 10_000 || s.RunningMS > 13_000 {
		t.Errorf("running %d ms", s.RunningMS)
	}
	gate := s.Path[6]
	if gate.Node != "approve" || gate.RunningMS > 20 || s.Gates[0].WaitedMS < s.ParkedMS {
		t.Errorf("the gate ran %d ms and waited %d ms", gate.RunningMS, s.Gates[0].WaitedMS)
	}
	sum := int64(0)
	for _, a := range s.Attempts {
		sum += a.RunningMS
	}
	if diff := s.RunningMS - sum; diff < 0 || diff > int64(len(s.Attempts)) {
		t.Errorf("attempts ran %d ms, the run %d ms", sum, s.RunningMS)
	}
	died := reporttest.OutOfBudget().Summary()
	if died.DownMS < (7*time.Minute).Milliseconds() || died.ParkedMS != 0 || died.Attempts[0].End != "died" || died.Attempts[1].End != "stopped" {
		t.Errorf("down %d ms, attempts %+v", died.DownMS, died.Attempts)
	}
}

// spent sums what the events themselves say, in the simplest way there is:
// measured and forfeited, over all attempts.
func spent(events []event.Event) (measured budget.Usage, forfeited budget.Amount) {
	for _, e := range events {
		switch b := e.Body.(type) {
		case *event.ModelCallFinished:
			measured = measured.Add(b.Usage)
		case *event.ModelCallFailed:
			forfeited = forfeited.Add(b.Charged)
		case *event.EffectForfeited:
			forfeited = forfeited.Add(b.Charged)
		}
	}
	return measured, forfeited
}

// booksBalance: the budget is the sum over all attempts, and every table that
// splits it adds up to it.
func booksBalance(t interface{ Errorf(string, ...any) }, name string, events []event.Event, s report.Summary) {
	u, lost := spent(events)
	b := s.Budget.Spent
	if b.Calls != u.Calls || b.TokensIn != u.Input || b.TokensOut != u.Output || b.TokensCached != u.Cached || b.CostMicros != u.Cost {
		t.Errorf("%s: measured %+v, the events say %+v", name, b, u)
	}
	if b.ForfeitedTokens != lost.Tokens || b.ForfeitedCostMicros != lost.Cost {
		t.Errorf("%s: forfeited %+v, the events say %+v", name, b, lost)
	}
	var rows, attempts, models report.Spend
	for _, st := range s.Path {
		rows = plus(rows, st.Spend)
	}
	for _, a := range s.Attempts {
		attempts = plus(attempts, a.Spend)
	}
	for _, m := range s.Models {
		models = plus(models, m.Spend)
	}
	b.Unpriced, b.Estimated = false, false
	if rows != b || attempts != b {
		t.Errorf("%s: the steps sum to %+v, the attempts to %+v, the run to %+v", name, rows, attempts, b)
	}
	b.ForfeitedCalls, b.ForfeitedTokens, b.ForfeitedCostMicros = 0, 0, 0
	if models != b {
		t.Errorf("%s: the models sum to %+v, the run to %+v", name, models, b)
	}
	used := s.Budget.Gauge("max_tokens").Used
	if want := u.Input + u.Output + lost.Tokens + s.Budget.ReservedTokens; used != want {
		t.Errorf("%s: the gauge shows %d tokens, want %d", name, used, want)
	}
}

func plus(a, b report.Spend) report.Spend {
	return report.Spend{
		Calls: a.Calls + b.Calls, TokensIn: a.TokensIn + b.TokensIn, TokensOut: a.TokensOut + b.TokensOut,
		TokensCached: a.TokensCached + b.TokensCached, TokensCacheWrite: a.TokensCacheWrite + b.TokensCacheWrite,
		TokensReasoning: a.TokensReasoning + b.TokensReasoning, CostMicros: a.CostMicros + b.CostMicros,
		ForfeitedCalls: a.ForfeitedCalls + b.ForfeitedCalls, ForfeitedTokens: a.ForfeitedTokens + b.ForfeitedTokens,
		ForfeitedCostMicros: a.ForfeitedCostMicros + b.ForfeitedCostMicros,
	}
}

func TestBudgetIsTheSumOverAllAttempts(t *testing.T) {
	t.Parallel()
	for _, h := range reporttest.Histories() {
		for n := range h.Events {
			events := h.Events[:n+1]
			booksBalance(t, h.Name, events, report.Build(events, h.Workflow, h.Extra))
		}
	}
	s := reporttest.OutOfBudget().Summary()
	b := s.Budget
	if b.Spent.Tokens() != 16_800 || b.Spent.Cost() != 171_000 || b.Spent.ForfeitedCalls != 2 || s.Repeats.Calls != 1 || s.Repeats.FailedCalls != 1 {
		t.Errorf("%+v, %+v", b.Spent, s.Repeats)
	}
	if g := b.Gauge("max_tokens"); g.Used != 16_800 || g.Max != 20_000 || g.Percent != 84 {
		t.Errorf("gauge %+v", g)
	}
	if open := reporttest.Interrupted().Summary().Budget; open.OpenCalls != 1 || open.ReservedTokens != 9_000 || open.Gauge("max_tokens").Used != 9_000 {
		t.Errorf("a call in doubt holds %+v", open)
	}
}

func TestGates(t *testing.T) {
	t.Parallel()
	g := reporttest.DoneAfterTwo().Summary().Gates[0]
	if g.State != report.GateAnswered || g.By != "ada" || g.Via != "--answer" || string(g.Values) != `{"approved":true,"comment":"good, but mind Mul next"}` || g.Lines != nil {
		t.Errorf("answered gate %+v", g)
	}
	r := reporttest.NewRecord("r 1").Start(reporttest.CIFix(), budget.Limits{})
	r.Enter("approve").Open("approve", "?", []gates.Field{
		{Name: "why", Kind: gates.String}, {Name: "level", Kind: gates.String, Enum: []string{"low risk", "high"}}, {Name: "note", Kind: gates.String, Optional: true}, {Name: "n", Kind: gates.Int},
	}, nil, "https://example.com/pr/1")
	r.Add("", &event.RunParked{})
	want := []string{
		"pawl -C /srv resume 'r 1' --answer 'why=…' --answer 'level=low risk' --answer n=0",
		"pawl -C /srv resume 'r 1' --answer 'why=…' --answer level=high --answer n=0",
	}
	s := report.Build(r.Events, nil, report.Extra{Command: "pawl -C /srv"})
	if got := s.Gates[0]; !slices.Equal(got.Lines, want) || got.Ref != "https://example.com/pr/1" {
		t.Errorf("lines %q, want %q", got.Lines, want)
	}
	r.Enter("review").Open("review", "?", []gates.Field{{Name: "ok", Kind: gates.Bool}}, nil, "")
	two := report.Build(r.Events, nil, report.Extra{}).Gates
	if len(two) != 2 || two[1].Lines[1] != "pawl resume 'r 1' --answer review.ok=false" {
		t.Errorf("two open gates are not told apart: %+v", two)
	}
	r.Add("", &event.RunFinished{Outcome: event.Failed})
	if closed := report.Build(r.Events, nil, report.Extra{}).Gates[0]; closed.State != report.GateClosed || closed.Lines != nil {
		t.Errorf("a gate of a run that ended: %+v", closed)
	}
}

func TestNextAfterAStop(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		stop event.RunStopped
		want string
	}{
		{event.RunStopped{Reason: event.StopCancelled}, "pawl resume r"},
		{event.RunStopped{Reason: event.StopHost}, "pawl resume r"},
		{event.RunStopped{Reason: event.StopKilled}, "pawl resume r"},
		{event.RunStopped{Reason: event.StopBudget, Limit: "max_tokens"}, "pawl resume r --max-tokens 2000"},
		{event.RunStopped{Reason: event.StopBudget, Limit: "max_duration"}, "pawl resume r --max-duration 10m0s"},
		{event.RunStopped{Reason: event.StopBudget, Limit: "max_iterations"}, "pawl resume r --max-iterations 6000"},
		{event.RunStopped{Reason: event.StopBudget, Limit: "max_cost_usd"}, "pawl resume r"}, // nothing was spent: no price, not too little money
	} {
		r := reporttest.NewRecord("r").Start(reporttest.CIFix(), budget.Limits{MaxTokens: 1000, MaxDuration: 5 * time.Minute, MaxIterations: 3000, MaxCost: budget.Dollar})
		r.Enter("fixer").Call("fixer", "m", "m", budget.Usage{Input: 10}, time.Second).Add("", &c.stop)
		if got := report.Build(r.Events, nil, report.Extra{}).Next[0].Commands; !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s %s: %q, want %q", c.stop.Reason, c.stop.Limit, got, c.want)
		}
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	r := reporttest.NewRecord("r").Start(reporttest.CIFix(), budget.Limits{MaxTokens: 1000})
	r.Enter("fixer").Call("fixer", "m", "m", budget.Usage{Input: 10}, time.Second)
	r.Events[len(r.Events)-1].Body.(*event.ModelCallFinished).Estimated = true
	key := r.Key("fixer", "tool/1.0", 1)
	r.Add("fixer", &event.ToolCallStarted{Key: key, Name: "edit", Writes: true, Attempt: 1})
	r.Add("", &event.RunResumed{Attempt: 2, Limits: &budget.Limits{MaxTokens: 5000, MaxCost: budget.Dollar}})
	r.Add("", &event.EffectForfeited{Key: key})
	got := report.Build(r.Events, nil, report.Extra{})
	want := []string{
		"attempt 2 changed max_tokens from 1,000 to 5,000", "attempt 2 changed max_cost_usd from no limit to $1.00",
		"some calls reported no usage: what was reserved for them counts as spent", "1 other effect was cut short by the end of an attempt and done again",
	}
	if !slices.Equal(got.Warnings, want) || got.Repeats.OtherEffects != 1 {
		t.Errorf("warnings %q, want %q", got.Warnings, want)
	}
	stale := reporttest.NewRecord("r").Start(reporttest.CIFix(), budget.Limits{})
	stale.Enter("fixer").Verify(event.Evidence{Passed: true, Commands: []event.CommandEvidence{{}}}, time.Second).Tool("fixer", "edit", "", true, false)
	stale.Add("", &event.RunStopped{Reason: event.StopCancelled})
	if s := report.Build(stale.Events, nil, report.Extra{}); s.Verification.State != report.VerifyStale || !slices.Contains(s.Warnings, "files were written after the tests had passed") {
		t.Errorf("evidence older than the files: %s, %q", s.Verification.State, s.Warnings)
	}
}

// TestBlame: the node that failed is named when its failure ended the run.
func TestBlame(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		class event.FailureClass
		want  report.Outcome
	}{
		{event.FailCommand, report.Outcome{Class: "command_failed", Node: "build", Detail: "build: exit status 2", Hint: "install make"}},
		{event.FailNode, report.Outcome{Class: "fail_node", Detail: "build: exit status 2"}},
	} {
		r := reporttest.NewRecord("r").Start(reporttest.CIFix(), budget.Limits{})
		r.Enter("build").Add("build", &event.NodeFailed{Visit: 1, Class: event.FailCommand, Detail: "exit status 2", Hint: "install make"})
		r.Add("", &event.RunFinished{Outcome: event.Failed, Class: c.class, Detail: "build: exit status 2"})
		if got := report.Build(r.Events, nil, report.Extra{}); got.Outcome != c.want || got.Path[0].State != report.StepFailed {
			t.Errorf("%s: %+v, want %+v", c.class, got.Outcome, c.want)
		}
	}
}

func BenchmarkBuild(b *testing.B) {
	r := reporttest.NewRecord("big").Start(reporttest.CIFix(), budget.Limits{})
	for i := range 1000 {
		r.Enter("run_tests").Command("run_tests", "go test ./...", 1, time.Millisecond).Leave("run_tests", map[string]any{"passed": false}, "").Loop("run_tests", "fixer", 1, "fix", i)
		r.Enter("fixer").Call("fixer", "m", "m", budget.Usage{Input: 9}, time.Second).Tool("fixer", "edit", "x", true, false).Leave("fixer", map[string]any{"summary": "y"}, "c").Take("fixer", "run_tests", 0)
	}
	flow := reporttest.CIFix()
	b.ReportMetric(float64(len(r.Events)), "events")
	for b.Loop() {
		report.Build(r.Events, flow, report.Extra{})
	}
}

// TestUnpricedForfeit: a lost call has a price when the same model had one.
func TestUnpricedForfeit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cost budget.Micros
		want bool
	}{{0, true}, {5, false}} {
		r := reporttest.NewRecord("r").Start(reporttest.CIFix(), budget.Limits{})
		r.Enter("fixer")
		key := r.Ask("fixer", "m", 1, budget.Amount{Tokens: 50, Cost: c.cost})
		r.Add("", &event.EffectForfeited{Key: key})
		if got := report.Build(r.Events, nil, report.Extra{}).Budget.Spent; got.Unpriced != c.want || got.ForfeitedTokens != 50 {
			t.Errorf("reservation of %s: %+v", c.cost, got)
		}
	}
}

func TestNumbersNeverWrap(t *testing.T) {
	t.Parallel()
	r := reporttest.NewRecord("r").Start(reporttest.CIFix(), budget.Limits{MaxTokens: 10})
	r.Enter("fixer")
	for range 3 {
		key := r.Ask("fixer", "m", 1, budget.Amount{})
		r.Add("fixer", &event.ModelCallFinished{Key: key, Usage: budget.Usage{Input: math.MaxInt64, Output: -5, Cached: math.MaxInt64, Cost: math.MaxInt64}})
	}
	b := report.Build(r.Events, nil, report.Extra{}).Budget
	if b.Spent.TokensIn != math.MaxInt64 || b.Spent.TokensOut != 0 || b.Spent.Cost() != math.MaxInt64 || b.Spent.Tokens() != math.MaxInt64 || b.EffectiveTokens < 0 || b.Limits[0].Percent < 100 {
		t.Errorf("%+v", b)
	}
}

// TestBuildOnlyReads: a record is shared by everybody who looks at it.
func TestBuildOnlyReads(t *testing.T) {
	t.Parallel()
	h := reporttest.DoneAfterTwo()
	want := h.Summary()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if !reflect.DeepEqual(report.Build(h.Events, want.Flow, h.Extra).Path, want.Path) {
				t.Error("the same record gives another path")
			}
		})
	}
	wg.Wait()
}

// TestAnyOrder: a record that was cut, shuffled or repeated is still shown.
func TestAnyOrder(t *testing.T) {
	t.Parallel()
	var all []event.Event
	for _, h := range reporttest.Histories() {
		all = append(all, h.Events...)
	}
	rapid.Check(t, func(t *rapid.T) {
		events := rapid.SliceOfN(rapid.SampledFrom(all), 0, 60).Draw(t, "events")
		s := report.Build(events, reporttest.CIFix(), report.Extra{})
		raw, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(report.Build(events, reporttest.CIFix(), report.Extra{}))
		if err != nil || !bytes.Equal(raw, again) {
			t.Fatal("the same events give different bytes")
		}
	})
}
