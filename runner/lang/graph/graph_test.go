package graph_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/pawl-ci/pawl/runner/lang/graph"
	"pgregory.net/rapid"
)

func draw(rt *rapid.T) [][]int {
	n := rapid.IntRange(1, 12).Draw(rt, "nodes")
	out := make([][]int, n)
	for range rapid.IntRange(0, 3*n).Draw(rt, "edges") {
		from := rapid.IntRange(0, n-1).Draw(rt, "from")
		out[from] = append(out[from], rapid.IntRange(0, n-1).Draw(rt, "to"))
	}
	return out
}

// reach is what root leads to, itself included, when without is taken out.
func reach(out [][]int, root, without int) map[int]bool {
	seen := map[int]bool{}
	if root == without {
		return seen
	}
	seen[root] = true
	for work := []int{root}; len(work) > 0; {
		n := work[0]
		work = work[1:]
		for _, to := range out[n] {
			if to != without && !seen[to] {
				seen[to] = true
				work = append(work, to)
			}
		}
	}
	return seen
}

// Every answer is the one that follows from its definition.
func TestAgainstDefinitions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		out := draw(rt)
		g := graph.New(0, out)
		reached := reach(out, 0, -1)
		for n := range out {
			if (g.Rank(n) >= 0) != reached[n] {
				rt.Fatalf("%d reached: %t\n%v", n, reached[n], out)
			}
		}
		for a := range reached {
			without := reach(out, 0, a)
			from := reach(out, a, -1)
			for b := range reached {
				if want := !without[b]; g.Dominates(a, b) != want {
					rt.Fatalf("%d dominates %d: %t\n%v", a, b, want, out)
				}
				if want := from[b] && reach(out, b, -1)[a]; (g.Part(a) == g.Part(b)) != want {
					rt.Fatalf("%d and %d in one part: %t\n%v", a, b, want, out)
				}
				if from[b] && g.Part(a) > g.Part(b) {
					rt.Fatalf("part of %d comes after that of %d\n%v", a, b, out)
				}
			}
			if a != 0 && (!g.Dominates(g.Idom(a), a) || g.Idom(a) == a || count(g, out, a) != count(g, out, g.Idom(a))+1) {
				rt.Fatalf("immediate dominator of %d is %d\n%v", a, g.Idom(a), out)
			}
		}
	})
}

// count is how many nodes dominate n.
func count(g *graph.Graph, out [][]int, n int) int {
	c := 0
	for a := range out {
		if g.Rank(a) >= 0 && g.Dominates(a, n) {
			c++
		}
	}
	return c
}

// bodies finds the natural loops by their definition, by header.
func bodies(g *graph.Graph, out [][]int) map[int][]int {
	all := map[int]map[int]bool{}
	for t := range out {
		for _, h := range out[t] {
			if g.Rank(t) < 0 || !g.Dominates(h, t) {
				continue
			}
			if all[h] == nil {
				all[h] = map[int]bool{h: true}
			}
			for n := range out {
				if g.Rank(n) >= 0 && n != h && reach(out, n, h)[t] {
					all[h][n] = true
				}
			}
		}
	}
	lists := map[int][]int{}
	for h, body := range all {
		for n := range body {
			lists[h] = append(lists[h], n)
		}
		slices.Sort(lists[h])
	}
	return lists
}

func TestRegions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		out := draw(rt)
		g := graph.New(0, out)
		want := bodies(g, out)
		found := 0
		for _, r := range g.Regions() {
			var held []int
			for n := range out {
				if g.Holds(r, n) {
					held = append(held, n)
				}
			}
			if r.Header >= 0 {
				found++
				if !slices.Equal(held, want[r.Header]) {
					rt.Fatalf("natural loop of %d: %v, want %v\n%v", r.Header, held, want[r.Header], out)
				}
			} else if slices.ContainsFunc(held, func(n int) bool { return g.Part(n) != g.Part(held[0]) }) || r.Up != nil {
				rt.Fatalf("a region of several parts: %v\n%v", held, out)
			}
			if r.Up != nil && (r.Up.From > r.From || r.Up.To < r.To) {
				rt.Fatalf("a region sticks out of the one around it\n%v", out)
			}
		}
		if found != len(want) {
			rt.Fatalf("%d natural loops, want %d\n%v", found, len(want), out)
		}
		for a := range out {
			for _, b := range out[a] {
				if g.Rank(a) >= 0 {
					around(rt, g, a, b, fmt.Sprint(out))
				}
			}
		}
	})
}

// around checks the smallest region that holds an edge, and that cycles are in one.
func around(rt *rapid.T, g *graph.Graph, a, b int, text string) {
	var best *graph.Region
	for _, r := range g.Regions() {
		if g.Holds(r, a) && g.Holds(r, b) && (best == nil || r.To-r.From < best.To-best.From) {
			best = r
		}
	}
	if got := g.Around(a, b); got != best {
		rt.Fatalf("around %d -> %d: %+v, want %+v\n%s", a, b, got, best, text)
	}
	if g.Part(a) == g.Part(b) && best == nil {
		rt.Fatalf("the cycle of %d -> %d is in no region\n%s", a, b, text)
	}
}

// ladder is a graph whose end is reached from every node, with a loop at each step.
func ladder(n int) [][]int {
	out := make([][]int, n+1)
	for i := range n {
		out[i] = []int{i + 1, n, max(0, i-i%7)}
	}
	return out
}

// Memory grows with the graph, not with its square.
func TestMemoryIsLinear(t *testing.T) {
	small := testing.AllocsPerRun(3, func() { graph.New(0, ladder(1_000)) })
	large := testing.AllocsPerRun(3, func() { graph.New(0, ladder(20_000)) })
	if large > 30*small {
		t.Errorf("%.0f allocations for a graph of 1,000, %.0f for one of 20,000", small, large)
	}
}

func BenchmarkNew(b *testing.B) {
	for _, n := range []int{10, 100, 1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			out := ladder(n)
			b.ReportAllocs()
			for b.Loop() {
				graph.New(0, out)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/node")
		})
	}
}
