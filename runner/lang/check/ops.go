package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// op checks what a node does.
func (c *checker) op(n *ir.Node) {
	switch op := n.Op.(type) {
	case *ir.Call:
		c.call(n, op)
		c.sessions(n, op)
	case *ir.Route:
		if op.Mode == ir.LLM {
			c.call(n, op.Call)
		}
		c.fanOut(n)
	case *ir.Join:
		c.join(n, op)
		c.collisions(n)
	case *ir.Ask:
		if op.Mode != ir.Pause {
			c.call(n, op.Call)
		}
		c.ask(n, op)
	case *ir.Exec:
		c.uses(n, op)
		c.raw(op)
	}
}

func (c *checker) call(n *ir.Node, op *ir.Call) {
	if op.Model == nil && op.Backend == "" && c.opt.DefaultModel == "" {
		c.list.Errorf("C018", n.Span, `add model: "…", or give a default with --model`, "%s %s has neither model nor backend", n.Op.Word(), n.ID)
	}
	if op.Backend != "" {
		c.backend(n, op)
		if op.Interaction != ir.NoInteraction {
			c.list.Warnf("C029", n.Span, "drop interaction, or let pawl ask the model itself: model instead of backend",
				"interaction of %s has no effect: %s cannot hand its questions on", n.ID, op.Backend)
		}
	}
	for _, t := range op.Tools {
		if op.Backend != "" {
			continue // its tools are its own
		}
		c.tool(t.Name, t.Span)
		if op.Readonly && c.writes(t.Name) {
			c.list.Warnf("P191", t.Span, "drop the tool, or drop readonly", "%s is readonly: %s writes, and is not offered to it", n.ID, t.Name)
		}
	}
}

// writes reports whether a tool is known to write.
func (c *checker) writes(name string) bool { return c.opt.Writes != nil && c.opt.Writes(name) }

// backend checks the program that does a node's work.
func (c *checker) backend(n *ir.Node, op *ir.Call) {
	if c.opt.Backends != nil && !slices.Contains(c.opt.Backends, op.Backend) {
		c.list.Errorf("P169", n.Span, diag.Suggest(op.Backend, c.opt.Backends), "backend %s cannot be run by this version of pawl", op.Backend)
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
		c.list.Errorf("P168", span, diag.Suggest(name, c.opt.ToolNames), "there is no tool %s", name)
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
	c.list.Errorf("P168", span, diag.Suggest(server, names), "there is no MCP server %s", server)
}

func (c *checker) uses(n *ir.Node, op *ir.Exec) {
	if op.Uses == "" || op.Uses == ir.VerifyTool {
		return
	}
	c.tool(strings.TrimPrefix(op.Uses, "builtin."), n.Span)
}

// raw warns about values that a shell reads as commands. What the operator gives is
// the operator's own.
func (c *checker) raw(op *ir.Exec) {
	for _, ref := range op.Command.Refs() {
		if ref.Raw && ref.Root != ir.RootVars {
			c.list.Warnf("P174", ref.Span, "write {{"+ref.String()+"}}: it is quoted for the shell",
				"{{raw(%s)}} is not quoted: whatever is in it runs as a command", ref)
		}
	}
}

// ask checks what a person is told and must fill in.
func (c *checker) ask(n *ir.Node, op *ir.Ask) {
	fields, _ := n.OutputFields()
	if op.MinAnswers > len(fields) {
		c.list.Errorf("P195", n.Span, fmt.Sprintf("ask for at most %d, or give output a schema with more fields", len(fields)),
			"%s wants %d answers, and there are %d fields to fill in", n.ID, op.MinAnswers, len(fields))
	}
	if op.Mode == ir.AutoAnswer || op.Instructions != nil || n.In != nil || n.Out == nil {
		return // to approve what was done needs no question
	}
	for _, e := range c.f.Into(n) {
		if len(e.With) > 0 {
			return
		}
	}
	c.list.Warnf("P194", n.Span, "add instructions: PROMPT with the question", "%s asks a person and does not say what", n.ID)
}

// unverified warns about nodes that may change the repository where a way leads on
// to done and nothing runs its tests.
func (c *checker) unverified() {
	if c.w.Verify.Mode != ir.VerifyNone || !c.w.Worktree {
		return
	}
	into := make([][]*ir.Node, len(c.w.Nodes))
	var work []*ir.Node
	for _, n := range c.w.Nodes {
		if end, ok := n.Op.(*ir.End); ok && !end.Fail {
			work = append(work, n)
		}
		for _, e := range n.Edges {
			into[e.To.Index] = append(into[e.To.Index], n)
		}
	}
	open := make([]bool, len(c.w.Nodes)) // done can be reached, and nothing is verified on the way
	for len(work) > 0 {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		for _, from := range into[n.Index] {
			if e, ok := from.Op.(*ir.Exec); open[from.Index] || ok && e.Uses == ir.VerifyTool {
				continue
			}
			open[from.Index] = true
			work = append(work, from)
		}
	}
	for _, n := range c.w.Nodes {
		if open[n.Index] && c.f.Reachable(n) && c.changes(n) {
			c.list.Warnf("P172", n.Span, "use verify: auto, or put a tool with uses: builtin.verify behind it; readonly: true if it changes nothing",
				"%s may change the repository, and done can be reached without a test of it", n.ID)
		}
	}
}

// changes reports whether n may change the repository.
func (c *checker) changes(n *ir.Node) bool {
	switch op := n.Op.(type) {
	case *ir.Exec:
		if op.Uses != "" {
			return op.Writes() && c.writes(strings.TrimPrefix(op.Uses, "builtin."))
		}
		return op.Writes()
	case *ir.Call:
		if op.Readonly {
			return false
		}
		for _, t := range op.Tools {
			if c.writes(t.Name) {
				return true
			}
		}
		return op.Backend != ""
	}
	return false
}
