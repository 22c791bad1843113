package budget

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseMicros(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Micros{
		"0": 0, "10": 10 * Dollar, "0.25": 250_000, "$1.5": 1_500_000, " 3 ": 3 * Dollar, "0.000001": 1,
		"1.230000": 1_230_000, "9223372036853": 9_223_372_036_853 * Dollar,
	} {
		got, err := ParseMicros(text)
		if err != nil || got != want {
			t.Errorf("ParseMicros(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
}

func TestParseMicrosRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "$", ".5", "5.", "-1", "+1", "1.-5", "1.+5", "1e3", "1_000", "0.0000001", "$$1", "1,5", "ten",
		"9223372036854", "99999999999999999999", "0x10", "١",
	} {
		if got, err := ParseMicros(text); err == nil {
			t.Errorf("ParseMicros(%q) = %d, want an error", text, got)
		} else if !strings.Contains(err.Error(), "amount") {
			t.Errorf("ParseMicros(%q): error %q does not name the amount", text, err)
		}
	}
}

func TestMicrosString(t *testing.T) {
	t.Parallel()
	for m, want := range map[Micros]string{
		0: "$0.00", 12_300: "$0.0123", 12_500_000: "$12.50", -1: "-$0.000001", 1_000_000: "$1.00",
		math.MaxInt64: "$9223372036854.775807", math.MinInt64: "-$9223372036854.775808",
	} {
		if got := m.String(); got != want {
			t.Errorf("Micros(%d) = %s, want %s", int64(m), got, want)
		}
	}
}

func TestMicrosRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := Micros(rapid.Int64Range(0, 9_223_372_036_853*int64(Dollar)).Draw(t, "micros"))
		back, err := ParseMicros(m.String())
		if err != nil || back != m {
			t.Fatalf("%d printed as %s is read as %d, %v", m, m, back, err)
		}
	})
}

func FuzzParseMicros(f *testing.F) {
	for _, seed := range []string{"0", "1.5", "$2.000001", "1.", "-3", "9223372036854"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ParseMicros(text)
		if err != nil {
			return
		}
		if back, err := ParseMicros(m.String()); m < 0 || err != nil || back != m {
			t.Fatalf("ParseMicros(%q) = %d, which prints as %s and is read as %d, %v", text, m, m, back, err)
		}
	})
}

func TestUsageAdds(t *testing.T) {
	t.Parallel()
	a := Usage{Calls: 1, Input: 2, Cached: 3, CacheWrite: 4, Output: 5, Reasoning: 6, Cost: 7}
	want := Usage{Calls: 2, Input: 4, Cached: 6, CacheWrite: 8, Output: 10, Reasoning: 12, Cost: 14}
	if got := a.Add(a); got != want {
		t.Errorf("sum = %+v, want %+v", got, want)
	}
	if got := a.Amount(); got != (Amount{Tokens: 7, Cost: 7}) {
		t.Errorf("amount = %+v", got)
	}
}

func TestSumsDoNotWrap(t *testing.T) {
	t.Parallel()
	huge := Amount{math.MaxInt64, math.MaxInt64}
	if got := huge.Add(Amount{1, 1}); got != huge {
		t.Errorf("largest amount + 1 = %+v", got)
	}
	low := Amount{math.MinInt64, math.MinInt64}
	if got := low.Add(Amount{-1, -1}); got != low {
		t.Errorf("smallest amount - 1 = %+v", got)
	}
	u := Usage{Input: math.MaxInt64, Output: math.MaxInt64}
	if got := u.Amount().Tokens; got != math.MaxInt64 {
		t.Errorf("tokens = %d", got)
	}
}
