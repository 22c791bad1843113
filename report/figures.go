package report

import (
	"math"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/report/words"
	"github.com/pawl-ci/pawl/runner/event"
)

// measured is what one answered call used. No provider can have measured less
// than nothing.
func measured(b *event.ModelCallFinished) Spend {
	u := b.Usage
	return Spend{
		Calls: 1, TokensIn: max(u.Input, 0), TokensCached: max(u.Cached, 0), TokensCacheWrite: max(u.CacheWrite, 0),
		TokensOut: max(u.Output, 0), TokensReasoning: max(u.Reasoning, 0), CostMicros: max(u.Cost, 0),
		Unpriced: b.Unpriced, Estimated: b.Estimated,
	}
}

func (s *Spend) add(t Spend) {
	for _, pair := range []struct {
		to *int64
		n  int64
	}{
		{&s.Calls, t.Calls}, {&s.TokensIn, t.TokensIn}, {&s.TokensCached, t.TokensCached},
		{&s.TokensCacheWrite, t.TokensCacheWrite}, {&s.TokensOut, t.TokensOut}, {&s.TokensReasoning, t.TokensReasoning},
		{(*int64)(&s.CostMicros), int64(t.CostMicros)}, {&s.ForfeitedCalls, t.ForfeitedCalls},
		{&s.ForfeitedTokens, t.ForfeitedTokens}, {(*int64)(&s.ForfeitedCostMicros), int64(t.ForfeitedCostMicros)},
	} {
		*pair.to = plus(*pair.to, pair.n)
	}
	s.Unpriced = s.Unpriced || t.Unpriced
	s.Estimated = s.Estimated || t.Estimated
}

// plus adds amounts that are not negative; a sum that does not fit is the
// largest there is, as in the purse.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Tokens is everything that counts against max_tokens: prompts, answers and
// forfeited reservations.
func (s Spend) Tokens() int64 { return plus(plus(s.TokensIn, s.TokensOut), s.ForfeitedTokens) }

// Cost is everything that counts against max_cost_usd. When Unpriced is set it
// is only a lower bound.
func (s Spend) Cost() budget.Micros {
	return budget.Micros(plus(int64(s.CostMicros), int64(s.ForfeitedCostMicros)))
}

// CostText is the cost for people. An unknown cost is never written as $0.
func (s Spend) CostText() string {
	switch {
	case !s.Unpriced:
		return s.Cost().String()
	case s.Cost() == 0:
		return "unpriced"
	}
	return s.Cost().String() + " + unpriced"
}

// Used reports whether any model call was made or lost.
func (s Spend) Used() bool { return s.Calls > 0 || s.ForfeitedCalls > 0 }

// CachedPercent is the share of prompt tokens that the provider had cached.
func (s Spend) CachedPercent() int {
	return percent(min(s.TokensCached, s.TokensIn), s.TokensIn)
}

// effective weighs tokens by what they cost relative to one input token, so that
// recipes can be compared across prices.
func (s Spend) effective() int64 {
	cached := min(s.TokensCached, s.TokensIn)
	written := min(s.TokensCacheWrite, s.TokensIn-cached)
	plain := s.TokensIn - cached - written
	sum := float64(plain) + 0.1*float64(cached) + 1.25*float64(written) + 4*float64(s.TokensOut)
	return int64(math.Round(min(sum, 1<<62)))
}

// gauges are the four limits as they stand.
func (f *fold) gauges() []Gauge {
	l, used := f.purse.Limits, f.purse.Used()
	list := []Gauge{
		{Limit: "max_tokens", Unit: "tokens", Used: used.Tokens, Max: l.MaxTokens},
		{Limit: "max_cost_usd", Unit: "micros", Used: int64(used.Cost), Max: int64(l.MaxCost)},
		{Limit: "max_duration", Unit: "ms", Used: f.running.Milliseconds(), Max: l.MaxDuration.Milliseconds()},
		{Limit: "max_iterations", Unit: "executions", Used: f.purse.Iterations, Max: l.MaxIterations},
	}
	for i := range list {
		list[i].Percent = percent(list[i].Used, list[i].Max)
	}
	return list
}

// percent is part of whole, rounded down; 0 without a whole.
func percent(part, whole int64) int {
	if whole <= 0 || part <= 0 {
		return 0
	}
	return int(min(float64(part)/float64(whole)*100, 1e6))
}

// Text writes n in the gauge's unit.
func (g Gauge) Text(n int64) string {
	switch g.Unit {
	case "micros":
		return budget.Micros(n).String()
	case "ms":
		return words.Span(n)
	}
	return words.Number(n)
}

// MaxText is the bound for people.
func (g Gauge) MaxText() string {
	if g.Max == 0 {
		return "no limit"
	}
	return g.Text(g.Max)
}

// Gauge is the gauge of the named limit.
func (b *Budget) Gauge(limit string) Gauge {
	for _, g := range b.Limits {
		if g.Limit == limit {
			return g
		}
	}
	return Gauge{Limit: limit}
}
