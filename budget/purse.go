package budget

import (
	"fmt"
	"time"
)

// Purse is what one run may still spend. It is part of the folded state, so a
// resumed run continues the same purse. Its zero value has no limits.
//
// The life of an amount: Reserve takes the worst case out before a call,
// Settle puts the difference back once the provider has measured it, Forfeit
// keeps the whole reservation as spent when the outcome is unknown.
type Purse struct {
	Limits     Limits
	Spent      Usage         // measured by the provider
	Forfeited  Amount        // reservations of calls whose outcome stayed unknown
	Iterations int64         // node executions so far
	Elapsed    time.Duration // running time over all attempts, parked time left out

	held  map[string]Amount
	total Amount // sum of held
}

// Overdraft says that a limit does not allow what was asked for.
type Overdraft struct {
	Limit string // the name used in .iter files: max_tokens, max_cost_usd, …
	Want  string // what was asked for, with its unit
	Left  string // what remained, with its unit
}

// Error implements error.
func (o *Overdraft) Error() string {
	return fmt.Sprintf("%s: %s needed, %s left", o.Limit, o.Want, o.Left)
}

// Used is everything gone or promised: measured, forfeited and held.
func (p *Purse) Used() Amount { return p.Spent.Amount().Add(p.Forfeited).Add(p.total) }

// Reserve takes a out of the purse under key, or returns an *[Overdraft] and
// changes nothing. Reserving a key that is already held is a programming error
// and panics: the log would count the amount twice.
func (p *Purse) Reserve(key string, a Amount) error {
	if _, dup := p.held[key]; dup {
		panic("budget: key reserved twice: " + key)
	}
	if err := p.check(a); err != nil {
		return err
	}
	p.Hold(key, a)
	return nil
}

// Hold records a reservation that was granted earlier (it is in the log) even
// if limits have been lowered since.
func (p *Purse) Hold(key string, a Amount) {
	if p.held == nil {
		p.held = make(map[string]Amount)
	}
	p.held[key] = a
	p.total = p.total.Add(a)
}

// Check reports whether a would fit, without taking it.
func (p *Purse) Check(a Amount) error { return p.check(a) }

func (p *Purse) check(a Amount) error {
	left := p.Left()
	if p.Limits.MaxTokens > 0 && a.Tokens > left.Tokens {
		return &Overdraft{"max_tokens", fmt.Sprintf("%d tokens", a.Tokens), fmt.Sprintf("%d", max(left.Tokens, 0))}
	}
	if p.Limits.MaxCost > 0 && a.Cost > left.Cost {
		return &Overdraft{"max_cost_usd", a.Cost.String(), max(left.Cost, 0).String()}
	}
	return nil
}

// Left is what may still be reserved. A field whose limit is absent is the
// largest amount there is.
func (p *Purse) Left() Amount {
	const most = 1 << 62
	left := Amount{Tokens: most, Cost: most}
	used := p.Used()
	if p.Limits.MaxTokens > 0 {
		left.Tokens = p.Limits.MaxTokens - used.Tokens
	}
	if p.Limits.MaxCost > 0 {
		left.Cost = p.Limits.MaxCost - used.Cost
	}
	return left
}

// Settle replaces the reservation under key by what was measured. An unknown
// key only adds the usage: money that left is counted whatever the books say.
func (p *Purse) Settle(key string, u Usage) {
	p.release(key)
	p.Spent = p.Spent.Add(u)
}

// Forfeit counts the reservation under key as spent and returns it.
func (p *Purse) Forfeit(key string) Amount {
	a := p.release(key)
	p.Forfeited = p.Forfeited.Add(a)
	return a
}

// Release gives the reservation under key back: the call was never made.
func (p *Purse) Release(key string) { p.release(key) }

func (p *Purse) release(key string) Amount {
	a := p.held[key]
	delete(p.held, key)
	p.total = p.total.Sub(a)
	return a
}

// CountIteration takes one node execution, or returns an *[Overdraft].
func (p *Purse) CountIteration() error {
	if m := p.Limits.MaxIterations; m > 0 && p.Iterations >= m {
		return &Overdraft{"max_iterations", "1 more node execution", "0"}
	}
	p.Iterations++
	return nil
}

// TimeLeft is the running time that remains; ok is false without a limit.
func (p *Purse) TimeLeft() (left time.Duration, ok bool) {
	if p.Limits.MaxDuration <= 0 {
		return 0, false
	}
	return p.Limits.MaxDuration - p.Elapsed, true
}

// Held is the reservation under key; zero when there is none.
func (p *Purse) Held(key string) Amount { return p.held[key] }
