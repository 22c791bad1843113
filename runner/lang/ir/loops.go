package ir

import (
	"cmp"
	"slices"
)

// A loop's counter starts anew when the loop is entered from outside its body.
// The body is the natural loop around the loop's edges: found by dominators, so
// that an inner loop's counter restarts with each turn of the outer one while
// two cycles through one header count together.
//
// Two natural loops are either apart or one lies in the other, so they are a
// forest. Nodes are placed in the order of a walk of that forest: a natural loop
// is then a range of places, and the body of a loop a few ranges.

// natural is one natural loop, or a part of the graph that holds cycles and has
// no single header (a cycle that can be entered at two nodes).
type natural struct {
	header *Node    // nil: there is no single one
	up     *natural // the smallest one around it
	size   int      // nodes in it, those of inner ones included
	places span
	loops  []*Loop // whose body it was put into as a whole
	next   int     // the next free place, while places are given
}

// span is a half-open range of places.
type span struct{ from, to int }

// findLoopBodies fills Loop.body, Node.inner and Node.place. A loop whose edges
// lie on no cycle keeps an empty body.
func (w *Workflow) findLoopBodies() {
	for _, l := range w.Loops {
		l.body = nil
	}
	for _, n := range w.Nodes {
		n.inner, n.place = nil, -1
	}
	if w.Entry == nil {
		return
	}
	f := newFlow(w)
	all := f.naturals()
	f.place(all)
	var counted []*Edge
	for _, n := range f.order {
		for _, e := range n.Edges {
			if e.Loop != nil {
				counted = append(counted, e)
				e.Loop.join(around(e))
			}
		}
	}
	if len(counted) > 0 {
		f.bound(all, counted)
	}
}

// naturals returns the natural loops, inner ones before those around them, and
// sets Node.inner.
func (f *flow) naturals() []*natural {
	var all []*natural
	top := make([]int, len(f.order)) // union-find: the header that stands for a rank
	for i := range top {
		top[i] = i
	}
	owner := make([]*natural, len(f.order)) // by rank, of headers
	for h := len(f.order) - 1; h >= 0; h-- {
		var work []int
		for _, e := range f.preds.of(h) {
			if p := f.source(e); p >= h && f.dominates(h, p) {
				work = append(work, p)
			}
		}
		if len(work) == 0 {
			continue
		}
		l := &natural{header: f.order[h]}
		f.gather(l, h, work, top, owner)
		owner[h] = l
		all = append(all, l)
	}
	return append(all, f.tangles(top, owner)...)
}

// gather puts into l everything that reaches the tails in work without passing
// rank h.
func (f *flow) gather(l *natural, h int, work, top []int, owner []*natural) {
	l.size, f.order[h].inner = 1, l
	for len(work) > 0 {
		r := find(top, work[len(work)-1])
		work = work[:len(work)-1]
		if r == h {
			continue
		}
		top[r] = h
		l.take(f.order[r], owner[r])
		for _, e := range f.preds.of(r) { // of an inner loop: what leads to its header
			work = append(work, f.source(e))
		}
	}
}

// find is the outermost header found so far around rank r.
func find(top []int, r int) int {
	for top[r] != r {
		top[r] = top[top[r]]
		r = top[r]
	}
	return r
}

// tangles finds the cycles that no natural loop is: they can be entered at
// several nodes. What hangs together in that way counts as one region.
func (f *flow) tangles(top []int, owner []*natural) []*natural {
	var all []*natural
	count := f.components()
	members := group(count, func(add func(by, r int)) {
		for r := range f.order {
			if find(top, r) == r {
				add(f.part[r], r)
			}
		}
	})
	for part := range count {
		if len(members.of(part)) < 2 {
			continue
		}
		l := &natural{}
		for _, r := range members.of(part) {
			l.take(f.order[r], owner[r])
		}
		all = append(all, l)
	}
	return all
}

// take makes a node, or the natural loop it is the header of, part of l.
func (l *natural) take(n *Node, inner *natural) {
	if inner == nil {
		n.inner = l
		l.size++
		return
	}
	inner.up = l
	l.size += inner.size
}

// components numbers the strongly connected parts, those that come first with
// lower numbers, and returns how many there are.
func (f *flow) components() int {
	f.part = filled(len(f.order))
	count := 0
	for root := range f.order {
		if f.part[root] >= 0 {
			continue
		}
		work := []int{root}
		for len(work) > 0 {
			r := work[len(work)-1]
			work = work[:len(work)-1]
			if f.part[r] < 0 {
				f.part[r] = count
				for _, e := range f.preds.of(r) {
					work = append(work, f.source(e))
				}
			}
		}
		count++
	}
	return count
}

