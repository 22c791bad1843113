package flow

import (
	"slices"

	"github.com/pawl-ci/pawl/runner/lang/graph"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// Flow answers how nodes lie to each other: what comes before what, on which
// branches, and how often at most. It is made from a sealed workflow that has an
// entry, and holds for as long as that does not change.
type Flow struct {
	w        *ir.Workflow
	g        *graph.Graph
	into     [][]*ir.Edge // by node index, from reachable nodes
	fans     []*ir.Node   // by branch: the fan-out; nil for branch 0, the run's own token
	edges    []*ir.Edge   // by branch: its first edge
	base     []int        // by node index: the number of a fan-out's first branch
	branches [][]int      // by node index: the branches that tokens may come from, sorted
	steps    int          // what searches may still cost
}

// Of makes the flow of a sealed workflow that has an entry. It costs time in
// proportion to nodes and edges.
func Of(w *ir.Workflow) *Flow {
	f := &Flow{w: w, g: w.Graph(), fans: []*ir.Node{nil}, edges: []*ir.Edge{nil}, base: make([]int, len(w.Nodes)), steps: maxSteps}
	for _, n := range w.Nodes {
		if r, ok := n.Op.(*ir.Route); ok && r.FansOut() {
			f.base[n.Index] = len(f.fans)
			for _, e := range n.Edges {
				f.fans, f.edges = append(f.fans, n), append(f.edges, e)
			}
		}
	}
	f.into = make([][]*ir.Edge, len(w.Nodes))
	for _, n := range w.Nodes {
		if f.Reachable(n) {
			for _, e := range n.Edges {
				f.into[e.To.Index] = append(f.into[e.To.Index], e)
			}
		}
	}
	f.branches = make([][]int, len(w.Nodes))
	for sweep := 0; f.sweep() && sweep < maxSweeps; sweep++ {
	}
	return f
}

// maxSweeps bounds how often branches are computed anew. One time is enough where
// every cycle has one entrance.
const maxSweeps = 20

// sweep computes Flow.branches in the order of the graph and reports whether that
// has to be done again: something new came into a cycle from behind.
func (f *Flow) sweep() bool {
	again := false
	f.branches[f.w.Entry.Index] = []int{0}
	for _, i := range f.g.Order()[1:] {
		f.branches[i] = f.arriving(f.w.Nodes[i])
	}
	for _, r := range f.g.Regions() {
		again = again || r.Header < 0
	}
	return again
}

// maxSteps is what all searches together may cost: half a second of looking for
// ways in a graph that was made to have none.
const maxSteps = 20_000_000

// Graph is the workflow's graph, nodes by their Index.
func (f *Flow) Graph() *graph.Graph { return f.g }

// Into lists the edges to n that the entry leads to, in file order. The caller
// must not change it.
func (f *Flow) Into(n *ir.Node) []*ir.Edge { return f.into[n.Index] }

// back reports whether e is part of a cycle that leads back to its target.
func (f *Flow) back(e *ir.Edge) bool { return f.g.Rank(e.From.Index) >= f.g.Rank(e.To.Index) }

// arriving are the branches at n: those at what leads there, but of a fan-out that
// meets here, the ones it is on itself. What goes back to the header of a loop brings
// nothing new.
func (f *Flow) arriving(n *ir.Node) []int {
	var all, last []int
	for _, e := range f.into[n.Index] {
		if r := f.around(e); f.back(e) && (r == nil || r.Header >= 0) {
			continue
		}
		if b := f.base[e.From.Index]; b > 0 {
			all = append(all, b+e.Index)
		} else if list := f.branches[e.From.Index]; last == nil || !same(last, list) {
			last = list
			all = append(all, list...)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if _, join := n.Op.(*ir.Join); join {
		all = f.met(n, all)
	}
	if slices.Equal(all, last) {
		return last // one list for a whole chain
	}
	return all
}

func same(a, b []int) bool { return len(a) == len(b) && len(a) > 0 && &a[0] == &b[0] }

// met replaces the branches that end at join.
func (f *Flow) met(join *ir.Node, all []int) []int {
	out := make(map[int]bool, len(all))
	done := make(map[*ir.Node]bool)
	for i := 0; i < len(all); i++ {
		fan := f.fans[all[i]]
		switch {
		case fan == nil || fan.Meets() != join:
			out[all[i]] = true
		case !done[fan]:
			done[fan] = true
			all = append(all, f.branches[fan.Index]...)
		}
	}
	list := make([]int, 0, len(out))
	for b := range out {
		list = append(list, b)
	}
	slices.Sort(list)
	return list
}

// Reachable reports whether a way of edges leads from the entry to n.
func (f *Flow) Reachable(n *ir.Node) bool { return f.g.Rank(n.Index) >= 0 }

// Dominates reports whether every way from the entry to b passes a; every node
// dominates itself. Both must be reachable.
func (f *Flow) Dominates(a, b *ir.Node) bool {
	return f.g.Dominates(a.Index, b.Index)
}

// Leads reports whether a way of at least one edge leads from a to b. Both must be
// reachable. In a graph that is made to be hard a few answers may be true without
// being so: the search has an end.
func (f *Flow) Leads(a, b *ir.Node) bool {
	first, last := f.g.Part(a.Index), f.g.Part(b.Index)
	switch {
	case a == b:
		return f.comesBack(a)
	case first == last || f.g.Dominates(a.Index, b.Index):
		return true
	case first > last:
		return false
	}
	seen := map[*ir.Node]bool{a: true}
	work := []*ir.Node{a}
	for len(work) > 0 {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		for _, e := range n.Edges {
			if f.steps--; e.To == b || f.steps < 0 {
				return true
			}
			if !seen[e.To] && f.g.Part(e.To.Index) <= last {
				seen[e.To] = true
				work = append(work, e.To)
			}
		}
	}
	return false
}

// comesBack reports whether n lies on a cycle.
func (f *Flow) comesBack(n *ir.Node) bool {
	part := f.g.Part(n.Index)
	return slices.ContainsFunc(n.Edges, func(e *ir.Edge) bool { return e.To == n || f.g.Part(e.To.Index) == part })
}

// Branch is one way out of a fan-out.
type Branch struct {
	Fan  *ir.Node
	Edge *ir.Edge
}

// Branches lists the branches on which a token may come to n, innermost fan-out
// only; none when only the run's own token does.
func (f *Flow) Branches(n *ir.Node) []Branch {
	var out []Branch
	for _, b := range f.branches[n.Index] {
		if b > 0 {
			out = append(out, Branch{f.fans[b], f.edges[b]})
		}
	}
	return out
}

// On lists the nodes that tokens of the fan-out can come to before they meet, each
// once, nearer ones first; the fan-out itself only when a branch leads back to it.
func (f *Flow) On(fan *ir.Node) []*ir.Node {
	var list []*ir.Node
	seen := make(map[*ir.Node]bool)
	for at := -1; at < len(list); at++ {
		from := fan
		if at >= 0 {
			from = list[at]
		}
		for _, e := range from.Edges {
			if !seen[e.To] && e.To != fan.Meets() {
				seen[e.To] = true
				list = append(list, e.To)
			}
		}
	}
	return list
}

// Along lists the branches on which a token may take e.
func (f *Flow) Along(e *ir.Edge) []Branch {
	if f.base[e.From.Index] > 0 {
		return []Branch{{e.From, e}}
	}
	return f.Branches(e.From)
}
