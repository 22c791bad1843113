package report_test

import (
	"fmt"
	"testing"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/report"
	"github.com/pawl-ci/pawl/report/reporttest"
	"github.com/pawl-ci/pawl/report/score"
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

var done, failNode, verifyFailed = &event.RunFinished{Outcome: event.Done}, &event.RunFinished{Outcome: event.Failed, Class: event.FailNode},
	&event.RunFinished{Outcome: event.Failed, Class: event.FailVerify}

// The last value that a node gave counts, wherever the metric says it stands.
func TestEvaluation(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		policy score.Policy
		end    event.Body
		value  any
		want   string
	}{
		{score.Policy{Metric: "approved", Success: "true"}, done, true, "true: approved is true"},
		{score.Policy{Metric: "review.risk", Success: "high"}, done, "low", "false: review.risk is low, not high"},
		{score.Policy{Metric: "outputs.review.deep.er", Success: "> 2"}, done, 3, "true: outputs.review.deep.er is 3"},
		{score.Policy{Metric: "artifacts.opinion.risk", Success: "low"}, failNode, "low", "true: artifacts.opinion.risk is low"},
		{score.Policy{Metric: "artifacts.other.risk", Success: "low"}, done, nil, "false: artifacts.other.risk is not known: no node has given it"},
		{score.Policy{Metric: "fixer.approved", Success: "true"}, done, nil, "false: fixer.approved is not known: no node has given it"},
		{score.Policy{Metric: "approved", Success: "true"}, verifyFailed, true, "false: the run failed, whatever its metric says"},
		{score.Policy{Metric: "approved", Success: "true"}, nil, true, "false: the run has not come to its end"},
		{score.Policy{Metric: "iterations", Success: "3"}, done, 3, "true: iterations is 3"},
		{score.Policy{Metric: "verified", Success: "true"}, done, false, "false: verified is false, not true"},
	} {
		w := reporttest.CIFix()
		w.Node("review").Publish = "opinion"
		s := report.Build(judgedRun("r", withPolicy(c.policy), true, c.end), w, report.Extra{})
		v := s.Evaluation
		if v == nil || v.Value != c.value || fmt.Sprintf("%t: %s", v.Success, v.Reason) != c.want || s.Recipe.Name != "fast" {
			t.Errorf("%+v: %+v", c.policy, v)
		}
	}
	if s := report.Build(judgedRun("r", func(*event.RunStarted) {}, true, done), nil, report.Extra{}); s.Evaluation != nil || s.Recipe != nil {
		t.Error("a run without a recipe is judged")
	}
}

// A run without a policy of its own is judged by that of its comparison.
func TestEvaluationByTheComparison(t *testing.T) {
	t.Parallel()
	events := judgedRun("r", func(b *event.RunStarted) {
		b.Comparison = &event.Comparison{ID: "c", Policy: &score.Policy{Metric: "risk", Success: "low"}}
	}, true, done)
	if s := report.Build(events, nil, report.Extra{}); s.Recipe != nil || s.Evaluation == nil || !s.Evaluation.Success {
		t.Errorf("%+v %+v", s.Recipe, s.Evaluation)
	}
}

// A recipe that a resume brings judges the whole run.
func TestEvaluationAfterAnotherRecipe(t *testing.T) {
	t.Parallel()
	events := judgedRun("r", withPolicy(score.Policy{Metric: "approved"}), true, &event.RunParked{})
	source := reporttest.JSON("text")
	other := &event.RunResumed{Attempt: 2, Source: &source, Recipe: &event.Recipe{Name: "other", Policy: &score.Policy{Metric: "risk", Success: "low"}}}
	for i, body := range []event.Body{other, done} {
		events = append(events, event.Event{Seq: event.Seq(len(events) + 1), Time: events[len(events)-1].Time, Run: "r", Body: body})
		if s := report.Build(events, nil, report.Extra{}); s.Recipe.Name != "other" || s.Evaluation.Value != "low" || s.Evaluation.Success != (i == 1) {
			t.Errorf("%+v %+v", s.Recipe, s.Evaluation)
		}
	}
}
