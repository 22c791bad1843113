package versus

import (
	"cmp"
	"slices"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/report"
	"github.com/pawl-ci/pawl/report/score"
	"github.com/pawl-ci/pawl/runner/event"
)

// NoRecipe stands for the workflow as it is, in a comparison.
const NoRecipe = "(no recipe)"

// Comparison is several runs of one workflow, ranked by recipe.
type Comparison struct {
	ID        string          `json:"comparison,omitempty"` // "" for runs that were not begun together
	Workflow  string          `json:"workflow"`
	Base      string          `json:"base,omitempty"`   // commit that all runs began from; "" when they differ
	Metric    string          `json:"metric,omitempty"` // that all recipes are judged by; "" when they differ or have none
	Direction score.Direction `json:"direction,omitempty"`
	MaxCost   budget.Micros   `json:"max_cost_micros,omitempty"` // of all runs together
	Spent     budget.Micros   `json:"cost_micros"`
	Unpriced  bool            `json:"unpriced"`
	Planned   int             `json:"planned"` // runs
	Begun     int             `json:"begun"`
	Ended     int             `json:"ended"` // done, failed, or stopped by their own limit
	Winner    string          `json:"winner,omitempty"`
	Recipes   []Contender     `json:"recipes"` // the best first
}

// Contender is one recipe of a comparison.
type Contender struct {
	score.Standing
	Digest  event.Digest  `json:"digest,omitempty"`
	Planned int           `json:"planned"` // runs; fewer may have begun
	List    []ComparedRun `json:"list"`
}

// ComparedRun is one run of a comparison.
type ComparedRun struct {
	RunID     event.RunID    `json:"run_id"`
	Repeat    int            `json:"repeat"`
	Status    report.Status  `json:"status"`
	Process   report.Process `json:"process,omitempty"`
	Outcome   report.Outcome `json:"outcome"`
	Verdict   *score.Verdict `json:"verdict,omitempty"`
	Ended     bool           `json:"ended"` // done, failed, or stopped by its own limit
	Success   bool           `json:"success"`
	Verified  bool           `json:"verified"`
	Tokens    int64          `json:"tokens"`
	Effective int64          `json:"effective_tokens"`
	Cost      budget.Micros  `json:"cost_micros"`
	Unpriced  bool           `json:"unpriced"`
	Millis    int64          `json:"ms"` // of running
	Branch    string         `json:"branch,omitempty"`
	Models    []string       `json:"models"`
}

// Compare ranks runs by recipe. Runs of several comparisons, or of none, may be
// mixed: they are told apart by the names of their recipes. The order of the
// list does not matter.
func Compare(list []report.Summary) Comparison {
	runs := slices.Clone(list)
	slices.SortFunc(runs, compareRuns)
	c := Comparison{Recipes: []Contender{}}
	c.common(runs)
	plan := planOf(runs)
	var contenders []score.Contender
	for _, p := range plan {
		contenders = append(contenders, score.Contender{Name: p.Name, Runs: samples(p.List)})
		for _, r := range p.List {
			c.Begun++
			if r.Ended {
				c.Ended++
			}
			c.Spent = budget.Amount{Cost: c.Spent}.Add(budget.Amount{Cost: r.Cost}).Cost // never wraps around
			c.Unpriced = c.Unpriced || r.Unpriced
		}
		c.Planned += max(p.Planned, len(p.List))
	}
	for _, standing := range score.Rank(contenders, c.Direction) {
		standing.Winner = standing.Winner && c.Ended == c.Planned // a run that is missing may still change it
		if standing.Winner {
			c.Winner = standing.Name
		}
		i := slices.IndexFunc(plan, func(p Contender) bool { return p.Name == standing.Name })
		plan[i].Standing = standing
		c.Recipes = append(c.Recipes, plan[i])
	}
	return c
}

func compareRuns(a, b report.Summary) int {
	place := func(s report.Summary) (recipe, repeat int) {
		if s.Comparison != nil {
			return s.Comparison.Recipe, s.Comparison.Repeat
		}
		return 0, 0
	}
	recipeA, repeatA := place(a)
	recipeB, repeatB := place(b)
	return cmp.Or(cmp.Compare(recipeA, recipeB), cmp.Compare(repeatA, repeatB), cmp.Compare(a.RunID, b.RunID))
}

