package budget

import (
	"math"
	"math/bits"
)

// Price is what a million tokens of each kind cost. Every field counts: a
// provider that gives no discount for cached tokens has Cached equal to Input.
type Price struct {
	Input      Micros // prompt tokens that are neither read from nor written to a cache
	Cached     Micros // prompt tokens read from the provider's cache
	CacheWrite Micros // prompt tokens written to it
	Output     Micros // answer tokens, reasoning included
}

// maxPrice bounds a price for a million tokens. It keeps typing errors out and
// one token's price below the largest step of the arithmetic.
const maxPrice = 1_000_000 * Dollar

// Cost is what u costs, rounded up to a whole micro-dollar, in exact integer
// arithmetic. u.Cost is not looked at; negative figures count as nothing, and
// parts that exceed their whole count as the whole. A cost that does not fit
// is the largest amount there is.
func (p Price) Cost(u Usage) Micros {
	u = u.floored()
	cached := min(u.Cached, u.Input)
	written := min(u.CacheWrite, u.Input-cached)
	var bill bill
	bill.add(u.Input-cached-written, p.Input)
	bill.add(cached, p.Cached)
	bill.add(written, p.CacheWrite)
	bill.add(u.Output, p.Output)
	return bill.total()
}

// Worst is the most a call with so many prompt tokens and at most maxOutput
// answer tokens can cost, whatever the provider's cache does.
func (p Price) Worst(promptTokens, maxOutput int64) Micros {
	var bill bill
	bill.add(max(promptTokens, 0), max(p.Input, p.Cached, p.CacheWrite))
	bill.add(max(maxOutput, 0), p.Output)
	return bill.total()
}

// bill sums products of tokens and prices in 128 bits: millionths of a
// micro-dollar. Four products of two 63-bit numbers cannot overflow it.
type bill struct{ hi, lo uint64 }

func (b *bill) add(tokens int64, price Micros) {
	hi, lo := bits.Mul64(uint64(tokens), uint64(max(price, 0)))
	var carry uint64
	b.lo, carry = bits.Add64(b.lo, lo, 0)
	b.hi, _ = bits.Add64(b.hi, hi, carry)
}

func (b *bill) total() Micros {
	const million = 1_000_000
	if b.hi >= million {
		return math.MaxInt64
	}
	total, rest := bits.Div64(b.hi, b.lo, million)
	if rest > 0 {
		total++
	}
	// A wrap to 0 by the line above is caught here as well.
	if total > math.MaxInt64 || total == 0 && rest > 0 {
		return math.MaxInt64
	}
	return Micros(total)
}
