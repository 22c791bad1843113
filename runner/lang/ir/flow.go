package ir

import "slices"

// flow is the graph of the nodes that can be reached from one of them, in
// reverse postorder: what the analyses of loops and branches stand on. Every part
// of it costs time and memory in proportion to nodes and edges.
type flow struct {
	order []*Node     // entry first; without what goes back, sources before targets
	rank  []int       // by node index; -1 when unreachable
	preds arcs[*Edge] // by rank: the edges that lead there
	idom  []int       // by rank: the immediate dominator's rank; the entry's own is 0

	part []int // by rank: the strongly connected part, once components has run

	into, out []int // by rank: entering and leaving it in a walk of the dominator tree
}

// arcs are lists of things, one list for each number below some size.
type arcs[T any] struct {
	first []int
	items []T
}

func (a *arcs[T]) of(n int) []T { return a.items[a.first[n]:a.first[n+1]] }

// group collects things by number: each calls add for every one of them, and does
// so twice in the same way.
func group[T any](size int, each func(add func(by int, item T))) arcs[T] {
	a := arcs[T]{first: make([]int, size+1)}
	each(func(by int, _ T) { a.first[by+1]++ })
	for i := range size {
		a.first[i+1] += a.first[i]
	}
	a.items = make([]T, a.first[size])
	next := slices.Clone(a.first[:size])
	each(func(by int, item T) {
		a.items[next[by]] = item
		next[by]++
	})
	return a
}

func newFlow(w *Workflow) *flow {
	f := &flow{rank: make([]int, len(w.Nodes))}
	for i := range f.rank {
		f.rank[i] = -1
	}
	var pre, parent []int
	f.order, pre, parent = walk(w.Entry, len(w.Nodes))
	for i, n := range f.order {
		f.rank[n.Index] = i
	}
	f.preds = group(len(f.order), func(add func(by int, e *Edge)) {
		for _, n := range f.order {
			for _, e := range n.Edges {
				add(f.rank[e.To.Index], e)
			}
		}
	})
	f.dominate(pre, parent)
	f.number()
	return f
}

// source is the rank that e leads from.
func (f *flow) source(e *Edge) int { return f.rank[e.From.Index] }

// walk goes depth first from entry and returns the nodes in reverse postorder;
// pre lists node indexes in the order they were met, and parent, in the same
// order, from which of those. It does not recurse: a workflow may be ten
// thousand nodes deep.
func walk(entry *Node, size int) (order []*Node, pre, parent []int) {
	type frame struct {
		n        *Node
		next, at int
	}
	seen := make([]bool, size)
	seen[entry.Index] = true
	pre, parent = append(pre, entry.Index), append(parent, 0)
	stack := []frame{{n: entry}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.next == len(top.n.Edges) {
			order = append(order, top.n)
			stack = stack[:len(stack)-1]
			continue
		}
		to := top.n.Edges[top.next].To
		top.next++
		if !seen[to.Index] {
			seen[to.Index] = true
			pre, parent = append(pre, to.Index), append(parent, top.at)
			stack = append(stack, frame{n: to, at: len(pre) - 1})
		}
	}
	for i, j := 0, len(order)-1; i < j; i, j = i+1, j-1 {
		order[i], order[j] = order[j], order[i]
	}
	return order, pre, parent
}

// dominate computes immediate dominators by the method of Lengauer and Tarjan
// with path compression: a node that every other one leads to, as fail often is,
// costs no more than its edges.
func (f *flow) dominate(pre, parent []int) {
	met := make([]int, len(f.order)) // when a rank was met
	for i, index := range pre {
		met[f.rank[index]] = i
	}
	t := newLinks(len(pre))
	semi, idom, heads, nexts := t.semi, make([]int, len(pre)), filled(len(pre)), filled(len(pre))
	for v := len(pre) - 1; v > 0; v-- {
		for _, e := range f.preds.of(f.rank[pre[v]]) {
			semi[v] = min(semi[v], semi[t.best(met[f.source(e)])])
		}
		nexts[v], heads[semi[v]] = heads[semi[v]], v
		t.above[v] = parent[v]
		for u := heads[parent[v]]; u >= 0; u = nexts[u] {
			idom[u] = parent[v]
			if b := t.best(u); semi[b] < semi[u] {
				idom[u] = b
			}
		}
		heads[parent[v]] = -1
	}
	f.idom = make([]int, len(f.order))
	for v := 1; v < len(pre); v++ {
		if idom[v] != semi[v] {
			idom[v] = idom[idom[v]]
		}
		f.idom[f.rank[pre[v]]] = f.rank[pre[idom[v]]]
	}
}

func filled(size int) []int {
	out := make([]int, size)
	for i := range out {
		out[i] = -1
	}
	return out
}

// links is the forest that dominate grows, numbered in the order of the walk.
type links struct {
	semi, label, above []int
	path               []int // scratch
}

func newLinks(size int) *links {
	t := &links{semi: make([]int, size), label: make([]int, size), above: filled(size)}
	for i := range size {
		t.semi[i], t.label[i] = i, i
	}
	return t
}

// best is the node with the smallest semidominator between v and the root of its
// tree, the root left out. It shortens the way for the next question.
func (t *links) best(v int) int {
	if t.above[v] < 0 {
		return v
	}
	t.path = t.path[:0]
	for u := v; t.above[t.above[u]] >= 0; u = t.above[u] {
		t.path = append(t.path, u)
	}
	for i := len(t.path) - 1; i >= 0; i-- {
		u := t.path[i]
		if up := t.above[u]; t.semi[t.label[up]] < t.semi[t.label[u]] {
			t.label[u] = t.label[up]
		}
		t.above[u] = t.above[t.above[u]]
	}
	return t.label[v]
}

// number walks the dominator tree, so that dominates needs no walk of its own.
func (f *flow) number() {
	size := make([]int, len(f.order))
	for i := len(f.order) - 1; i >= 0; i-- {
		size[i]++
		if i > 0 {
			size[f.idom[i]] += size[i]
		}
	}
	f.into, f.out = make([]int, len(f.order)), make([]int, len(f.order))
	next := make([]int, len(f.order))
	for i := range f.order { // a dominator has a lower rank than what it dominates
		if i > 0 {
			f.into[i] = next[f.idom[i]]
			next[f.idom[i]] += size[i]
		}
		next[i], f.out[i] = f.into[i]+1, f.into[i]+size[i]
	}
}

// dominates reports whether every way from the entry to rank b passes rank a.
func (f *flow) dominates(a, b int) bool { return f.into[a] <= f.into[b] && f.into[b] < f.out[a] }
