package ir

import (
	"cmp"
	"slices"

	"github.com/pawl-ci/pawl/runner/lang/graph"
)

// A loop's counter starts anew when the loop is entered from outside its body.
// The body is the natural loop around the loop's edges: found by dominators, so
// that an inner loop's counter restarts with each turn of the outer one while
// two cycles through one header count together.
//
// A natural loop is a range of places, and the body of a loop a few ranges.

// span is a half-open range of places.
type span struct{ from, to int }

// Graph analyses the edges that can be walked from the entry, nodes by their
// Index. The workflow must be sealed and have an entry.
func (w *Workflow) Graph() *graph.Graph { return graph.New(w.Entry.Index, w.targets()) }

// targets are the ends of each node's edges.
func (w *Workflow) targets() [][]int {
	out := make([][]int, len(w.Nodes))
	for i, n := range w.Nodes {
		out[i] = make([]int, len(n.Edges))
		for j, e := range n.Edges {
			out[i][j] = e.To.Index
		}
	}
	return out
}

// bodies is one computation of loop bodies.
type bodies struct {
	w     *Workflow
	g     *graph.Graph
	whole map[*graph.Region][]*Loop // loops into whose body a region was put
}

// findLoopBodies fills Loop.body, Node.place, Node.looped and Edge.enters. A loop
// whose edges lie on no cycle keeps an empty body.
func (w *Workflow) findLoopBodies() {
	for _, l := range w.Loops {
		l.body = nil
	}
	for _, n := range w.Nodes {
		n.place, n.looped = -1, false
		for _, e := range n.Edges {
			e.enters = nil
		}
	}
	if w.Entry == nil || len(w.Loops) == 0 {
		return
	}
	b := &bodies{w: w, g: w.Graph(), whole: make(map[*graph.Region][]*Loop)}
	var counted []*Edge
	for _, i := range b.g.Order() {
		n := w.Nodes[i]
		n.place = b.g.Place(i)
		for _, e := range n.Edges {
			if e.Loop != nil {
				counted = append(counted, e)
				b.join(e.Loop, b.g.Around(i, e.To.Index))
			}
		}
	}
	b.bound(counted)
	b.entries()
}

// join adds a region to a loop's body.
func (b *bodies) join(l *Loop, region *graph.Region) {
	if region == nil || l.covers(region) {
		return
	}
	b.whole[region] = append(b.whole[region], l)
	at, _ := slices.BinarySearchFunc(l.body, region.From, func(s span, from int) int { return cmp.Compare(s.from, from) })
	end := at
	for end < len(l.body) && l.body[end].to <= region.To {
		end++
	}
	l.body = slices.Replace(l.body, at, end, span{region.From, region.To})
}

// covers reports whether the whole region is in the loop's body.
func (l *Loop) covers(region *graph.Region) bool { return l.until(region.From) >= region.To }

// until is the end of the range of the body that holds the place, or -1.
func (l *Loop) until(place int) int {
	after, _ := slices.BinarySearchFunc(l.body, place, func(s span, place int) int { return cmp.Compare(s.from, place+1) })
	if after == 0 || l.body[after-1].to <= place {
		return -1
	}
	return l.body[after-1].to
}

// bound makes sure that every region ends: when its cycles are held only by
// counters that restart on the way round, those counters count for the whole
// region instead.
func (b *bodies) bound(counted []*Edge) {
	slices.SortStableFunc(counted, func(x, y *Edge) int { return cmp.Compare(x.From.place, y.From.place) })
	for _, r := range b.g.Regions() {
		if !b.endless(r) {
			continue
		}
		at, _ := slices.BinarySearchFunc(counted, r.From, func(e *Edge, place int) int { return cmp.Compare(e.From.place, place) })
		for _, e := range counted[at:] {
			if e.From.place >= r.To {
				break
			}
			if b.g.Holds(r, e.To.Index) {
				b.join(e.Loop, r)
			}
		}
	}
}

// endless reports whether the header of r reaches itself inside r without an edge
// whose counter holds throughout r. Of a region without a single header that is
// taken for granted.
func (b *bodies) endless(r *graph.Region) bool {
	return r.Header < 0 || b.opens(r) && b.returns(r)
}

// free reports whether e stays in r and is not counted throughout it.
func (b *bodies) free(e *Edge, r *graph.Region) bool {
	return b.g.Holds(r, e.To.Index) && (e.Loop == nil || !e.Loop.covers(r))
}

// opens reports whether an edge of r leads to its header freely: most often all of
// them are counted, and no search is needed.
func (b *bodies) opens(r *graph.Region) bool {
	last := -1
	for _, i := range b.g.Into(r.Header) {
		if i == last || !b.g.Holds(r, i) {
			continue
		}
		last = i
		if slices.ContainsFunc(b.w.Nodes[i].Edges, func(e *Edge) bool { return e.To.Index == r.Header && b.free(e, r) }) {
			return true
		}
	}
	return false
}

// returns searches a way of free edges from the header of r to itself.
func (b *bodies) returns(r *graph.Region) bool {
	seen := make(map[int]bool)
	for work := []int{r.Header}; len(work) > 0; {
		n := b.w.Nodes[work[len(work)-1]]
		work = work[:len(work)-1]
		for _, e := range n.Edges {
			if seen[e.To.Index] || !b.free(e, r) {
				continue
			}
			if e.To.Index == r.Header {
				return true
			}
			seen[e.To.Index] = true
			work = append(work, e.To.Index)
		}
	}
	return false
}

// entries fills Edge.enters and Node.looped.
func (b *bodies) entries() {
	for _, i := range b.g.Order() {
		n := b.w.Nodes[i]
		for r := b.g.Inner(i); r != nil && !n.looped; r = r.Up {
			n.looped = len(b.whole[r]) > 0
		}
		for _, e := range n.Edges {
			for r := b.g.Inner(e.To.Index); r != nil && !b.g.Holds(r, i); r = r.Up {
				e.enter(b.whole[r])
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
func (l *Loop) Contains(n *Node) bool { return n.place >= 0 && l.until(n.place) >= 0 }

// Enters lists the loops that taking the edge comes into from outside: their
// counters start anew.
func (e *Edge) Enters() []*Loop { return e.enters }

// InLoop reports whether the node lies on a cycle that a loop bounds.
func (w *Workflow) InLoop(n *Node) bool { return n.looped }
