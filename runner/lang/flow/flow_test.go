package flow_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/runner/lang/flow"
	"github.com/pawl-ci/pawl/runner/lang/ir"
	"pgregory.net/rapid"
)

// build makes a workflow from lines such as "a b" or "a b loop 2". Names that begin
// with F are fan-outs, those with J joins; every other node asks a model. The first
// node named is the entry.
func build(text string) *ir.Workflow {
	w := &ir.Workflow{Name: "w"}
	loops := map[string]*ir.Loop{}
	nodes := map[string]*ir.Node{}
	node := func(id string) *ir.Node {
		if n := nodes[id]; n != nil {
			return n
		}
		n := &ir.Node{ID: id, Op: &ir.Call{Model: ir.Literal("m"), User: ir.Literal(""), MaxTokens: 100}}
		switch {
		case id[0] == 'F':
			n.Op = &ir.Route{Mode: ir.FanOutAll}
		case id[0] == 'J':
			n.Op = &ir.Join{}
		case id == ir.DoneID || id == ir.FailID:
			n.Op = &ir.End{Fail: id == ir.FailID}
		}
		nodes[id] = n
		w.Nodes = append(w.Nodes, n)
		return n
	}
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		f := strings.Fields(line)
		e := &ir.Edge{From: node(f[0]), To: node(f[1])}
		if len(f) > 2 {
			if loops[f[2]] == nil {
				loops[f[2]] = &ir.Loop{Name: f[2], Max: 3}
				if len(f) > 3 {
					_, _ = fmt.Sscan(f[3], &loops[f[2]].Max)
				}
				w.Loops = append(w.Loops, loops[f[2]])
			}
			e.Loop = loops[f[2]]
		}
		e.From.Edges = append(e.From.Edges, e)
	}
	w.Entry = w.Nodes[0]
	w.Seal()
	return w
}

func visits(w *ir.Workflow) map[string]int64 {
	out := map[string]int64{}
	for _, n := range flow.Of(w).WorstCase(flow.CostOptions{}).Nodes {
		out[n.Node] = n.Visits
	}
	return out
}

func TestVisits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, edges, want string }{
		{"chain", "a b\nb done", "a=1 b=1"},
		{"two ways", "a b\na c\nb d\nc d\nd done", "a=1 b=1 c=1 d=1"},
		{"back edge", "a b\nb a l 3\nb done", "a=4 b=4"},
		{"forward edge", "s t\nt f l 3\nf t\nt done", "f=3 s=1 t=4"},
		{"nested", "a b\nb c\nc b in 2\nc a out 4\nc done", "a=5 b=15 c=15"},
		{"one counter for both", "a b\nb c\nc b l 2\nc a l 2\nc done", "a=3 b=9 c=9"},
		{"fan-out", "F a\nF b\na J\nb J\nJ c\nc done", "F=1 J=1 a=1 b=1 c=1"},
		{"a node on two branches", "F a\nF b\na c\nb c\nc J\nJ done", "F=1 J=1 a=1 b=1 c=2"},
		{"fan-out in a loop", "F a\nF b\na J\nb J\nJ c\nc F l 4\nc done", "F=5 J=5 a=5 b=5 c=5"},
		{"loop on a branch", "F a\nF b\na x\nx a l 2\nx J\nb J\nJ done", "F=1 J=1 a=3 b=1 x=3"},
		{"nested fan-outs", "F G\nF b\nG c\nc J\nb J\nJ done", "F=1 G=1 J=1 b=1 c=1"},
		{"wide in wide", "F F1\nF F2\nF1 a\nF1 b\nF2 a\nF2 b\na J\nb J\nJ done", "F1=1 F2=1 F=1 J=1 a=2 b=2"},
		{"a branch goes round", "F a\nF b\na F l 2\na J\nb F l 2\nb J\nJ done", "F=7 J=1 a=7 b=7"},
		{"used by two routers in turn", "F a\nF b\na J\nb J\nJ F2\nF2 a2\nF2 b\na2 J2\nb J2\nJ2 done", ""},
	} {
		got := visits(build(c.edges))
		var list []string
		for n, v := range got {
			list = append(list, fmt.Sprintf("%s=%d", n, v))
		}
		slices.Sort(list)
		if text := strings.Join(list, " "); c.want != "" && text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}

