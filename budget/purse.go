package budget

import (
	"fmt"
	"time"
)

// Purse is what one run may still spend. It is part of the folded state, so a
// resumed run continues the same purse. Its zero value has no limits. A copy
// shares its reservations with the original: pass a pointer.
//
// The life of an amount: Reserve takes the worst case out before a call,
// Settle puts the difference back once the provider has measured it, Forfeit
// keeps the whole reservation as spent when the outcome is unknown. As long as
// no call measures more than was reserved for it, [Purse.Used] never exceeds a
// limit.
type Purse struct {
	Limits     Limits
	Spent      Usage         // measured by the provider
	Forfeited  Amount        // reservations of calls whose outcome stayed unknown
	Iterations int64         // node executions so far
	Elapsed    time.Duration // running time over all attempts, parked time left out

	held map[string]Amount
	sum  Amount // of held, unless it is vast
	vast bool   // the sum was once too large to be taken back from
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
func (p *Purse) Used() Amount {
	return p.Spent.Amount().Add(p.Forfeited).Add(p.promised())
}

// promised is the sum of what is held. It is kept beside the reservations, so
// that its cost does not grow with the number of calls that are under way.
func (p *Purse) promised() Amount {
	if !p.vast {
		return p.sum
	}
	// Held amounts are not negative, so the sum is the same in any order.
	var sum Amount
	for _, a := range p.held {
		sum = sum.Add(a)
	}
	return sum
}

// let takes a reservation out of the books and returns it.
func (p *Purse) let(key string) Amount {
	a := p.held[key]
	delete(p.held, key)
	p.sum = p.sum.Sub(a)
	return a
}

// Reserve takes a out of the purse under key, or returns an *[Overdraft] and
// changes nothing. Reserving a key that is already held, or a negative amount,
// is a programming error and panics: the books would no longer add up.
func (p *Purse) Reserve(key string, a Amount) error {
	if _, dup := p.held[key]; dup {
		panic("budget: key reserved twice: " + key)
	}
	if a != a.floored() {
		panic("budget: negative reservation: " + key)
	}
	if err := p.Check(a); err != nil {
		return err
	}
	p.Hold(key, a)
	return nil
}

// Hold records a reservation that was granted earlier (it is in the log) even
// if limits have been lowered since. Negative figures count as nothing; a key
// that is held already holds both amounts.
func (p *Purse) Hold(key string, a Amount) {
	if p.held == nil {
		p.held = make(map[string]Amount)
	}
	before := p.held[key]
	after := before.Add(a.floored())
	p.held[key] = after
	p.sum = p.sum.Add(after.Sub(before))
	p.vast = p.vast || p.sum.Tokens >= most || p.sum.Cost >= most
}

// Check reports whether a would fit, without taking it: nil or an *[Overdraft].
func (p *Purse) Check(a Amount) error {
	left := p.Left()
	if p.Limits.MaxTokens > 0 && a.Tokens > left.Tokens {
		return &Overdraft{"max_tokens", tokens(a.Tokens), tokens(left.Tokens)}
	}
	if p.Limits.MaxCost > 0 && a.Cost > left.Cost {
		return &Overdraft{"max_cost_usd", a.Cost.String(), max(left.Cost, 0).String()}
	}
	return nil
}

func tokens(n int64) string { return fmt.Sprintf("%d tokens", max(n, 0)) }

// most stands for "no limit" in amounts; sums with it do not overflow at once.
const most = 1 << 62

// Left is what may still be reserved. A field whose limit is absent is the
// largest amount there is; one whose limit has been lowered below what is used
// is negative.
func (p *Purse) Left() Amount {
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
// Negative figures count as nothing.
func (p *Purse) Settle(key string, u Usage) {
	p.let(key)
	p.Spent = p.Spent.Add(u.floored())
}

// Forfeit counts the reservation under key as spent and returns it.
func (p *Purse) Forfeit(key string) Amount {
	a := p.let(key)
	p.Forfeited = p.Forfeited.Add(a)
	return a
}

// Release gives the reservation under key back: the call was never made.
func (p *Purse) Release(key string) { p.let(key) }

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
