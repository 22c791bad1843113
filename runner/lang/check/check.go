package check

import (
	"slices"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/flow"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// Options are what the rules must know beside the workflow.
type Options struct {
	// Tools maps every name that an agent may list to the tool's proper name;
	// nil switches the rule about tool names off.
	Tools func(name string) (proper string, known bool)
	// ToolNames lists the proper names, sorted, for hints.
	ToolNames []string
	// Writes reports whether the tool of that name may change the worktree; nil
	// switches the rules about tools that write off.
	Writes func(name string) bool
	// Backends lists the programs that can do the work of a node, sorted; nil
	// switches the rule about them off.
	Backends []string
	// DefaultModel is used by nodes that name none; "" when there is none.
	DefaultModel string
	// Prices is for the rules about cost.
	Prices budget.Table
}

// checker is one pass over one workflow.
type checker struct {
	w    *ir.Workflow
	opt  Options
	list diag.List
	f    *flow.Flow

	resolvers  map[*ir.Node]bool       // called by a join on a conflict
	publishers map[string][]*ir.Node   // by artifact
	artifacts  []string                // their names
	nodes      []string                // names of nodes, for hints
	inputs     map[passage]bool        // input fields that a node reads
	passed     map[passage]supply      // what flows through routers and joins
	meets      map[*ir.Node][]*ir.Node // by join: the fan-outs whose branches meet there
	behind     []bool                  // by node index: some fan-out leads there
	crossed    map[crossing]bool
	steps      int // what searches of always may still cost
}

// Run applies every rule to a sealed workflow and returns what it finds, sorted.
// It costs time and memory in proportion to the workflow.
func Run(w *ir.Workflow, opt Options) diag.List {
	if w.Entry == nil {
		return nil // the front end has said so; the other rules would only echo it
	}
	c := &checker{
		w: w, opt: opt, f: flow.Of(w), steps: 10_000_000,
		resolvers: make(map[*ir.Node]bool), publishers: make(map[string][]*ir.Node),
		inputs: make(map[passage]bool), passed: make(map[passage]supply), crossed: make(map[crossing]bool),
	}
	c.index()
	c.fans()
	c.unreachable()
	c.cycles()
	c.loops()
	for _, n := range w.Nodes {
		if c.alive(n) {
			c.node(n)
		}
	}
	w.EachRef(func(site ir.Site, ref *ir.Ref) {
		if c.alive(site.Node) && c.reference(site, ref, "{{"+ref.String()+"}}") {
			c.exists(site, ref)
		}
	})
	c.unusedVars()
	c.unusedServers()
	c.limits()
	c.unverified()
	c.worst()
	c.list.Sort()
	return c.list
}

// index collects what rules look up.
func (c *checker) index() {
	for _, n := range c.w.Nodes {
		if j, ok := n.Op.(*ir.Join); ok {
			if r := c.w.Resolver(j); r != nil {
				c.resolvers[r] = true
			}
		}
		if _, end := n.Op.(*ir.End); !end && !ir.Awaited(n) {
			c.nodes = append(c.nodes, n.ID)
		}
		if n.Publish != "" {
			if c.publishers[n.Publish] == nil {
				c.artifacts = append(c.artifacts, n.Publish)
			}
			c.publishers[n.Publish] = append(c.publishers[n.Publish], n)
		}
		for _, path := range reads(n) {
			if path[0] == "input" && len(path) > 1 {
				c.inputs[passage{n, path[1]}] = true
			}
		}
	}
	c.w.EachRef(func(site ir.Site, ref *ir.Ref) {
		if ref.Root == ir.RootInput && len(ref.Path) > 0 {
			c.inputs[passage{site.Node, ref.Path[0]}] = true
		}
	})
}

// alive reports whether a run can come to n.
func (c *checker) alive(n *ir.Node) bool { return c.f.Reachable(n) || c.resolvers[n] }

// node applies the rules about one node.
func (c *checker) node(n *ir.Node) {
	c.edges(n)
	c.conditions(n)
	c.op(n)
	c.expressions(n)
	c.mappings(n)
	c.supplies(n)
}

// expressions checks what the expressions of a node and of its edges read.
func (c *checker) expressions(n *ir.Node) {
	for _, e := range expressions(n) {
		for _, path := range e.Reads() {
			ref := &ir.Ref{Root: ir.Root(path[0]), Path: path[1:], Span: e.Span}
			switch {
			case len(ref.Path) == 0:
			case path[0] == "output":
				c.ownOutput(n, ref)
			default:
				c.reference(ir.Site{Node: n}, ref, ref.String())
			}
		}
	}
}

// expressions lists those of a node and of its edges.
func expressions(n *ir.Node) []*ir.Expr {
	var list []*ir.Expr
	if op, ok := n.Op.(*ir.Compute); ok {
		for _, f := range op.Fields {
			list = append(list, f.Expr)
		}
	}
	for _, e := range n.Edges {
		if e.Cond != nil && e.Cond.Expr != nil {
			list = append(list, e.Cond.Expr)
		}
	}
	return list
}

// reads lists the paths that those read.
func reads(n *ir.Node) [][]string {
	var list [][]string
	for _, e := range expressions(n) {
		list = append(list, e.Reads()...)
	}
	return list
}

// ownOutput checks output.FIELD in the condition of an edge out of n.
func (c *checker) ownOutput(n *ir.Node, ref *ir.Ref) {
	fields, known := n.OutputFields()
	if known && !meta(ref.Path[0]) && !slices.ContainsFunc(fields, func(f ir.Field) bool { return f.Name == ref.Path[0] }) {
		c.list.Errorf("C014", ref.Span, diag.Suggest(ref.Path[0], fieldNames(fields)), "output.%s: the output of %s has no such field", ref.Path[0], n.ID)
	}
}