// walker counts by trying every way: what one token can do at most.
type walker struct {
	target *ir.Node
	memo   map[string]int64
	steps  int
}

const tooMany = 300_000

// most is how many visits of the target a token at n can lead to, until it comes
// to stop.
func (k *walker) most(n, stop *ir.Node, counts map[*ir.Loop]int) int64 {
	if n == stop || k.steps > tooMany {
		return 0
	}
	k.steps++
	key := fmt.Sprint(n.ID, stop != nil, state(counts))
	if stop != nil {
		key += stop.ID
	}
	if v, known := k.memo[key]; known {
		return v
	}
	here := int64(0)
	if n == k.target {
		here = 1
	}
	best := int64(0)
	r, fan := n.Op.(*ir.Route)
	fan = fan && r.FansOut() && n.Meets() != nil
	for _, e := range n.Edges {
		next, open := step(e, counts)
		if !open {
			continue
		}
		if fan {
			best += k.most(e.To, n.Meets(), next)
		} else {
			best = max(best, k.most(e.To, stop, next))
		}
	}
	if fan && n.Meets() != stop {
		best += k.most(n.Meets(), stop, counts)
	}
	k.memo[key] = here + best
	return here + best
}

func step(e *ir.Edge, counts map[*ir.Loop]int) (map[*ir.Loop]int, bool) {
	next := map[*ir.Loop]int{}
	for l, c := range counts {
		next[l] = c
	}
	for _, l := range e.Enters() {
		delete(next, l)
	}
	if e.Loop != nil {
		if next[e.Loop]++; next[e.Loop] > e.Loop.Max {
			return nil, false
		}
	}
	return next, true
}

func state(counts map[*ir.Loop]int) string {
	var list []string
	for l, c := range counts {
		if c > 0 {
			list = append(list, fmt.Sprint(l.Name, c))
		}
	}
	slices.Sort(list)
	return strings.Join(list, ",")
}

// drawGraph draws a workflow in which every cycle is counted: edges that go back
// in the order of nodes carry a loop.
func drawGraph(rt *rapid.T, fans bool) string {
	n := rapid.IntRange(2, 6).Draw(rt, "nodes")
	var lines []string
	for i := 1; i < n; i++ {
		lines = append(lines, fmt.Sprintf("n%d n%d", rapid.IntRange(0, i-1).Draw(rt, "from"), i))
	}
	for range rapid.IntRange(0, 4).Draw(rt, "more") {
		a, b := rapid.IntRange(0, n-1).Draw(rt, "a"), rapid.IntRange(0, n-1).Draw(rt, "b")
		line := fmt.Sprintf("n%d n%d", a, b)
		if b <= a || rapid.IntRange(0, 4).Draw(rt, "counted") == 0 {
			line += fmt.Sprintf(" l%d %d", rapid.IntRange(0, 2).Draw(rt, "loop"), rapid.IntRange(1, 2).Draw(rt, "max"))
		}
		lines = append(lines, line)
	}
	for i := range n {
		lines = append(lines, fmt.Sprintf("n%d Jend", i))
	}
	lines = append(lines, "Jend done")
	text := strings.Join(lines, "\n")
	if fans {
		for i := range n {
			if rapid.IntRange(0, 2).Draw(rt, "kind") == 0 {
				text = strings.ReplaceAll(text+"\n", fmt.Sprintf("n%d ", i), fmt.Sprintf("F%d ", i))
				text = strings.TrimSpace(strings.ReplaceAll(text, fmt.Sprintf("n%d\n", i), fmt.Sprintf("F%d\n", i)))
			}
		}
	}
	return text
}

