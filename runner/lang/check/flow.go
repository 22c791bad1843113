package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/graph"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// unreachable finds what the entry does not lead to: it is dead.
func (c *checker) unreachable() {
	for _, n := range c.w.Nodes {
		if _, end := n.Op.(*ir.End); !c.alive(n) && !end && !ir.Awaited(n) {
			c.list.Errorf("C016", n.Span, "add an edge that leads to it from "+name(c.w.Entry)+", or delete it",
				"no path leads from entry %s to %s", name(c.w.Entry), n.ID)
		}
	}
}

// cycles reports every cycle that no loop bounds: the walk could go round for
// ever.
func (c *checker) cycles() {
	const fresh, finished = -1, -2
	state := make([]int, len(c.w.Nodes)) // or the place on the path
	for i := range state {
		state[i] = fresh
	}
	type frame struct {
		n    *ir.Node
		next int
	}
	for _, root := range c.w.Nodes {
		if state[root.Index] != fresh {
			continue
		}
		state[root.Index] = 0
		path := []frame{{n: root}}
		for len(path) > 0 {
			top := &path[len(path)-1]
			if top.next == len(top.n.Edges) {
				state[top.n.Index] = finished
				path = path[:len(path)-1]
				continue
			}
			e := top.n.Edges[top.next]
			top.next++
			switch at := state[e.To.Index]; {
			case e.Loop != nil:
			case at >= 0:
				var way []*ir.Edge
				for _, f := range path[at:] {
					way = append(way, f.n.Edges[f.next-1])
				}
				c.unbounded(e, way)
			case at == fresh:
				state[e.To.Index] = len(path)
				path = append(path, frame{n: e.To})
			}
		}
	}
}

// longestCycle is how many nodes of a cycle are named.
const longestCycle = 12

// unbounded reports a cycle; e is the edge that closes it, and way its edges.
func (c *checker) unbounded(e *ir.Edge, way []*ir.Edge) {
	d := diag.Diagnostic{
		Code: "C019", Severity: diag.Error, Span: e.Span,
		Hint: "bound it: " + name(e.From) + " -> " + name(e.To) + " as NAME(3)",
	}
	var names []string
	for i, edge := range way {
		if i == longestCycle {
			names = append(names, fmt.Sprintf("… (%d more)", len(way)-i))
			break
		}
		if !ir.Awaited(edge.From) {
			names = append(names, name(edge.From))
		}
		if edge != e && !ir.Awaited(edge.From) && len(d.Related) < 4 {
			d.Related = append(d.Related, diag.Related{Span: edge.Span, Message: "the cycle goes on here"})
		}
	}
	d.Message = "the cycle " + strings.Join(append(names, name(e.To)), " -> ") + " has no bound: it could go round for ever"
	c.list.Add(d)
}

// loops checks what loops bound.
func (c *checker) loops() {
	edges := make(map[*ir.Loop][]*ir.Edge)
	for _, n := range c.w.Nodes {
		for _, e := range n.Edges {
			if e.Loop != nil && c.f.Reachable(n) {
				edges[e.Loop] = append(edges[e.Loop], e)
			}
		}
	}
	for _, l := range c.w.Loops {
		if list := edges[l]; len(list) > 0 && !slices.ContainsFunc(list, func(e *ir.Edge) bool { return l.Contains(e.From) && l.Contains(e.To) }) {
			c.list.Warnf("P193", l.Span, "lead the edge back to a node before it, or drop as "+l.Name,
				"loop %s bounds nothing: its edge leads to no way back", l.Name)
		}
	}
	c.tangles(edges)
}

