package budget

import "time"

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

// Add returns the sum of u and v.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Calls: u.Calls + v.Calls, Input: u.Input + v.Input, Cached: u.Cached + v.Cached,
		CacheWrite: u.CacheWrite + v.CacheWrite, Output: u.Output + v.Output,
		Reasoning: u.Reasoning + v.Reasoning, Cost: u.Cost + v.Cost,
	}
}

// Amount reduces u to what a purse counts.
func (u Usage) Amount() Amount { return Amount{Tokens: u.Input + u.Output, Cost: u.Cost} }

// Amount is what a purse counts: tokens (prompt and answer together) and money.
type Amount struct {
	Tokens int64  `json:"tokens,omitempty"`
	Cost   Micros `json:"cost_micros,omitempty"`
}

// Add returns the sum of a and b.
func (a Amount) Add(b Amount) Amount { return Amount{a.Tokens + b.Tokens, a.Cost + b.Cost} }

// Sub returns a less b.
func (a Amount) Sub(b Amount) Amount { return Amount{a.Tokens - b.Tokens, a.Cost - b.Cost} }

// Limits are a run's hard bounds. Zero means "no bound of this kind".
type Limits struct {
	MaxTokens           int64         `json:"max_tokens,omitempty"`
	MaxCost             Micros        `json:"max_cost_micros,omitempty"`
	MaxDuration         time.Duration `json:"max_duration_ns,omitempty"`
	MaxIterations       int64         `json:"max_iterations,omitempty"` // node executions
	MaxParallelBranches int64         `json:"max_parallel_branches,omitempty"`
}
