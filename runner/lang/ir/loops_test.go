package ir_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/runner/lang/ir"
	"pgregory.net/rapid"
)

// naive finds loop bodies by their definition, with sets of nodes: the natural
// loop around each counted edge, and larger ones where a cycle has no other bound.
type naive struct {
	w        *ir.Workflow
	naturals []map[*ir.Node]bool
	headers  []*ir.Node
	bodies   map[*ir.Loop]map[*ir.Node]bool
}

func reach(from, without *ir.Node) map[*ir.Node]bool {
	seen := map[*ir.Node]bool{}
	if from == without {
		return seen
	}
	seen[from] = true
	for work := []*ir.Node{from}; len(work) > 0; {
		n := work[0]
		work = work[1:]
		for _, e := range n.Edges {
			if e.To != without && !seen[e.To] {
				seen[e.To] = true
				work = append(work, e.To)
			}
		}
	}
	return seen
}

func newNaive(w *ir.Workflow) *naive {
	v := &naive{w: w, bodies: map[*ir.Loop]map[*ir.Node]bool{}}
	reached := reach(w.Entry, nil)
	for _, h := range w.Nodes {
		body := map[*ir.Node]bool{}
		for _, t := range w.Nodes {
			back := slices.ContainsFunc(t.Edges, func(e *ir.Edge) bool { return e.To == h })
			if !reached[t] || !back || reach(w.Entry, h)[t] {
				continue
			}
			body[h] = true
			for _, n := range w.Nodes {
				if reached[n] && reach(n, h)[t] {
					body[n] = true
				}
			}
		}
		if len(body) > 0 {
			v.naturals, v.headers = append(v.naturals, body), append(v.headers, h)
		}
	}
	v.place(reached)
	return v
}

func (v *naive) place(reached map[*ir.Node]bool) {
	for _, l := range v.w.Loops {
		v.bodies[l] = map[*ir.Node]bool{}
	}
	v.each(func(e *ir.Edge) {
		var best map[*ir.Node]bool
		for _, body := range v.naturals {
			if body[e.From] && body[e.To] && reached[e.From] && (best == nil || len(body) < len(best)) {
				best = body
			}
		}
		v.join(e.Loop, best)
	})
	order := make([]int, len(v.naturals))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(v.naturals[a]) - len(v.naturals[b]) })
	for _, i := range order {
		if v.endless(v.naturals[i], v.headers[i]) {
			v.each(func(e *ir.Edge) {
				if v.naturals[i][e.From] && v.naturals[i][e.To] {
					v.join(e.Loop, v.naturals[i])
				}
			})
		}
	}
}

func (v *naive) each(visit func(*ir.Edge)) {
	for _, n := range v.w.Nodes {
		for _, e := range n.Edges {
			if e.Loop != nil {
				visit(e)
			}
		}
	}
}

func (v *naive) join(l *ir.Loop, body map[*ir.Node]bool) {
	for n := range body {
		v.bodies[l][n] = true
	}
}

// endless: the header comes back to itself without an edge that counts throughout.
func (v *naive) endless(body map[*ir.Node]bool, header *ir.Node) bool {
	seen := map[*ir.Node]bool{}
	for work := []*ir.Node{header}; len(work) > 0; {
		n := work[0]
		work = work[1:]
		for _, e := range n.Edges {
			counts := e.Loop != nil
			for m := range body {
				counts = counts && v.bodies[e.Loop][m]
			}
			if !body[e.To] || counts {
				continue
			}
			if e.To == header {
				return true
			}
			if !seen[e.To] {
				seen[e.To] = true
				work = append(work, e.To)
			}
		}
	}
	return false
}

// Bodies, and what edges enter, are those of the definition, in graphs in which
// every cycle has one entrance.
func TestLoopBodiesAgainstDefinition(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(2, 9).Draw(rt, "nodes")
		var lines []string
		for i := 1; i < n; i++ {
			lines = append(lines, fmt.Sprintf("n%d n%d", i-1, i))
		}
		for range rapid.IntRange(0, 8).Draw(rt, "edges") {
			from := rapid.IntRange(0, n-1).Draw(rt, "from")
			line := fmt.Sprintf("n%d n%d", from, rapid.IntRange(0, from).Draw(rt, "to"))
			if rapid.IntRange(0, 4).Draw(rt, "counted") > 0 {
				line += fmt.Sprintf(" l%d", rapid.IntRange(0, 3).Draw(rt, "loop"))
			}
			lines = append(lines, line)
		}
		text := strings.Join(lines, "\n")
		w := graph(t, text)
		v := newNaive(w)
		for _, l := range w.Loops {
			for _, n := range w.Nodes {
				if l.Contains(n) != v.bodies[l][n] {
					rt.Fatalf("%s holds %s: %t\n%s", l.Name, n.ID, v.bodies[l][n], text)
				}
			}
		}
		for _, n := range w.Nodes {
			in := slices.ContainsFunc(w.Loops, func(l *ir.Loop) bool { return v.bodies[l][n] })
			if w.InLoop(n) != in {
				rt.Fatalf("%s is in a loop: %t\n%s", n.ID, in, text)
			}
			for _, e := range n.Edges {
				for _, l := range w.Loops {
					if want := v.bodies[l][e.To] && !v.bodies[l][n]; slices.Contains(e.Enters(), l) != want {
						rt.Fatalf("%s -> %s enters %s: %t\n%s", n.ID, e.To.ID, l.Name, want, text)
					}
				}
			}
		}
	})
}

// A cycle with two entrances belongs to its loop as a whole, and a walk round it
// ends.
func TestCycleWithTwoEntrances(t *testing.T) {
	t.Parallel()
	w := graph(t, "s a\ns b\na b\nb a l\nb c\nc b m\nc done")
	for _, l := range w.Loops {
		for _, id := range []string{"a", "b", "c"} {
			if !l.Contains(w.Node(id)) {
				t.Errorf("%s does not hold %s", l.Name, id)
			}
		}
	}
	if !w.InLoop(w.Node("a")) || w.InLoop(w.Node("s")) {
		t.Error("the cycle is no loop")
	}
}

// ladder is n nodes in which every third goes back.
func ladder(n int) *ir.Workflow {
	w := &ir.Workflow{Name: "w"}
	for i := range n {
		w.Nodes = append(w.Nodes, &ir.Node{ID: fmt.Sprint("n", i), Op: &ir.Compute{}})
	}
	for i, node := range w.Nodes[:n-1] {
		node.Edges = append(node.Edges, &ir.Edge{From: node, To: w.Nodes[i+1]})
		if i%3 == 2 {
			l := &ir.Loop{Name: fmt.Sprint("l", i), Max: 3}
			w.Loops = append(w.Loops, l)
			node.Edges = append(node.Edges, &ir.Edge{From: node, To: w.Nodes[i-2], Loop: l})
		}
	}
	w.Entry = w.Nodes[0]
	return w
}

func BenchmarkSeal(b *testing.B) {
	for _, n := range []int{10, 100, 1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := ladder(n)
			b.ReportAllocs()
			for b.Loop() {
				w.Seal()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/node")
		})
	}
}
