package graph

// dominate computes immediate dominators by the method of Lengauer and Tarjan
// with path compression: a node that every other one leads to, as an end often is,
// costs no more than its edges.
func (g *Graph) dominate(pre, parent []int) {
	met := make([]int, len(g.order)) // when a rank was met
	for i, n := range pre {
		met[g.rank[n]] = i
	}
	t := newLinks(len(pre))
	semi, idom, heads, nexts := t.semi, make([]int, len(pre)), filled(len(pre)), filled(len(pre))
	for v := len(pre) - 1; v > 0; v-- {
		for _, p := range g.preds.of(g.rank[pre[v]]) {
			semi[v] = min(semi[v], semi[t.best(met[p])])
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
	g.idom = make([]int, len(g.order))
	for v := 1; v < len(pre); v++ {
		if idom[v] != semi[v] {
			idom[v] = idom[idom[v]]
		}
		g.idom[g.rank[pre[v]]] = g.rank[pre[idom[v]]]
	}
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
func (g *Graph) number() {
	size := make([]int, len(g.order))
	for i := len(g.order) - 1; i >= 0; i-- {
		size[i]++
		if i > 0 {
			size[g.idom[i]] += size[i]
		}
	}
	g.into, g.out = make([]int, len(g.order)), make([]int, len(g.order))
	next := make([]int, len(g.order))
	for i := range g.order { // a dominator has a lower rank than what it dominates
		if i > 0 {
			g.into[i] = next[g.idom[i]]
			next[g.idom[i]] += size[i]
		}
		next[i], g.out[i] = g.into[i]+1, g.into[i]+size[i]
	}
}

// dominates reports whether every way from the entry to rank b passes rank a.
func (g *Graph) dominates(a, b int) bool { return g.into[a] <= g.into[b] && g.into[b] < g.out[a] }
