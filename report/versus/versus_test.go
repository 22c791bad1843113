package versus_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/report"
	"github.com/pawl-ci/pawl/report/reporttest"
	"github.com/pawl-ci/pawl/report/score"
	"github.com/pawl-ci/pawl/report/versus"
	"github.com/pawl-ci/pawl/runner/event"
)

// judgedRun is a run of the usual workflow in which review answers with approved
// and risk; head is what is said before its first event.
func judgedRun(id event.RunID, head func(*event.RunStarted), approved bool, end event.Body) []event.Event {
	w := reporttest.CIFix()
	w.Node("review").Publish = "opinion"
	r := reporttest.NewRecord(id).Start(w, budget.Limits{})
	head(r.Events[0].Body.(*event.RunStarted))
	r.Enter("run_tests").Leave("run_tests", map[string]any{"passed": true, "output": "ok"}, "").Take("run_tests", "review", 0)
	r.Enter("review").Leave("review", map[string]any{"approved": !approved, "risk": "high", "deep": map[string]any{"er": 3}}, "").Take("review", "fixer", 1)
	r.Enter("review").Leave("review", map[string]any{"approved": approved, "risk": "low"}, "")
	if end != nil {
		r.Add("", end)
	}
	return r.Events
}

func withPolicy(p score.Policy) func(*event.RunStarted) {
	return func(b *event.RunStarted) {
		b.Recipe = &event.Recipe{Name: "fast", Path: "fast.yaml", Digest: "abc", Source: reporttest.JSON("name: fast"), Policy: &p}
	}
}

var done, failNode = &event.RunFinished{Outcome: event.Done}, &event.RunFinished{Outcome: event.Failed, Class: event.FailNode}

func compared(id event.RunID, recipe, repeat int, approved bool, end event.Body) report.Summary {
	names := []string{"slow", "fast", "late"}
	events := judgedRun(id, func(b *event.RunStarted) {
		withPolicy(score.Policy{Metric: "approved", Success: "true", Direction: score.Higher})(b)
		b.Recipe.Name = names[recipe]
		b.Comparison = &event.Comparison{ID: "cmp", Recipes: names, Recipe: recipe, Repeat: repeat, Repeats: 2, MaxCost: budget.Dollar}
	}, approved, end)
	return report.Build(events, nil, report.Extra{})
}

func TestCompare(t *testing.T) {
	t.Parallel()
	list := []report.Summary{
		compared("a1", 0, 1, true, done), compared("a2", 0, 2, false, failNode), compared("b1", 1, 1, true, done), compared("b2", 1, 2, true, done),
	}
	want := versus.Compare(list)
	var text []string
	for _, r := range want.Recipes {
		var runs []string
		for _, run := range r.List {
			runs = append(runs, string(run.RunID))
		}
		text = append(text, fmt.Sprintf("%d %s %d/%d %v", r.Place, r.Name, r.Successes, r.Planned, runs))
	}
	if got := strings.Join(text, "; "); got != "1 fast 2/2 [b1 b2]; 2 slow 1/2 [a1 a2]; 3 late 0/2 []" {
		t.Error(got)
	}
	if want.ID != "cmp" || want.Metric != "approved" || want.MaxCost != budget.Dollar || want.Planned != 6 || want.Begun != 4 || want.Ended != 4 || want.Winner != "" || want.Recipes[0].Winner {
		t.Errorf("%+v", want)
	}
	for range 20 {
		rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		if got := versus.Compare(list); !reflect.DeepEqual(got, want) {
			t.Fatalf("in another order:\n%+v\n%+v", got, want)
		}
	}
	late := append(list, compared("c1", 2, 1, false, failNode), compared("c2", 2, 2, false, failNode))
	if c := versus.Compare(late); c.Winner != "fast" || !c.Recipes[0].Winner {
		t.Errorf("all have ended and %q wins", c.Winner)
	}
	if c := versus.Compare(append(late[:5], compared("c2", 2, 2, true, &event.RunParked{}))); c.Winner != "" || c.Ended != 5 {
		t.Errorf("one is parked, %d ended, and %q wins", c.Ended, c.Winner)
	}
}

// A recipe's own limit is its result; the limit of the whole comparison is not.
func TestCompareStopped(t *testing.T) {
	t.Parallel()
	for limit, ended := range map[string]int{"max_tokens": 1, "max_cost_usd": 0} {
		c := versus.Compare([]report.Summary{compared("a", 0, 1, true, &event.RunStopped{Reason: event.StopBudget, Limit: limit})})
		if c.Ended != ended {
			t.Errorf("stopped by %s: %d ended", limit, c.Ended)
		}
	}
}

func TestCompareRunsThatWereNotBegunTogether(t *testing.T) {
	t.Parallel()
	plain := report.Build(judgedRun("p", func(b *event.RunStarted) { b.Base = "other" }, true, done), nil, report.Extra{})
	fast := report.Build(judgedRun("f", withPolicy(score.Policy{Metric: "approved", Success: "true"}), true, done), nil, report.Extra{})
	c := versus.Compare([]report.Summary{plain, fast})
	if c.ID != "" || c.Base != "" || c.Metric != "" || c.Planned != 2 || len(c.Recipes) != 2 || c.Recipes[0].Name != "fast" && c.Recipes[0].Name != versus.NoRecipe {
		t.Errorf("%+v", c)
	}
	if c := versus.Compare(nil); len(c.Recipes) != 0 || c.Winner != "" {
		t.Errorf("%+v", c)
	}
}