// tangles: a cycle that can be entered at two nodes is counted as a whole, and
// loops inside of it are not restarted.
func (c *checker) tangles(edges map[*ir.Loop][]*ir.Edge) {
	g := c.f.Graph()
	inside := make(map[*graph.Region][]*ir.Loop)
	for _, l := range c.w.Loops {
		for _, e := range edges[l] {
			r := g.Around(e.From.Index, e.To.Index)
			for r != nil && r.Up != nil {
				r = r.Up
			}
			if r != nil && r.Header < 0 && !slices.Contains(inside[r], l) {
				inside[r] = append(inside[r], l)
			}
		}
	}
	for _, r := range g.Regions() {
		if len(inside[r]) < 2 {
			continue
		}
		c.list.Add(diag.Diagnostic{
			Code: "P192", Severity: diag.Warning, Span: inside[r][1].Span,
			Message: "loop " + inside[r][1].Name + " is never restarted: the cycle around it can be entered at several nodes, so all of its turns count together",
			Hint:    "let all edges from outside lead to one node of the cycle",
			Related: []diag.Related{{Span: inside[r][0].Span, Message: "loop " + inside[r][0].Name + " is part of the same cycle"}},
		})
	}
}

// edges checks what leaves a node.
func (c *checker) edges(n *ir.Node) {
	_, end := n.Op.(*ir.End)
	route, router := n.Op.(*ir.Route)
	switch {
	case end && len(n.Edges) > 0:
		c.list.Errorf("P166", n.Edges[0].Span, "done and fail end the run; lead the edge from another node", "%s has an edge: nothing runs after it", n.ID)
	case !end && len(n.Edges) == 0 && !c.resolvers[n]:
		c.list.Errorf("P167", n.Span, "add "+n.ID+" -> done, or another edge", "%s leads nowhere: the run could not end", n.ID)
	case router && route.Mode == ir.RoundRobin && len(n.Edges) < 2:
		c.list.Errorf("C020", n.Span, "give it at least two edges, or replace the router by a plain edge", "round_robin router %s has fewer than 2 edges", n.ID)
	case router && route.Mode == ir.LLM && len(n.Edges) < 2:
		c.list.Errorf("C021", n.Span, "give it at least two edges, or replace the router by a plain edge", "llm router %s has fewer than 2 edges", n.ID)
	}
	if router && route.Mode != ir.Condition {
		c.unconditional(n, route)
		return
	}
	c.fallbacks(n)
	c.repeats(n)
	c.exhaustive(n)
}

// unconditional: routers that choose by themselves take no conditions.
func (c *checker) unconditional(n *ir.Node, route *ir.Route) {
	for _, e := range n.Edges {
		if e.Cond != nil {
			c.list.Errorf("C022", e.Cond.Span, "drop the condition, or use mode: condition",
				"router %s chooses by %s: its edges take no condition", n.ID, route.Mode)
		}
	}
}

// fallbacks: one unconditional edge is the fallback; a second one could never be
// taken, unless the first can be used up.
func (c *checker) fallbacks(n *ir.Node) {
	var first *ir.Edge
	for _, e := range n.Edges {
		if e.Cond != nil {
			continue
		}
		if first != nil && first.Loop == nil {
			c.list.Add(diag.Diagnostic{
				Code: "C010", Severity: diag.Error, Span: e.Span,
				Message: n.ID + " has more than one unconditional edge: " + e.To.ID + " is never reached by this one",
				Hint:    "give all but one a condition, or use a router with mode: fan_out_all",
				Related: []diag.Related{{Span: first.Span, Message: "the first one is here"}},
			})
			return
		}
		first = e
	}
}

// repeats: the second edge with one condition is never taken, unless the first
// can be used up.
func (c *checker) repeats(n *ir.Node) {
	seen := make(map[string]*ir.Edge, len(n.Edges))
	for _, e := range n.Edges {
		if e.Cond == nil {
			continue
		}
		text := e.Cond.String()
		if first := seen[text]; first != nil && first.Loop == nil {
			c.list.Add(diag.Diagnostic{
				Code: "C011", Severity: diag.Error, Span: e.Cond.Span,
				Message: "condition " + text + " stands on two edges of " + n.ID + ": the second is never taken",
				Hint:    "change one of the conditions, or bound the first edge with as NAME(N)",
				Related: []diag.Related{{Span: first.Span, Message: "the first one is here"}},
			})
		}
		seen[text] = e
	}
}
