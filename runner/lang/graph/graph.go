package graph

import "slices"

// Graph is what can be reached from one node of a directed graph. It does not
// change once it is made.
type Graph struct {
	order []int // in reverse postorder, the root first
	rank  []int // by node: its place in order; -1 when it is not reached
	preds lists // by rank: ranks that edges lead from
	idom  []int // by rank: the immediate dominator's rank; the root's own is 0
	part  []int // by rank: its strongly connected part

	into, out []int // by rank: entering and leaving it in a walk of the dominator tree

	regions []*Region
	inner   []*Region // by rank
	place   []int     // by rank
}

// New analyses what root leads to. out lists the targets of each node's edges; it
// is not kept.
func New(root int, out [][]int) *Graph {
	g := &Graph{rank: filled(len(out))}
	pre, parent := g.walk(root, out)
	g.preds = g.backward(out)
	g.dominate(pre, parent)
	g.number()
	count := g.components()
	g.nest(count)
	return g
}

// Order lists the nodes that are reached in reverse postorder: the root first,
// and every edge that is no part of a cycle leads forward. The caller must not
// change it.
func (g *Graph) Order() []int { return g.order }

// Rank is the node's place in the order, or -1 when it is not reached.
func (g *Graph) Rank(n int) int { return g.rank[n] }

// Into lists where edges to n come from, one entry for each edge; n must be
// reached.
func (g *Graph) Into(n int) []int {
	list := slices.Clone(g.preds.of(g.rank[n]))
	for i, r := range list {
		list[i] = g.order[r]
	}
	return list
}

// Idom is the immediate dominator of n, the nearest other node that every way
// from the root passes; -1 for the root and for what is not reached.
func (g *Graph) Idom(n int) int {
	if g.rank[n] <= 0 {
		return -1
	}
	return g.order[g.idom[g.rank[n]]]
}

// Dominates reports whether every way from the root to b passes a; every node
// dominates itself. Both must be reached.
func (g *Graph) Dominates(a, b int) bool { return g.dominates(g.rank[a], g.rank[b]) }

// Part is the number of the strongly connected part that n lies in: parts have
// higher numbers than those that lead to them. n must be reached.
func (g *Graph) Part(n int) int { return g.part[g.rank[n]] }

// lists are lists of numbers, one for each number below some size.
type lists struct{ first, items []int }

func (l *lists) of(n int) []int { return l.items[l.first[n]:l.first[n+1]] }

// group collects numbers: each calls add for every one of them, and does so twice
// in the same way.
func group(size int, each func(add func(by, item int))) lists {
	l := lists{first: make([]int, size+1)}
	each(func(by, _ int) { l.first[by+1]++ })
	for i := range size {
		l.first[i+1] += l.first[i]
	}
	l.items = make([]int, l.first[size])
	next := slices.Clone(l.first[:size])
	each(func(by, item int) {
		l.items[next[by]] = item
		next[by]++
	})
	return l
}

func filled(size int) []int {
	out := make([]int, size)
	for i := range out {
		out[i] = -1
	}
	return out
}

func (g *Graph) backward(out [][]int) lists {
	return group(len(g.order), func(add func(by, item int)) {
		for r, n := range g.order {
			for _, to := range out[n] {
				add(g.rank[to], r)
			}
		}
	})
}

// walk goes depth first from root and fills order and rank. pre lists the nodes in
// the order they were met, and parent, in the same order, from which of those. It
// does not recurse: a graph may be ten thousand nodes deep.
func (g *Graph) walk(root int, out [][]int) (pre, parent []int) {
	type frame struct{ n, next, at int }
	met := make([]bool, len(out))
	met[root] = true
	pre, parent = append(pre, root), append(parent, 0)
	stack := []frame{{n: root}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.next == len(out[top.n]) {
			g.order = append(g.order, top.n)
			stack = stack[:len(stack)-1]
			continue
		}
		to := out[top.n][top.next]
		top.next++
		if !met[to] {
			met[to] = true
			pre, parent = append(pre, to), append(parent, top.at)
			stack = append(stack, frame{n: to, at: len(pre) - 1})
		}
	}
	slices.Reverse(g.order)
	for r, n := range g.order {
		g.rank[n] = r
	}
	return pre, parent
}

// components numbers the strongly connected parts and returns how many there are.
func (g *Graph) components() int {
	g.part = filled(len(g.order))
	count := 0
	for root := range g.order {
		if g.part[root] >= 0 {
			continue
		}
		for work := []int{root}; len(work) > 0; {
			r := work[len(work)-1]
			work = work[:len(work)-1]
			if g.part[r] < 0 {
				g.part[r] = count
				work = append(work, g.preds.of(r)...)
			}
		}
		count++
	}
	return count
}
