package graph

// Region is a natural loop: a header that dominates the sources of some edges back
// to it, and everything that reaches those without passing the header. Or it is a
// part of the graph whose cycles can be entered at several nodes; that one has no
// header, and what lies inside of it is not taken apart further.
//
// Two regions are either apart or one lies in the other, so they are a forest.
// Nodes are placed in the order of a walk of that forest: a region is a range of
// places.
type Region struct {
	Header   int     // -1: there is no single one
	Up       *Region // the smallest one around it, or nil
	From, To int     // the range of places: From <= place < To

	size int // nodes in it, those of inner ones included
	next int // the next free place, while places are given
}

// Regions lists all regions, inner ones before those around them. The caller must
// not change it.
func (g *Graph) Regions() []*Region { return g.regions }

// Inner is the smallest region that n lies in, or nil.
func (g *Graph) Inner(n int) *Region {
	if g.rank[n] < 0 {
		return nil
	}
	return g.inner[g.rank[n]]
}

// Place is the node's place in the order of regions, or -1 when it is not reached.
func (g *Graph) Place(n int) int {
	if g.rank[n] < 0 {
		return -1
	}
	return g.place[g.rank[n]]
}

// Holds reports whether n lies in r.
func (g *Graph) Holds(r *Region, n int) bool {
	place := g.Place(n)
	return r.From <= place && place < r.To
}

// Around is the smallest region that holds both ends of an edge, or nil. An edge
// comes into at most one natural loop, by its header; so this takes no search.
func (g *Graph) Around(from, to int) *Region {
	r := g.Inner(to)
	for r != nil && !g.Holds(r, from) {
		r = r.Up
	}
	return r
}

// nest finds the regions; parts is the number of strongly connected parts.
func (g *Graph) nest(parts int) {
	g.inner = make([]*Region, len(g.order))
	top := make([]int, len(g.order)) // union-find: the header that stands for a rank
	for r := range top {
		top[r] = r
	}
	owner := make([]*Region, len(g.order)) // by rank, of headers
	for h := len(g.order) - 1; h >= 0; h-- {
		var work []int
		for _, p := range g.preds.of(h) {
			if p >= h && g.dominates(h, p) {
				work = append(work, p)
			}
		}
		if len(work) == 0 {
			continue
		}
		l := &Region{Header: g.order[h], size: 1}
		g.gather(l, h, work, top, owner)
		owner[h], g.inner[h] = l, l
		g.regions = append(g.regions, l)
	}
	g.tangles(parts, top, owner)
	g.settle()
}

// gather puts into l everything that reaches the tails in work without passing
// rank h.
func (g *Graph) gather(l *Region, h int, work, top []int, owner []*Region) {
	for len(work) > 0 {
		r := find(top, work[len(work)-1])
		work = work[:len(work)-1]
		if r == h {
			continue
		}
		top[r] = h
		g.take(l, r, owner[r])
		work = append(work, g.preds.of(r)...) // of an inner loop: what leads to its header
	}
}

// take makes a rank, or the natural loop it is the header of, part of l.
func (g *Graph) take(l *Region, r int, inner *Region) {
	if inner == nil {
		g.inner[r] = l
		l.size++
		return
	}
	inner.Up = l
	l.size += inner.size
}

// find is the outermost header found so far around rank r.
func find(top []int, r int) int {
	for top[r] != r {
		top[r] = top[top[r]]
		r = top[r]
	}
	return r
}

// tangles finds the cycles that no natural loop is. What hangs together in that
// way counts as one region.
func (g *Graph) tangles(parts int, top []int, owner []*Region) {
	members := group(parts, func(add func(by, item int)) {
		for r := range g.order {
			if find(top, r) == r {
				add(g.part[r], r)
			}
		}
	})
	for part := range parts {
		if len(members.of(part)) < 2 {
			continue
		}
		l := &Region{Header: -1}
		for _, r := range members.of(part) {
			g.take(l, r, owner[r])
		}
		g.regions = append(g.regions, l)
	}
}

// settle gives every node its place.
func (g *Graph) settle() {
	g.place = make([]int, len(g.order))
	end := 0
	for i := len(g.regions) - 1; i >= 0; i-- { // from outside to inside
		l := g.regions[i]
		from := &end
		if l.Up != nil {
			from = &l.Up.next
		}
		l.From, l.To, l.next = *from, *from+l.size, *from
		*from = l.To
	}
	for r := range g.order {
		next := &end
		if l := g.inner[r]; l != nil {
			next = &l.next
		}
		g.place[r] = *next
		*next++
	}
}
