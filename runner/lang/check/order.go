package check

import (
	"fmt"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// exists checks that what a reference reads can be there when it is read.
func (c *checker) exists(site ir.Site, ref *ir.Ref) {
	if !c.f.Reachable(site.Node) || len(ref.Path) == 0 {
		return // what a join calls on a conflict has no place on a way
	}
	switch ref.Root {
	case ir.RootOutputs:
		x := c.w.Node(ref.Path[0])
		if x == nil || c.resolvers[x] {
			return
		}
		past := len(ref.Path) > 1 && ref.Path[1] == "history" && x.Out.Field("history") == nil
		c.before(site, ref, []*ir.Node{x}, past || c.w.InLoop(x))
	case ir.RootArtifacts:
		if by := c.publishers[ref.Path[0]]; len(by) > 0 {
			c.before(site, ref, by, false)
		}
	}
}

// before checks that one of the nodes by has run when the reference is read.
// Where null stands for what is not there yet, it is enough that one can have.
func (c *checker) before(site ir.Site, ref *ir.Ref, by []*ir.Node, null bool) {
	can := false
	for _, x := range by {
		if c.resolvers[x] || c.surely(x, site.Node, site.Edge != nil) {
			return
		}
		can = can || c.f.Reachable(x) && c.f.Leads(x, site.Node)
	}
	related := []diag.Related{{Span: by[0].Span, Message: "it comes from here"}}
	switch {
	case !can:
		c.list.Add(diag.Diagnostic{
			Code: "C036", Severity: diag.Error, Span: ref.Span, Related: related,
			Message: fmt.Sprintf("{{%s}}: no way leads through %s before %s", ref, name(by[0]), name(site.Node)),
			Hint:    "lead an edge from " + name(by[0]) + " towards " + name(site.Node) + ", or read something that comes before it",
		})
	case !null:
		c.list.Add(diag.Diagnostic{
			Code: "P188", Severity: diag.Warning, Span: ref.Span, Related: related,
			Message: fmt.Sprintf("{{%s}}: a way leads to %s on which %s has not run: the run would fail there", ref, name(site.Node), name(by[0])),
			Hint:    "bring the value along the edges: with { key: \"{{" + ref.String() + "}}\" }",
		})
	}
}

// surely reports whether x has run whenever n runs, or, when after is set,
// whenever n has run.
func (c *checker) surely(x, n *ir.Node, after bool) bool {
	switch {
	case !c.f.Reachable(x):
		return false
	case x == n:
		return after
	case c.f.Dominates(x, n):
		return true
	}
	for _, b := range c.f.Branches(x) {
		join := b.Fan.Meets()
		if r, ok := b.Fan.Op.(*ir.Route); !ok || r.Mode != ir.FanOutAll || join == nil {
			continue
		}
		if (join == n || c.surely(join, n, true)) && c.always(b.Edge, x, join) {
			return true
		}
	}
	return false
}

// always reports whether every way of a branch to its join passes x.
func (c *checker) always(start *ir.Edge, x, join *ir.Node) bool {
	if start.To == x {
		return true
	}
	key := crossing{start, x}
	if known, ok := c.crossed[key]; ok {
		return known
	}
	found := start.To == join
	seen := map[*ir.Node]bool{start.To: true}
	for work := []*ir.Node{start.To}; len(work) > 0 && !found && c.steps > 0; {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		for _, e := range n.Edges {
			c.steps--
			found = found || e.To == join
			if !seen[e.To] && e.To != x && e.To != join {
				seen[e.To] = true
				work = append(work, e.To)
			}
		}
	}
	c.crossed[key] = !found
	return !found
}

// crossing is a question about a branch: does it always pass a node?
type crossing struct {
	start *ir.Edge
	x     *ir.Node
}
