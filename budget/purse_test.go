package budget

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func overdraft(t *testing.T, err error, limit string) *Overdraft {
	t.Helper()
	var o *Overdraft
	if !errors.As(err, &o) || o.Limit != limit {
		t.Fatalf("error = %v, want an overdraft of %s", err, limit)
	}
	return o
}

func TestReserveStopsAtTheLimit(t *testing.T) {
	t.Parallel()
	p := Purse{Limits: Limits{MaxTokens: 100, MaxCost: 50}}
	if err := p.Reserve("a", Amount{60, 10}); err != nil {
		t.Fatal(err)
	}
	o := overdraft(t, p.Reserve("b", Amount{41, 1}), "max_tokens")
	if o.Error() != "max_tokens: 41 tokens needed, 40 tokens left" {
		t.Errorf("error reads %q", o)
	}
	o = overdraft(t, p.Reserve("b", Amount{40, 41}), "max_cost_usd")
	if o.Error() != "max_cost_usd: $0.000041 needed, $0.00004 left" {
		t.Errorf("error reads %q", o)
	}
	if err := p.Reserve("b", Amount{40, 40}); err != nil {
		t.Errorf("what is exactly left was refused: %v", err)
	}
	if left := p.Left(); left != (Amount{}) {
		t.Errorf("left = %+v, want nothing", left)
	}
}

func TestPurseWithoutLimits(t *testing.T) {
	t.Parallel()
	var p Purse
	if err := p.Reserve("a", Amount{1 << 60, 1 << 60}); err != nil {
		t.Fatal(err)
	}
	p.Settle("a", Usage{Input: 5, Cost: 5})
	if _, limited := p.TimeLeft(); limited {
		t.Error("a purse without limits knows an end of time")
	}
	for range 3 {
		if err := p.CountIteration(); err != nil {
			t.Fatal(err)
		}
	}
	if p.Iterations != 3 {
		t.Errorf("iterations = %d", p.Iterations)
	}
}

func TestLifeOfAReservation(t *testing.T) {
	t.Parallel()
	p := Purse{Limits: Limits{MaxTokens: 100}}
	for _, key := range []string{"settled", "forfeited", "released"} {
		if err := p.Reserve(key, Amount{Tokens: 30}); err != nil {
			t.Fatal(err)
		}
	}
	p.Settle("settled", Usage{Input: 4, Output: 1})
	if got := p.Forfeit("forfeited"); got != (Amount{Tokens: 30}) {
		t.Errorf("forfeited %+v", got)
	}
	p.Release("released")
	if got := p.Used(); got != (Amount{Tokens: 35}) {
		t.Errorf("used = %+v, want 5 measured and 30 forfeited", got)
	}
	p.Settle("unknown", Usage{Input: 10})
	if got := p.Forfeit("unknown"); got != (Amount{}) {
		t.Errorf("forfeiting an unknown key returned %+v", got)
	}
	if got := p.Used().Tokens; got != 45 {
		t.Errorf("used = %d: usage under an unknown key must count once", got)
	}
}

func TestHoldCountsWhateverTheLimit(t *testing.T) {
	t.Parallel()
	p := Purse{Limits: Limits{MaxTokens: 10}}
	p.Hold("a", Amount{Tokens: 8})
	p.Hold("a", Amount{Tokens: 7})
	p.Hold("b", Amount{Tokens: -100})
	if got := p.Used().Tokens; got != 15 {
		t.Errorf("used = %d, want 15", got)
	}
	if got := p.Left().Tokens; got != -5 {
		t.Errorf("left = %d, want -5", got)
	}
	overdraft(t, p.Reserve("c", Amount{Tokens: 1}), "max_tokens")
	p.Release("a")
	if got := p.Left().Tokens; got != 10 {
		t.Errorf("left after release = %d, want 10", got)
	}
}

func TestNegativeFiguresAreNoIncome(t *testing.T) {
	t.Parallel()
	p := Purse{Limits: Limits{MaxTokens: 10}}
	p.Settle("a", Usage{Input: -50, Output: 3, Cost: -7})
	if got := p.Used(); got != (Amount{Tokens: 3}) {
		t.Errorf("used = %+v", got)
	}
}

func TestHugeFiguresDoNotWrap(t *testing.T) {
	t.Parallel()
	p := Purse{Limits: Limits{MaxTokens: 10, MaxCost: 10}}
	p.Hold("a", Amount{math.MaxInt64, math.MaxInt64})
	p.Hold("b", Amount{5, 5})
	p.Settle("c", Usage{Input: math.MaxInt64, Output: math.MaxInt64, Cost: math.MaxInt64})
	overdraft(t, p.Reserve("d", Amount{1, 1}), "max_tokens")
	p.Release("a")
	overdraft(t, p.Reserve("d", Amount{1, 1}), "max_tokens")
}