// common fills in what all runs share.
func (c *Comparison) common(runs []report.Summary) {
	for i, s := range runs {
		var id, metric string
		var direction score.Direction
		if s.Comparison != nil {
			id, c.MaxCost = s.Comparison.ID, s.Comparison.MaxCost
		}
		if s.Evaluation != nil {
			metric, direction = s.Evaluation.Metric, s.Evaluation.Direction
		}
		if i == 0 {
			c.ID, c.Workflow, c.Base, c.Metric, c.Direction = id, s.Workflow, s.Base, metric, direction
			continue
		}
		if c.Metric != metric || c.Direction != direction {
			c.Metric, c.Direction = "", score.NoDirection
		}
		c.ID, c.Workflow, c.Base = same(c.ID, id), same(c.Workflow, s.Workflow), same(c.Base, s.Base)
	}
	if c.ID == "" {
		c.MaxCost = 0
	}
}

func same(a, b string) string {
	if a != b {
		return ""
	}
	return a
}

// planOf gathers the runs of each recipe, and the recipes that have none yet.
func planOf(runs []report.Summary) []Contender {
	var plan []Contender
	find := func(name string, planned int) *Contender {
		i := slices.IndexFunc(plan, func(p Contender) bool { return p.Name == name })
		if i < 0 {
			i, plan = len(plan), append(plan, Contender{Standing: score.Standing{Name: name}, List: []ComparedRun{}})
		}
		plan[i].Planned = max(plan[i].Planned, planned)
		return &plan[i]
	}
	for _, s := range runs {
		if s.Comparison != nil {
			for _, name := range s.Comparison.Recipes {
				find(name, s.Comparison.Repeats)
			}
		}
	}
	for _, s := range runs {
		c := find(nameOf(&s), 0)
		if s.Recipe != nil {
			c.Digest = s.Recipe.Digest
		}
		c.List = append(c.List, comparedRun(s))
	}
	for i := range plan {
		plan[i].Planned = max(plan[i].Planned, len(plan[i].List))
	}
	return plan
}

// nameOf is the name of the run's recipe, or [NoRecipe].
func nameOf(s *report.Summary) string {
	if s.Recipe == nil {
		return NoRecipe
	}
	return s.Recipe.Name
}

func comparedRun(s report.Summary) ComparedRun {
	spent := s.Budget.Spent
	r := ComparedRun{
		RunID: s.RunID, Status: s.Status, Process: s.Process, Outcome: s.Outcome, Verdict: s.Evaluation, Ended: ended(&s), Success: s.Status == report.Done, Verified: s.Verified(),
		Tokens: spent.Tokens(), Effective: s.Budget.EffectiveTokens, Cost: spent.Cost(), Unpriced: spent.Unpriced,
		Millis: s.RunningMS, Branch: s.Branch, Models: []string{},
	}
	if s.Evaluation != nil {
		r.Success = s.Evaluation.Success
	}
	if s.Comparison != nil {
		r.Repeat = s.Comparison.Repeat
	}
	for _, m := range s.Models {
		r.Models = append(r.Models, m.Name)
	}
	return r
}

// ended reports whether nothing about the run will change by itself: it is done,
// it failed, or its own limit stopped it. The limit of the whole comparison says
// nothing about the recipe.
func ended(s *report.Summary) bool {
	if s.Status == report.Stopped && s.Outcome.Class == string(event.StopBudget) {
		return s.Comparison == nil || s.Comparison.MaxCost == 0 || s.Outcome.Limit != "max_cost_usd"
	}
	return s.Status == report.Done || s.Status == report.Failed
}

func samples(list []ComparedRun) []score.Sample {
	out := make([]score.Sample, len(list))
	for i, r := range list {
		out[i] = score.Sample{
			Ended: r.Ended, Success: r.Success, Verified: r.Verified, Tokens: r.Tokens, Effective: r.Effective,
			Cost: int64(r.Cost), Unpriced: r.Unpriced, Millis: r.Millis,
		}
		if r.Verdict != nil {
			out[i].Value = r.Verdict.Value
		}
	}
	return out
}
