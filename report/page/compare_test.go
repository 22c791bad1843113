package page_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/report"
	"github.com/pawl-ci/pawl/report/page"
	"github.com/pawl-ci/pawl/report/score"
	"github.com/pawl-ci/pawl/report/versus"
	"github.com/pawl-ci/pawl/runner/event"
)

// contest is three recipes: one that wins, one that failed once, one that waits.
func contest(repeats int) []report.Summary {
	names := []string{"cheap", "thor|ough\n\x1b[31m", versus.NoRecipe}
	var list []report.Summary
	add := func(id event.RunID, recipe, repeat int, status report.Status, value any, cost budget.Micros) {
		s := report.Summary{
			RunID: id, Workflow: "review", Status: status, Base: "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d", RunningMS: 1500 * int64(repeat),
			Comparison: &event.Comparison{ID: "20261121-093000-abcd", Recipes: names, Recipe: recipe, Repeat: repeat, Repeats: repeats, MaxCost: 2 * budget.Dollar},
			Budget:     report.Budget{Spent: report.Spend{Calls: 1, TokensIn: 1200, TokensOut: 34, CostMicros: cost}, EffectiveTokens: 1336},
		}
		if status == report.Done {
			s.Verification.State = report.VerifyPassed
		}
		if status == report.Failed {
			s.Outcome.Class = "loop_exhausted"
		}
		if recipe < 2 {
			s.Recipe = &report.Recipe{Name: names[recipe], Digest: "abc"}
		}
		s.Evaluation = &score.Verdict{Measure: score.Measure{Metric: "approved", Value: value}, Direction: score.Higher, Success: status == report.Done}
		list = append(list, s)
	}
	for n := 1; n <= repeats; n++ {
		suffix := string(rune('0' + n))
		add(event.RunID("run-c-"+suffix), 0, n, report.Done, true, 2500)
		status := report.Done
		if n == 2 {
			status = report.Failed
		}
		add(event.RunID("run-t-"+suffix), 1, n, status, n != 2, 9000)
		if n == 1 && repeats > 1 {
			add("run-n-1", 2, n, report.Parked, nil, 100)
		}
	}
	if repeats == 1 {
		add("run-n-1", 2, 1, report.Failed, "`x` | [y](z)", 100)
	}
	return list
}

func TestCompare(t *testing.T) {
	t.Parallel()
	for name, list := range map[string][]report.Summary{"compare_once": contest(1), "compare_twice": contest(2), "compare_nothing": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := versus.Compare(list)
			var text, md bytes.Buffer
			if err := page.Compare(&text, c, false); err != nil {
				t.Fatal(err)
			}
			compare(t, name+".txt", text.Bytes())
			if err := page.CompareMarkdown(&md, c); err != nil {
				t.Fatal(err)
			}
			compare(t, name+".md", md.Bytes())
			if strings.ContainsAny(text.String()+md.String(), "\x1b\t") {
				t.Error("a name steers the terminal")
			}
			text.Reset()
			if err := page.Compare(&text, c, true); err != nil || !strings.Contains(text.String(), "\x1b[") {
				t.Error("there is no colour")
			}
		})
	}
}