// place numbers the nodes so that every region is a range, its header first.
func (f *flow) place(all []*natural) {
	end := 0
	for i := len(all) - 1; i >= 0; i-- { // from outside to inside
		l := all[i]
		if l.up == nil {
			l.places = span{end, end + l.size}
			end += l.size
		} else {
			l.places = span{l.up.next, l.up.next + l.size}
			l.up.next += l.size
		}
		l.next = l.places.from
	}
	for _, n := range f.order {
		l := n.inner
		if l == nil {
			n.place = end
			end++
			continue
		}
		n.place = l.next
		l.next++
	}
}

// around is the smallest region that holds both ends of e, or nil. An edge comes
// into at most one natural loop, by its header; so this takes no search.
func around(e *Edge) *natural {
	l := e.To.inner
	for l != nil && !l.holds(e.From) {
		l = l.up
	}
	return l
}

func (l *natural) holds(n *Node) bool { return l.places.holds(n.place) }

func (s span) holds(place int) bool { return s.from <= place && place < s.to }

// join adds a region to the loop's body.
func (l *Loop) join(region *natural) {
	if region == nil || l.covers(region) {
		return
	}
	region.loops = append(region.loops, l)
	at, _ := slices.BinarySearchFunc(l.body, region.places.from, func(s span, from int) int { return cmp.Compare(s.from, from) })
	end := at
	for end < len(l.body) && l.body[end].to <= region.places.to {
		end++
	}
	l.body = slices.Replace(l.body, at, end, region.places)
}

// covers reports whether the whole region is in the loop's body.
func (l *Loop) covers(region *natural) bool { return l.at(region.places.from) >= region.places.to }

// at is the end of the range of the body that holds the place, or -1.
func (l *Loop) at(place int) int {
	i, found := slices.BinarySearchFunc(l.body, place, func(s span, place int) int {
		if s.to <= place {
			return -1
		}
		return cmp.Compare(s.from, place+1) + 1
	})
	if !found || !l.body[i].holds(place) {
		return -1
	}
	return l.body[i].to
}

// bound makes sure that every region ends: when its cycles are held only by
// counters that restart on the way round, those counters count for the whole
// region instead.
func (f *flow) bound(all []*natural, counted []*Edge) {
	slices.SortStableFunc(counted, func(a, b *Edge) int { return cmp.Compare(a.From.place, b.From.place) })
	for _, l := range all {
		if !f.endless(l) {
			continue
		}
		at, _ := slices.BinarySearchFunc(counted, l.places.from, func(e *Edge, place int) int { return cmp.Compare(e.From.place, place) })
		for _, e := range counted[at:] {
			if !l.holds(e.From) {
				break
			}
			if l.holds(e.To) {
				e.Loop.join(l)
			}
		}
	}
}

// endless reports whether the header of l reaches itself inside l without an edge
// whose counter holds throughout l. Of a region without a single header that is
// taken for granted.
func (f *flow) endless(l *natural) bool {
	if l.header == nil {
		return true
	}
	seen := make(map[*Node]bool)
	work := []*Node{l.header}
	for len(work) > 0 {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		for _, e := range f.preds.of(f.rank[n.Index]) {
			if seen[e.From] || !l.holds(e.From) || e.Loop != nil && e.Loop.covers(l) {
				continue
			}
			if e.From == l.header {
				return true
			}
			seen[e.From] = true
			work = append(work, e.From)
		}
	}
	return false
}

// findEntries fills Edge.enters and Node.looped.
func (w *Workflow) findEntries() {
	for _, n := range w.Nodes {
		n.looped = false
		for l := n.inner; l != nil && !n.looped; l = l.up {
			n.looped = len(l.loops) > 0
		}
		for _, e := range n.Edges {
			e.enters = nil
			for l := e.To.inner; l != nil && !l.holds(n); l = l.up {
				e.enter(l.loops)
			}
		}
	}
}

// enter notes the loops whose counters start anew when e is taken.
func (e *Edge) enter(loops []*Loop) {
	for _, l := range loops {
		if !l.Contains(e.From) && !slices.Contains(e.enters, l) {
			e.enters = append(e.enters, l)
		}
	}
}

// Contains reports whether n is on a cycle that the loop bounds.
func (l *Loop) Contains(n *Node) bool { return n.place >= 0 && l.at(n.place) >= 0 }

// Enters lists the loops that taking the edge comes into from outside: their
// counters start anew.
func (e *Edge) Enters() []*Loop { return e.enters }

// InLoop reports whether the node lies on a cycle that a loop bounds.
func (w *Workflow) InLoop(n *Node) bool { return n.looped }
