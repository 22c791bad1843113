package check

import (
	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// Options are what the rules must know beside the workflow.
type Options struct {
	// Tools maps every name that an agent may list to the tool's proper name;
	// nil switches the rule about tool names off.
	Tools func(name string) (proper string, known bool)
	// ToolNames lists the proper names, sorted, for hints.
	ToolNames []string
	// DefaultModel is used by nodes that name none; "" when there is none.
	DefaultModel string
	// Prices is for the rule about cost limits.
	Prices budget.Table
}

// checker is one pass over one workflow.
type checker struct {
	w    *ir.Workflow
	opt  Options
	list diag.List
}

// Run applies every rule to a sealed workflow and returns what it finds, sorted.
func Run(w *ir.Workflow, opt Options) diag.List {
	c := &checker{w: w, opt: opt}
	if w.Entry == nil {
		return nil // the front end has said so; the other rules would only echo it
	}
	reachable := c.reachability()
	c.cycles()
	for _, n := range w.Nodes {
		if !reachable[n.Index] {
			continue
		}
		c.edges(n)
		c.conditions(n)
		c.op(n)
	}
	w.EachRef(func(site ir.Site, ref *ir.Ref) {
		if reachable[site.Node.Index] {
			c.reference(site, ref)
		}
	})
	c.limits()
	c.list.Sort()
	return c.list
}