func TestMisusePanics(t *testing.T) {
	t.Parallel()
	misuse := map[string]func(*Purse){
		"twice":    func(p *Purse) { _ = p.Reserve("a", Amount{Tokens: 1}) },
		"negative": func(p *Purse) { _ = p.Reserve("b", Amount{Tokens: -1}) },
	}
	for name, do := range misuse {
		t.Run(name, func(t *testing.T) {
			var p Purse
			p.Hold("a", Amount{Tokens: 1})
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			do(&p)
		})
	}
}

func TestIterationsAndTime(t *testing.T) {
	t.Parallel()
	p := Purse{Limits: Limits{MaxIterations: 2, MaxDuration: time.Minute}, Elapsed: 50 * time.Second}
	for range 2 {
		if err := p.CountIteration(); err != nil {
			t.Fatal(err)
		}
	}
	overdraft(t, p.CountIteration(), "max_iterations")
	if p.Iterations != 2 {
		t.Errorf("a refused iteration was counted: %d", p.Iterations)
	}
	if left, ok := p.TimeLeft(); !ok || left != 10*time.Second {
		t.Errorf("time left = %v, %v", left, ok)
	}
}

// ledger is the model the purse is checked against: plain lists, added up anew
// each time.
type ledger struct {
	held          map[string]Amount
	spent, forfei []Amount
}

func (l ledger) used() (sum Amount) {
	for _, a := range l.held {
		sum.Tokens, sum.Cost = sum.Tokens+a.Tokens, sum.Cost+a.Cost
	}
	for _, a := range slices.Concat(l.spent, l.forfei) {
		sum.Tokens, sum.Cost = sum.Tokens+a.Tokens, sum.Cost+a.Cost
	}
	return sum
}

func drawAmount(t *rapid.T, most Amount, label string) Amount {
	return Amount{
		Tokens: rapid.Int64Range(0, most.Tokens).Draw(t, label+" tokens"),
		Cost:   Micros(rapid.Int64Range(0, int64(most.Cost)).Draw(t, label+" cost")),
	}
}

// Whatever is reserved, settled within its reservation, forfeited and released
// in whatever order: what is used never exceeds the limits and is what a plain
// ledger says.
func TestPurseIsNeverOverdrawn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limits := Limits{
			MaxTokens: rapid.Int64Range(0, 500).Draw(t, "max tokens"),
			MaxCost:   Micros(rapid.Int64Range(0, 500).Draw(t, "max cost")),
		}
		p, books := Purse{Limits: limits}, ledger{held: map[string]Amount{}}
		next := 0
		pick := func(t *rapid.T) string {
			if len(books.held) == 0 {
				t.Skip("nothing held")
			}
			keys := make([]string, 0, len(books.held))
			for k := range books.held {
				keys = append(keys, k)
			}
			slices.Sort(keys)
			return rapid.SampledFrom(keys).Draw(t, "key")
		}
		t.Repeat(map[string]func(*rapid.T){
			"reserve": func(t *rapid.T) {
				next++
				key, a := fmt.Sprint(next), drawAmount(t, Amount{200, 200}, "reserve")
				before := p.Used()
				if err := p.Reserve(key, a); err == nil {
					books.held[key] = a
				} else if p.Used() != before {
					t.Fatalf("a refused reservation changed the purse: %+v -> %+v", before, p.Used())
				} else if a.Tokens+before.Tokens <= limits.MaxTokens && a.Cost+before.Cost <= limits.MaxCost {
					t.Fatalf("refused %+v with %+v of %+v used: %v", a, before, limits, err)
				}
			},
			"settle": func(t *rapid.T) {
				key := pick(t)
				real := drawAmount(t, books.held[key], "settle")
				input := rapid.Int64Range(0, real.Tokens).Draw(t, "input")
				p.Settle(key, Usage{Calls: 1, Input: input, Output: real.Tokens - input, Cost: real.Cost})
				delete(books.held, key)
				books.spent = append(books.spent, real)
			},
			"forfeit": func(t *rapid.T) {
				key := pick(t)
				if got := p.Forfeit(key); got != books.held[key] {
					t.Fatalf("forfeited %+v, want %+v", got, books.held[key])
				}
				books.forfei = append(books.forfei, books.held[key])
				delete(books.held, key)
			},
			"release": func(t *rapid.T) {
				key := pick(t)
				p.Release(key)
				delete(books.held, key)
			},
			"": func(t *rapid.T) {
				used := p.Used()
				if used != books.used() {
					t.Fatalf("used = %+v, the books say %+v", used, books.used())
				}
				if limits.MaxTokens > 0 && used.Tokens > limits.MaxTokens || limits.MaxCost > 0 && used.Cost > limits.MaxCost {
					t.Fatalf("used %+v of %+v", used, limits)
				}
			},
		})
	})
}
