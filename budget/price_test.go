package budget

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestCost(t *testing.T) {
	t.Parallel()
	price := Price{Input: 3 * Dollar, Cached: 300_000, CacheWrite: 3_750_000, Output: 15 * Dollar}
	cases := []struct {
		name  string
		usage Usage
		want  Micros
	}{
		{"nothing", Usage{}, 0},
		{"plain", Usage{Input: 1_000_000, Output: 1_000_000}, 18 * Dollar},
		{"cached and written are parts of the input", Usage{Input: 1000, Cached: 600, CacheWrite: 100, Output: 10}, 300*3 + 180 + 375 + 150},
		{"rounded up", Usage{Cached: 1, Input: 1}, 1},
		{"reasoning is part of the output", Usage{Output: 10, Reasoning: 9}, 150},
		{"more cached than input", Usage{Input: 10, Cached: 50}, 3},
		{"more written than input", Usage{Input: 10, CacheWrite: 50}, 38},
		{"negative", Usage{Input: -5, Output: -5, Cached: -5}, 0},
		{"the cost given is not looked at", Usage{Input: 1_000_000, Cost: 99}, 3 * Dollar},
		{"too large", Usage{Input: math.MaxInt64, Output: math.MaxInt64}, math.MaxInt64},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := price.Cost(c.usage); got != c.want {
				t.Errorf("cost = %d, want %d", got, c.want)
			}
		})
	}
}

func drawPrice(t *rapid.T) Price {
	draw := func(label string) Micros { return Micros(rapid.Int64Range(0, int64(maxPrice)).Draw(t, label)) }
	return Price{draw("input"), draw("cached"), draw("cache write"), draw("output")}
}

// The arithmetic agrees with that of arbitrary size, rounded up.
func TestCostIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		price := drawPrice(t)
		in := rapid.Int64Min(0).Draw(t, "input")
		cached := rapid.Int64Range(0, in).Draw(t, "cached")
		written := rapid.Int64Range(0, in-cached).Draw(t, "written")
		out := rapid.Int64Min(0).Draw(t, "output")
		want := new(big.Int)
		for tokens, each := range map[*big.Int]Micros{
			big.NewInt(in - cached - written): price.Input, big.NewInt(cached): price.Cached,
			big.NewInt(written): price.CacheWrite, big.NewInt(out): price.Output,
		} {
			want.Add(want, tokens.Mul(tokens, big.NewInt(int64(each))))
		}
		want.Add(want, big.NewInt(999_999)).Quo(want, big.NewInt(1_000_000))
		if !want.IsInt64() {
			want.SetInt64(math.MaxInt64)
		}
		got := price.Cost(Usage{Input: in, Cached: cached, CacheWrite: written, Output: out})
		if int64(got) != want.Int64() {
			t.Fatalf("cost = %d, want %d", got, want)
		}
	})
}

// No usage within the bounds costs more than the worst case reserved for it.
func TestWorstIsWorst(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		price := drawPrice(t)
		prompt := rapid.Int64Range(0, 1<<40).Draw(t, "prompt")
		out := rapid.Int64Range(0, 1<<40).Draw(t, "out")
		in := rapid.Int64Range(0, prompt).Draw(t, "input")
		u := Usage{
			Input: in, Cached: rapid.Int64Range(0, in).Draw(t, "cached"),
			CacheWrite: rapid.Int64Range(0, in).Draw(t, "written"), Output: rapid.Int64Range(0, out).Draw(t, "output"),
		}
		if cost, worst := price.Cost(u), price.Worst(prompt, out); cost > worst {
			t.Fatalf("cost %d above the worst case %d", cost, worst)
		}
	})
	if got := (Price{Output: Dollar}).Worst(-3, -4); got != 0 {
		t.Errorf("worst of nothing = %d", got)
	}
}
