package budget

import (
	"math"
	"time"
)

// Usage is what model calls consumed, as the provider measured it. Cached and
// CacheWrite are parts of Input; Reasoning is a part of Output.
type Usage struct {
	Calls      int64  `json:"calls,omitempty"`
	Input      int64  `json:"input,omitempty"`
	Cached     int64  `json:"cached,omitempty"`
	CacheWrite int64  `json:"cache_write,omitempty"`
	Output     int64  `json:"output,omitempty"`
	Reasoning  int64  `json:"reasoning,omitempty"`
	Cost       Micros `json:"cost_micros,omitempty"`
}

// Add returns the sum of u and v. A sum that does not fit is the largest amount
// there is: it may never wrap around and look like money given back.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Calls: sum(u.Calls, v.Calls), Input: sum(u.Input, v.Input), Cached: sum(u.Cached, v.Cached),
		CacheWrite: sum(u.CacheWrite, v.CacheWrite), Output: sum(u.Output, v.Output),
		Reasoning: sum(u.Reasoning, v.Reasoning), Cost: Micros(sum(int64(u.Cost), int64(v.Cost))),
	}
}

// Amount reduces u to what a purse counts.
func (u Usage) Amount() Amount { return Amount{Tokens: sum(u.Input, u.Output), Cost: u.Cost} }

// floored is u without negative figures, which no provider can have measured.
func (u Usage) floored() Usage {
	return Usage{
		Calls: max(u.Calls, 0), Input: max(u.Input, 0), Cached: max(u.Cached, 0), CacheWrite: max(u.CacheWrite, 0),
		Output: max(u.Output, 0), Reasoning: max(u.Reasoning, 0), Cost: max(u.Cost, 0),
	}
}

// Amount is what a purse counts: tokens (prompt and answer together) and money.
type Amount struct {
	Tokens int64  `json:"tokens,omitempty"`
	Cost   Micros `json:"cost_micros,omitempty"`
}

// Add returns the sum of a and b, at most the largest amount there is.
func (a Amount) Add(b Amount) Amount {
	return Amount{sum(a.Tokens, b.Tokens), Micros(sum(int64(a.Cost), int64(b.Cost)))}
}

// Sub returns a less b.
func (a Amount) Sub(b Amount) Amount { return Amount{a.Tokens - b.Tokens, a.Cost - b.Cost} }

// floored is a without negative figures.
func (a Amount) floored() Amount { return Amount{max(a.Tokens, 0), max(a.Cost, 0)} }

// sum adds without wrapping around.
func sum(a, b int64) int64 {
	s := a + b
	switch {
	case a > 0 && b > 0 && s < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && s >= 0:
		return math.MinInt64
	}
	return s
}

// Limits are a run's hard bounds. Zero means "no bound of this kind".
type Limits struct {
	MaxTokens           int64         `json:"max_tokens,omitempty"`
	MaxCost             Micros        `json:"max_cost_micros,omitempty"`
	MaxDuration         time.Duration `json:"max_duration_ns,omitempty"`
	MaxIterations       int64         `json:"max_iterations,omitempty"` // node executions
	MaxParallelBranches int64         `json:"max_parallel_branches,omitempty"`
}
