package ir

import "slices"

// A loop's counter starts anew when the loop is entered from outside its body.
// The body is the natural loop around the loop's edges: found by dominators, so
// that an inner loop's counter restarts with each turn of the outer one while
// two cycles through one header count together.

// flow is the graph of reachable nodes in reverse postorder.
type flow struct {
	order []*Node // reachable nodes, entry first
	rank  []int   // by node index; -1 when unreachable
	preds [][]*Node
	idom  []int // by rank
}

// findLoopBodies fills Loop.body. A loop whose edges lie on no natural loop
// (unreachable, or no cycle at all) keeps an empty body.
func (w *Workflow) findLoopBodies() {
	for _, l := range w.Loops {
		l.body = make([]bool, len(w.Nodes))
	}
	if w.Entry == nil || len(w.Loops) == 0 {
		return
	}
	f := newFlow(w)
	naturals := f.naturalLoops()
	f.eachLoopEdge(func(e *Edge) { e.Loop.join(smallest(naturals, e)) })
	slices.SortStableFunc(naturals, func(a, b []bool) int { return count(a) - count(b) })
	for _, body := range naturals {
		f.bound(body)
	}
}

func (f *flow) eachLoopEdge(visit func(*Edge)) {
	for _, n := range f.order {
		for _, e := range n.Edges {
			if e.Loop != nil {
				visit(e)
			}
		}
	}
}

// bound makes sure that the natural loop body ends: when its cycles are held
// only by counters that restart on the way round, those counters count for the
// whole body instead.
func (f *flow) bound(body []bool) {
	if !f.endless(body) {
		return
	}
	f.eachLoopEdge(func(e *Edge) {
		if body[e.From.Index] && body[e.To.Index] {
			e.Loop.join(body)
		}
	})
}

// endless reports whether the header of body reaches itself inside body without
// an edge whose counter holds throughout the body.
func (f *flow) endless(body []bool) bool {
	header := f.header(body)
	seen := make([]bool, len(body))
	work := []*Node{header}
	for len(work) > 0 {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		for _, e := range n.Edges {
			if !body[e.To.Index] || e.Loop != nil && covers(e.Loop.body, body) {
				continue
			}
			if e.To == header {
				return true
			}
			if !seen[e.To.Index] {
				seen[e.To.Index] = true
				work = append(work, e.To)
			}
		}
	}
	return false
}

// header is the first node of body in reverse postorder.
func (f *flow) header(body []bool) *Node {
	for _, n := range f.order {
		if body[n.Index] {
			return n
		}
	}
	return nil
}

func covers(a, b []bool) bool {
	for i, in := range b {
		if in && !a[i] {
			return false
		}
	}
	return true
}

func (l *Loop) join(body []bool) {
	for i, in := range body {
		l.body[i] = l.body[i] || in
	}
}

// smallest is the smallest natural loop that holds both ends of e, or nil.
func smallest(naturals [][]bool, e *Edge) []bool {
	var best []bool
	bestSize := 0
	for _, body := range naturals {
		if !body[e.From.Index] || !body[e.To.Index] {
			continue
		}
		if size := count(body); best == nil || size < bestSize {
			best, bestSize = body, size
		}
	}
	return best
}

func count(body []bool) int {
	n := 0
	for _, in := range body {
		if in {
			n++
		}
	}
	return n
}

func newFlow(w *Workflow) *flow {
	f := &flow{rank: make([]int, len(w.Nodes)), preds: make([][]*Node, len(w.Nodes))}
	for i := range f.rank {
		f.rank[i] = -1
	}
	f.order = postorder(w.Entry, len(w.Nodes))
	for i, j := 0, len(f.order)-1; i < j; i, j = i+1, j-1 {
		f.order[i], f.order[j] = f.order[j], f.order[i]
	}
	for i, n := range f.order {
		f.rank[n.Index] = i
		for _, e := range n.Edges {
			f.preds[e.To.Index] = append(f.preds[e.To.Index], n)
		}
	}
	f.dominate()
	return f
}

// postorder walks without recursion: a workflow may be ten thousand nodes deep.
func postorder(entry *Node, size int) []*Node {
	type frame struct {
		n    *Node
		next int
	}
	seen := make([]bool, size)
	seen[entry.Index] = true
	var out []*Node
	stack := []frame{{n: entry}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.next == len(top.n.Edges) {
			out = append(out, top.n)
			stack = stack[:len(stack)-1]
			continue
		}
		to := top.n.Edges[top.next].To
		top.next++
		if !seen[to.Index] {
			seen[to.Index] = true
			stack = append(stack, frame{n: to})
		}
	}
	return out
}

// dominate computes immediate dominators by the iterative method of Cooper,
// Harvey and Kennedy; two or three passes suffice for reducible graphs.
func (f *flow) dominate() {
	f.idom = make([]int, len(f.order))
	for i := range f.idom {
		f.idom[i] = -1
	}
	f.idom[0] = 0
	for changed := true; changed; {
		changed = false
		for i := 1; i < len(f.order); i++ {
			if d := f.meet(i); d != f.idom[i] {
				f.idom[i] = d
				changed = true
			}
		}
	}
}

// meet is the nearest common dominator of the predecessors of rank i.
func (f *flow) meet(i int) int {
	d := -1
	for _, p := range f.preds[f.order[i].Index] {
		r := f.rank[p.Index]
		switch {
		case f.idom[r] < 0:
		case d < 0:
			d = r
		default:
			d = f.intersect(d, r)
		}
	}
	return d
}

func (f *flow) intersect(a, b int) int {
	for a != b {
		for a > b {
			a = f.idom[a]
		}
		for b > a {
			b = f.idom[b]
		}
	}
	return a
}

func (f *flow) dominates(a, b int) bool {
	for b > a {
		b = f.idom[b]
	}
	return a == b
}

// naturalLoops returns one body (by node index) per loop header, in order of
// headers; cycles that share a header are one loop.
func (f *flow) naturalLoops() [][]bool {
	byHeader := make(map[int][]bool)
	var headers []int
	for r, n := range f.order {
		for _, e := range n.Edges {
			h := f.rank[e.To.Index]
			if h > r || !f.dominates(h, r) {
				continue
			}
			if byHeader[h] == nil {
				byHeader[h] = make([]bool, len(f.rank))
				headers = append(headers, h)
			}
			f.grow(byHeader[h], e.To, n)
		}
	}
	bodies := make([][]bool, len(headers))
	for i, h := range headers {
		bodies[i] = byHeader[h]
	}
	return bodies
}

// grow adds to body everything that reaches tail without passing header.
func (f *flow) grow(body []bool, header, tail *Node) {
	body[header.Index] = true
	work := []*Node{tail}
	for len(work) > 0 {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		if body[n.Index] {
			continue
		}
		body[n.Index] = true
		work = append(work, f.preds[n.Index]...)
	}
}
