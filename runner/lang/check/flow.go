package check

import (
	"slices"
	"strings"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// reachability finds the nodes that the entry leads to; the others are dead.
func (c *checker) reachability() []bool {
	seen := make([]bool, len(c.w.Nodes))
	seen[c.w.Entry.Index] = true
	work := []*ir.Node{c.w.Entry}
	for len(work) > 0 {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		reached := c.resolver(n)
		for _, e := range n.Edges {
			reached = append(reached, e.To)
		}
		for _, to := range reached {
			if !seen[to.Index] {
				seen[to.Index] = true
				work = append(work, to)
			}
		}
	}
	for _, n := range c.w.Nodes {
		if _, end := n.Op.(*ir.End); !seen[n.Index] && !end {
			c.list.Errorf("C016", n.Span, "add an edge that leads to it from "+c.w.Entry.ID+", or delete it",
				"no path leads from entry %s to %s", c.w.Entry.ID, n.ID)
		}
	}
	return seen
}

// resolver is the agent that a join calls on a conflict. No edge leads to it, and
// none has to lead on: when it has finished, the join goes on.
func (c *checker) resolver(n *ir.Node) []*ir.Node {
	if j, ok := n.Op.(*ir.Join); ok {
		if r := c.w.Resolver(j); r != nil {
			return []*ir.Node{r}
		}
	}
	return nil
}

// resolves reports whether some join calls n on a conflict.
func (c *checker) resolves(n *ir.Node) bool {
	return slices.ContainsFunc(c.w.Nodes, func(j *ir.Node) bool { return slices.Contains(c.resolver(j), n) })
}

// cycles reports every cycle that no loop bounds: the walk could go round for
// ever. Each strongly connected rest is reported once, at its first edge.
func (c *checker) cycles() {
	const (
		fresh = iota
		onPath
		finished
	)
	state := make([]int, len(c.w.Nodes))
	type frame struct {
		n    *ir.Node
		next int
	}
	for _, root := range c.w.Nodes {
		if state[root.Index] != fresh {
			continue
		}
		state[root.Index] = onPath
		stack := []frame{{n: root}}
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.next == len(top.n.Edges) {
				state[top.n.Index] = finished
				stack = stack[:len(stack)-1]
				continue
			}
			e := top.n.Edges[top.next]
			top.next++
			switch {
			case e.Loop != nil:
			case state[e.To.Index] == onPath:
				c.unbounded(e)
			case state[e.To.Index] == fresh:
				state[e.To.Index] = onPath
				stack = append(stack, frame{n: e.To})
			}
		}
	}
}

func (c *checker) unbounded(e *ir.Edge) {
	c.list.Errorf("C019", e.Span, "bound it: "+e.From.ID+" -> "+e.To.ID+" as NAME(3)",
		"the cycle through %s -> %s has no bound: it could go round for ever", e.From.ID, e.To.ID)
}

// edges checks what leaves a node.
func (c *checker) edges(n *ir.Node) {
	_, end := n.Op.(*ir.End)
	route, router := n.Op.(*ir.Route)
	switch {
	case end && len(n.Edges) > 0:
		c.list.Errorf("P166", n.Edges[0].Span, "done and fail end the run; lead the edge from another node", "%s has an edge: nothing runs after it", n.ID)
	case !end && len(n.Edges) == 0 && !c.resolves(n):
		c.list.Errorf("P167", n.Span, "add "+n.ID+" -> done, or another edge", "%s leads nowhere: the run could not end", n.ID)
	case router && route.FansOut() && n.Meets() == nil:
		c.list.Errorf("P171", n.Span, "add a join, or await: wait_all on the node where they come together, that every branch passes before done",
			"the branches of %s do not meet at a join", n.ID)
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

// exhaustive: whatever a node answers, some edge must hold.
func (c *checker) exhaustive(n *ir.Node) {
	var conditional *ir.Edge
	fields := make(map[string][2]bool)
	for _, e := range n.Edges {
		if e.Cond == nil {
			return
		}
		conditional = e
		if e.Cond.Expr != nil {
			continue
		}
		sides := fields[e.Cond.Field]
		if e.Cond.Not {
			sides[1] = true
		} else {
			sides[0] = true
		}
		if sides[0] && sides[1] {
			return
		}
		fields[e.Cond.Field] = sides
	}
	if conditional == nil {
		return
	}
	var missing []string
	for _, e := range n.Edges {
		if e.Cond.Expr == nil {
			missing = append(missing, opposite(e.Cond))
		}
	}
	hint := "add an edge without a condition as the fallback"
	if len(missing) > 0 {
		hint += ", or one with: when " + strings.Join(missing, ", when ")
	}
	c.list.Errorf("C012", conditional.Span, hint, "the conditions of %s do not cover every answer, and there is no fallback", n.ID)
}

func opposite(cond *ir.Cond) string {
	if cond.Not {
		return cond.Field
	}
	return "not " + cond.Field
}