// Nothing that a walk can do exceeds the worst case.
func TestVisitsAreNeverExceeded(t *testing.T) {
	t.Parallel()
	for _, fans := range []bool{false, true} {
		rapid.Check(t, func(rt *rapid.T) {
			text := drawGraph(rt, fans)
			w := build(text)
			for id, bound := range visits(w) {
				k := &walker{target: w.Node(id), memo: map[string]int64{}}
				if most := k.most(w.Entry, nil, map[*ir.Loop]int{}); k.steps < tooMany && most > bound {
					rt.Fatalf("%s can be visited %d times, the worst case is %d:\n%s", id, most, bound, text)
				}
			}
		})
	}
}

// A way exists when a search finds one; branches are those that a search with the
// meetings as ends comes by.
func TestWays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text := drawGraph(rt, true)
		w := build(text)
		f := flow.Of(w)
		for _, a := range w.Nodes {
			seen := map[*ir.Node]bool{}
			flood(a, nil, seen)
			for _, b := range w.Nodes {
				if f.Reachable(a) && f.Reachable(b) && f.Leads(a, b) != seen[b] {
					rt.Fatalf("a way from %s to %s: %t\n%s", a.ID, b.ID, !seen[b], text)
				}
			}
			if !f.Reachable(a) || a.Meets() == nil {
				continue
			}
			on := map[*ir.Node]bool{}
			flood(a, a.Meets(), on)
			delete(on, a.Meets())
			list := f.On(a)
			for _, b := range list {
				if !on[b] {
					rt.Fatalf("%s is on no branch of %s\n%s", b.ID, a.ID, text)
				}
			}
			if len(list) != len(on) {
				rt.Fatalf("%d nodes on branches of %s, want %d\n%s", len(list), a.ID, len(on), text)
			}
		}
	})
}

// flood collects what n leads to by at least one edge, not going on behind stop.
func flood(n, stop *ir.Node, seen map[*ir.Node]bool) {
	for _, e := range n.Edges {
		if !seen[e.To] {
			seen[e.To] = true
			if e.To != stop {
				flood(e.To, stop, seen)
			}
		}
	}
}

func TestWorstCase(t *testing.T) {
	t.Parallel()
	w := build("a b\nb a l 5\nb done")
	w.Node("a").Op.(*ir.Call).MaxTokens = 8000
	w.Node("b").Op.(*ir.Call).Model = ir.Literal("gpt-5-mini")
	worst := flow.Of(w).WorstCase(flow.CostOptions{Prices: budget.Prices()})
	if worst.Answers.Tokens != 6*8000+6*100 || worst.Total.Calls != 24 || worst.Total.Output != 12*8100 || worst.Open {
		t.Errorf("%+v", worst)
	}
	price, _ := budget.Prices().Lookup("gpt-5-mini")
	if b := worst.Nodes[1]; b.Cost != price.Worst(b.Input, 1200) || worst.Total.Cost != b.Cost || !slices.Equal(worst.Unpriced, []string{"m"}) {
		t.Errorf("b %+v, unpriced %v", b, worst.Unpriced)
	}
	w.Node("a").Op.(*ir.Call).Tools = []ir.ToolRef{{Name: "x"}}
	if worst := flow.Of(w).WorstCase(flow.CostOptions{}); !worst.Open || worst.Nodes[0].Calls != 18 {
		t.Errorf("with tools: %+v", worst)
	}
	w.Node("a").Op.(*ir.Call).MaxSteps = 10
	if worst := flow.Of(w).WorstCase(flow.CostOptions{}); worst.Open || worst.Nodes[0].Calls != 72 {
		t.Errorf("with ten turns: %+v", worst)
	}
}

// A hundred nested loops: the figure stops at the largest number.
func TestWorstCaseDoesNotWrap(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 100 {
		fmt.Fprintf(&text, "n%d n%d\n", i, i+1)
	}
	for i := range 100 {
		fmt.Fprintf(&text, "n100 n%d l%d 1000\n", i, i)
	}
	text.WriteString("n100 done\n")
	worst := flow.Of(build(text.String())).WorstCase(flow.CostOptions{Prices: budget.Prices()})
	if worst.Total.Calls != 1<<63-1 || worst.Total.Output != 1<<63-1 || worst.Answers.Tokens != 1<<63-1 {
		t.Errorf("%+v", worst.Total)
	}
}
