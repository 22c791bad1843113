package check

import (
	"strings"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// op checks what a node does.
func (c *checker) op(n *ir.Node) {
	switch op := n.Op.(type) {
	case *ir.Call:
		c.call(n, op)
	case *ir.Route:
		if op.Mode == ir.LLM {
			c.call(n, op.Call)
		}
	case *ir.Ask:
		if op.Mode != ir.Pause {
			c.call(n, op.Call)
		}
	case *ir.Exec:
		c.uses(n, op)
	}
}

func (c *checker) call(n *ir.Node, op *ir.Call) {
	if op.Model == nil && op.Backend == "" && c.opt.DefaultModel == "" {
		c.list.Errorf("C018", n.Span, `add model: "…", or give a default with --model`, "%s %s has neither model nor backend", n.Op.Word(), n.ID)
	}
	if op.Backend != "" {
		c.later(n.Span, "backend "+op.Backend)
	}
	for _, t := range op.Tools {
		c.tool(t.Name, t.Span)
	}
}

func (c *checker) tool(name string, span diag.Span) {
	if c.opt.Tools == nil {
		return
	}
	if rest, ok := strings.CutPrefix(name, "mcp."); ok {
		c.serverTool(rest, span)
		return
	}
	if _, known := c.opt.Tools(name); !known {
		c.list.Errorf("P168", span, suggest(name, c.opt.ToolNames), "there is no tool %s", name)
	}
}

// serverTool checks the server of an MCP tool; which tools it has, only it can
// say.
func (c *checker) serverTool(name string, span diag.Span) {
	server, _, _ := strings.Cut(name, ".")
	if c.w.ProjectServers || c.w.Server(server) != nil {
		return
	}
	names := make([]string, len(c.w.Servers))
	for i, s := range c.w.Servers {
		names[i] = s.Name
	}
	c.list.Errorf("P168", span, suggest(server, names), "there is no MCP server %s", server)
}

func (c *checker) uses(n *ir.Node, op *ir.Exec) {
	if op.Uses == "" || op.Uses == ir.VerifyTool {
		return
	}
	c.tool(strings.TrimPrefix(op.Uses, "builtin."), n.Span)
}

// later refuses what this version cannot run: a clear word now is better than a
// run that stops in the middle.
func (c *checker) later(span diag.Span, what string) {
	c.list.Errorf("P169", span, "this version runs agents and judges on its own client, tools, human gates, compute nodes, routers and joins",
		"%s cannot be run by this version of pawl", what)
}

// limits: a limit on money can only be held for models whose price is known.
func (c *checker) limits() {
	if c.w.Limits.MaxCost == 0 {
		return
	}
	for _, n := range c.w.Nodes {
		if call := ir.CallOf(n.Op); call != nil && c.opt.DefaultModel == "" {
			c.priced(call.Model)
			c.priced(call.InteractionModel)
		}
	}
}

func (c *checker) priced(model *ir.Template) {
	if model == nil || len(model.Refs()) > 0 {
		return
	}
	name, err := model.Render(nil, nil)
	if err != nil {
		return
	}
	if _, priced := c.opt.Prices.Lookup(name); !priced {
		c.list.Errorf("P170", model.Span, "give its price with --prices FILE, or limit max_tokens instead of max_cost_usd",
			"model %s has no known price, so max_cost_usd cannot be held", name)
	}
}
