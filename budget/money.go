package budget

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Micros is an amount of money in millionths of a US dollar. Integers keep
// sums exact: a report's total is always the sum of its rows.
type Micros int64

// Dollar is one US dollar.
const Dollar Micros = 1_000_000

// ParseMicros reads a dollar amount such as "10", "0.25" or "$1.5". More than
// six decimals, a sign or an amount above 9 trillion dollars is an error.
func ParseMicros(text string) (Micros, error) {
	digits := strings.TrimPrefix(strings.TrimSpace(text), "$")
	whole, frac, dotted := strings.Cut(digits, ".")
	if dotted && (frac == "" || len(frac) > 6) {
		return 0, fmt.Errorf("amount %q: want at most six decimals, for example 0.25", text)
	}
	frac += strings.Repeat("0", 6-len(frac))
	w, errWhole := strconv.ParseUint(whole, 10, 63)
	f, errFrac := strconv.ParseUint(frac, 10, 63)
	if errWhole != nil || errFrac != nil || w > math.MaxInt64/uint64(Dollar)-1 {
		return 0, fmt.Errorf("amount %q: want dollars, for example 10 or 0.25", text)
	}
	return Micros(w)*Dollar + Micros(f), nil
}

// String renders the amount with at least two and at most six decimals:
// "$0.00", "$0.0123", "$12.50".
func (m Micros) String() string {
	sign, n := "", uint64(m)
	if m < 0 {
		sign, n = "-", -n
	}
	frac := strings.TrimRight(fmt.Sprintf("%06d", n%uint64(Dollar)), "0")
	for len(frac) < 2 {
		frac += "0"
	}
	return fmt.Sprintf("%s$%d.%s", sign, n/uint64(Dollar), frac)
}
