package report

import (
	"strings"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/report/score"
	"github.com/pawl-ci/pawl/runner/event"
)

// Recipe is what changed the workflow before it ran.
type Recipe struct {
	Name   string       `json:"name"`
	Path   string       `json:"path"`
	Digest event.Digest `json:"digest"`
}

// measuring collects the fields of outputs that a policy asks for.
type measuring struct {
	policy *score.Policy // nil: nothing is asked for
	values map[string]any
}

// recipeOf is the recipe that holds at the end of a record, or nil.
func recipeOf(events []event.Event) *event.Recipe {
	var recipe *event.Recipe
	for i := range events {
		switch b := events[i].Body.(type) {
		case *event.RunStarted:
			recipe = b.Recipe
		case *event.RunResumed:
			if b.Source != nil {
				recipe = b.Recipe
			}
		}
	}
	return recipe
}

// measured prepares the fold for what the record's recipe asks for, or the
// comparison it belongs to: the policy of the end counts for the whole run.
func (f *fold) measured(events []event.Event) {
	f.measure.values = make(map[string]any)
	if r := recipeOf(events); r != nil {
		f.s.Recipe = &Recipe{r.Name, r.Path, r.Digest}
		f.measure.policy = r.Policy
	}
	if len(events) == 0 || f.measure.policy != nil {
		return
	}
	if b, ok := events[0].Body.(*event.RunStarted); ok && b.Comparison != nil {
		f.measure.policy = b.Comparison.Policy
	}
}

// observe keeps the fields of an output that are metrics; the last one counts.
func (f *fold) observe(node string, output map[string]any) {
	if f.measure.policy == nil {
		return
	}
	for _, metric := range f.measure.policy.Names() {
		if _, builtin := score.Builtin(metric); builtin {
			continue
		}
		if value, found := dig(output, f.fieldPath(metric, node)); found {
			f.measure.values[metric] = value
		}
	}
}

// fieldPath is the way to a metric within the outputs of a node, or nil when they
// do not hold it.
func (f *fold) fieldPath(metric, node string) []string {
	path := strings.Split(metric, ".")
	switch {
	case len(path) == 1:
		return path
	case path[0] == "artifacts":
		if n := f.node(node); n == nil || n.Publish != path[1] {
			return nil
		}
		return path[2:]
	case path[0] == "outputs":
		path = path[1:]
	}
	if path[0] != node {
		return nil
	}
	return path[1:]
}

// dig follows a path into an object.
func dig(v any, path []string) (any, bool) {
	if len(path) == 0 {
		return nil, false
	}
	for _, key := range path {
		object, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		if v, ok = object[key]; !ok {
			return nil, false
		}
	}
	return v, true
}

// judge closes the evaluation: everything else of the summary must stand.
func (f *fold) judge() {
	if f.measure.policy == nil {
		return
	}
	s, spent := &f.s, f.s.Budget.Spent
	v := f.measure.values
	v["cost_usd"] = dollars(spent.Cost())
	if spent.Unpriced {
		delete(v, "cost_usd") // a lower bound is no measurement
	}
	v["tokens"], v["effective_tokens"] = int(spent.Tokens()), int(s.Budget.EffectiveTokens)
	v["duration"] = float64(s.RunningMS) / 1000
	v["iterations"], v["model_calls"], v["tool_calls"] = int(f.purse.Iterations), int(spent.Calls), int(s.Tools.Calls)
	v["verified"] = s.Verified()
	verdict := f.measure.policy.Judge(score.Facts{Ending: s.ending(), Values: v})
	s.Evaluation = &verdict
}

func dollars(m budget.Micros) float64 { return float64(m) / float64(budget.Dollar) }

// Verified reports whether the run is done and its repository's tests pass.
func (s *Summary) Verified() bool {
	return s.Status == Done && s.Verification.State == VerifyPassed
}

// ending sorts the run for a verdict.
func (s *Summary) ending() score.Ending {
	switch {
	case s.Status == Done:
		return score.Done
	case s.Status == Failed && s.Outcome.Class == string(event.FailNode):
		return score.No
	case s.Status == Failed:
		return score.Broke
	}
	return score.Open
}
