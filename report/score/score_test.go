package score_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pawl-ci/pawl/report/score"
)

func TestWishes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		wish  string
		value any
		want  bool
	}{
		{"true", true, true}, {"true", "true", true}, {"true", false, false}, {"true", nil, false}, {"false", false, true},
		{"3", 3, true}, {"3", 3.0, true}, {"3.0", 3, true}, {"3", "3", true}, {"3", 4, false}, {"= x y", "x y", true}, {"==x", "x", true},
		{"!= x", "y", true}, {"!= x", "x", false}, {"!= 1", 1.0, false}, {"!= 1", 2, true}, {">= 0.8", 0.8, true}, {">= 0.8", 0.79, false}, {"> 1", 1, false}, {"> 1", 2, true},
		{"< 5", int64(4), true}, {"<= 5", 5, true}, {"<5", "4.5", true}, {"< 5", "many", false}, {"< 5", true, false}, {"[1]", []any{1}, true}, {" low ", "low", true},
	} {
		w, err := score.ParseWish(c.wish)
		if err != nil || w.Holds(c.value) != c.want {
			t.Errorf("%v is %q: %t, %v", c.value, c.wish, !c.want, err)
		}
	}
	for _, text := range []string{"", "  ", ">=", "> high", "< true", "<= NaN"} {
		if w, err := score.ParseWish(text); err == nil {
			t.Errorf("%q is read as %+v", text, w)
		}
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	approved := map[string]any{"approved": true, "cost_usd": 0.25}
	for _, c := range []struct {
		policy  score.Policy
		facts   score.Facts
		decided bool
		success bool
		reason  string
	}{
		{score.Policy{Metric: "approved", Success: "true"}, score.Facts{score.Done, approved}, true, true, "approved is true"},
		{score.Policy{Metric: "approved", Success: "false"}, score.Facts{score.Done, approved}, true, false, "approved is true, not false"},
		{score.Policy{Metric: "approved", Success: "true"}, score.Facts{score.No, approved}, true, true, "approved is true"},
		{score.Policy{Metric: "approved", Success: "true"}, score.Facts{score.Broke, approved}, true, false, "the run failed, whatever its metric says"},
		{score.Policy{Metric: "approved", Success: "true"}, score.Facts{score.Open, approved}, false, false, "the run has not come to its end"},
		{score.Policy{Metric: "level", Success: "high"}, score.Facts{score.Done, approved}, true, false, "level is not known: no node has given it"},
		{score.Policy{Metric: "cost_usd", Success: "< 0.2"}, score.Facts{score.Done, approved}, true, false, "cost_usd is 0.25, not < 0.2"},
		{score.Policy{Metric: "approved"}, score.Facts{score.Done, approved}, true, true, "the run is done"},
		{score.Policy{Metric: "approved"}, score.Facts{score.No, approved}, true, false, "the run is not done"},
		{score.Policy{Metric: "approved", Success: "> x"}, score.Facts{score.Done, approved}, true, false, `success value "> x": > compares with a number`},
	} {
		v := c.policy.Judge(c.facts)
		if v.Decided != c.decided || v.Success != c.success || v.Reason != c.reason {
			t.Errorf("%+v of %+v: %+v", c.policy, c.facts, v)
		}
	}
	v := score.Policy{Metric: "approved", Secondary: []string{"cost_usd", "gone"}}.Judge(score.Facts{score.Done, approved})
	if v.Value != true || !reflect.DeepEqual(v.Secondary, []score.Measure{{"cost_usd", 0.25}, {"gone", nil}}) {
		t.Errorf("%+v", v)
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	for want, v := range map[string]any{"–": nil, "x": "x", "true": true, "3": 3, "0.25": 0.25, "2": 2.0, "0.333333": 1.0 / 3, `["a"]`: []any{"a"}, "0": 0.0} {
		if got := score.Text(v); got != want {
			t.Errorf("%v is written %q, want %q", v, got, want)
		}
	}
}

func TestMetricsAreSorted(t *testing.T) {
	t.Parallel()
	var names []string
	for _, m := range score.Metrics() {
		names = append(names, m.Name)
		if got, known := score.Builtin(m.Name); !known || got != m || m.About == "" {
			t.Errorf("%s is %+v", m.Name, got)
		}
	}
	if !slices.IsSorted(names) {
		t.Error(names)
	}
	if _, known := score.Builtin("nothing"); known {
		t.Error("nothing is a metric")
	}
}

// ok is a run that succeeded, with a metric and a cost.
func ok(value any, cost int64) score.Sample {
	return score.Sample{Ended: true, Success: true, Verified: true, Value: value, Cost: cost, Tokens: cost * 10, Effective: cost * 20, Millis: 5}
}

func failed(cost int64) score.Sample { return score.Sample{Ended: true, Cost: cost, Tokens: cost * 10} }

func places(list []score.Standing) string {
	var out []string
	for _, s := range list {
		mark := ""
		if s.Winner {
			mark = "*"
		}
		out = append(out, fmt.Sprintf("%d%s%s", s.Place, s.Name, mark))
	}
	return strings.Join(out, " ")
}

func TestRank(t *testing.T) {
	t.Parallel()
	type list = []score.Contender
	for name, c := range map[string]struct {
		list list
		d    score.Direction
		want string
	}{
		"success first":           {list{{"a", []score.Sample{failed(1)}}, {"b", []score.Sample{ok(nil, 100)}}}, "", "1b* 2a"},
		"shares, not numbers":     {list{{"a", []score.Sample{ok(1, 1), failed(1), failed(1)}}, {"b", []score.Sample{ok(1, 9)}}}, "", "1b* 2a"},
		"higher is better":        {list{{"a", []score.Sample{ok(0.5, 1)}}, {"b", []score.Sample{ok(0.6, 9)}}}, score.Higher, "1b* 2a"},
		"lower is better":         {list{{"a", []score.Sample{ok(0.5, 9)}}, {"b", []score.Sample{ok(0.6, 1)}}}, score.Lower, "1a* 2b"},
		"without a direction":     {list{{"a", []score.Sample{ok("x", 9)}}, {"b", []score.Sample{ok("y", 1)}}}, "", "1b* 2a"},
		"known before unknown":    {list{{"a", []score.Sample{ok(nil, 1)}}, {"b", []score.Sample{ok(1, 9)}}}, score.Lower, "1b* 2a"},
		"true is more":            {list{{"a", []score.Sample{ok(false, 1)}}, {"b", []score.Sample{ok(true, 9)}}}, score.Higher, "1b* 2a"},
		"an equal place":          {list{{"b", []score.Sample{ok(1, 1)}}, {"a", []score.Sample{ok(1, 1)}}, {"c", nil}}, score.Higher, "1b 1a 3c"},
		"nobody succeeds":         {list{{"a", []score.Sample{failed(2)}}, {"b", []score.Sample{failed(1)}}}, "", "1b 2a"},
		"not begun is last":       {list{{"a", nil}, {"b", []score.Sample{failed(1)}}}, "", "1b 2a"},
		"unpriced is not free":    {list{{"a", []score.Sample{{Ended: true, Success: true, Unpriced: true}}}, {"b", []score.Sample{ok(nil, 5)}}}, "", "1b* 2a"},
		"one alone":               {list{{"a", []score.Sample{ok(1, 1)}}}, "", "1a*"},
		"time decides nothing":    {list{{"a", []score.Sample{{Ended: true, Success: true, Millis: 2}}}, {"b", []score.Sample{{Ended: true, Success: true, Millis: 1}}}}, "", "1a 1b"},
		"the median, not a spike": {list{{"a", []score.Sample{ok(1, 1), ok(1, 2), ok(1, 900)}}, {"b", []score.Sample{ok(1, 3), ok(1, 3), ok(1, 3)}}}, score.Higher, "1a* 2b"},
	} {
		if got := places(score.Rank(c.list, c.d)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	if got := score.Rank(nil, ""); len(got) != 0 {
		t.Errorf("nobody stands at %v", got)
	}
}

func TestStanding(t *testing.T) {
	t.Parallel()
	s := score.Rank([]score.Contender{{"a", []score.Sample{ok(2, 10), ok(4, 30), failed(20)}}}, score.Higher)[0]
	if s.Runs != 3 || s.Ended != 3 || s.Successes != 2 || s.Verified != 2 || s.Value != 3.0 || s.Cost != 20 || s.Tokens != 200 || s.Effective != 200 {
		t.Errorf("%+v", s)
	}
	if *s.CostPerVerified != 30 || *s.EffectivePerVerified != 400 {
		t.Errorf("one verified change costs %d and %d: the run that failed counts too", *s.CostPerVerified, *s.EffectivePerVerified)
	}
	if s := score.Rank([]score.Contender{{"a", []score.Sample{failed(1)}}}, "")[0]; s.CostPerVerified != nil {
		t.Error("nothing was verified, and it has a price")
	}
	for _, values := range []struct {
		in   []any
		want any
	}{{[]any{true, true}, true}, {[]any{true, false}, nil}, {[]any{"x", "x"}, "x"}, {[]any{"x", "y"}, nil}, {[]any{1, nil}, 1.0}, {[]any{1, 2, 30}, 2.0}, {nil, nil}} {
		var runs []score.Sample
		for _, v := range values.in {
			runs = append(runs, score.Sample{Value: v})
		}
		if got := score.Rank([]score.Contender{{"a", runs}}, "")[0].Value; got != values.want {
			t.Errorf("%v stand for %v, want %v", values.in, got, values.want)
		}
	}
}

// The order in which contenders and runs are given decides nothing but the order
// of equals.
func TestRankDoesNotDependOnOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var list []score.Contender
		for i := range rapid.IntRange(1, 6).Draw(t, "contenders") {
			c := score.Contender{Name: string(rune('a' + i))}
			for range rapid.IntRange(0, 4).Draw(t, "runs") {
				c.Runs = append(c.Runs, score.Sample{
					Ended: true, Success: rapid.Bool().Draw(t, "success"), Cost: rapid.Int64Range(0, 3).Draw(t, "cost"),
					Value: rapid.SampledFrom([]any{nil, 1, 2.5, true, "x"}).Draw(t, "value"), Unpriced: rapid.Bool().Draw(t, "unpriced"),
				})
			}
			list = append(list, c)
		}
		d := rapid.SampledFrom([]score.Direction{"", score.Higher, score.Lower}).Draw(t, "direction")
		byName := func(ranked []score.Standing) []score.Standing {
			slices.SortFunc(ranked, func(a, b score.Standing) int { return strings.Compare(a.Name, b.Name) })
			return ranked
		}
		want := byName(score.Rank(list, d))
		shuffle := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		shuffle.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		for _, c := range list {
			shuffle.Shuffle(len(c.Runs), func(i, j int) { c.Runs[i], c.Runs[j] = c.Runs[j], c.Runs[i] })
		}
		if got := byName(score.Rank(list, d)); !reflect.DeepEqual(got, want) {
			t.Fatalf("ranked\n%+v\nand, in another order,\n%+v", want, got)
		}
	})
}
