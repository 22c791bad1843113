package check

import (
	"regexp"
	"strings"

	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// mention finds where a text speaks of a variable: in references, expressions and
// in places that only a part of pawl reads. Variables are also what flows into the
// first node, and is read there as input.
var mention = regexp.MustCompile(`(?:vars|input)\.([A-Za-z_][A-Za-z0-9_]*)`)

// unusedVars warns about variables that must be given and of which the file does
// not speak. One with a default costs nobody anything: it may be there for callers
// and recipes that give it.
func (c *checker) unusedVars() {
	if len(c.w.Vars) == 0 || c.w.Vars[0].Span.File == nil || c.takesAll() {
		return
	}
	file := c.w.Vars[0].Span.File
	used := make(map[string]bool)
	for _, m := range mention.FindAllStringSubmatch(file.Text, -1) {
		used[m[1]] = true
	}
	for _, n := range c.w.Nodes {
		if n.In != nil {
			for i := range n.In.Fields {
				used[n.In.Fields[i].Name] = true
			}
		}
	}
	for _, v := range c.w.Vars {
		if !used[v.Name] && !v.HasDef && v.Span.File == file {
			c.list.Warnf("P161", v.Span, "use it as {{vars."+v.Name+"}}, or delete it", "variable %s must be given, and is not used", v.Name)
		}
	}
}

// takesAll reports whether something reads all variables at once: a reference, or
// a first node whose model is shown its whole input.
func (c *checker) takesAll() bool {
	if strings.Contains(c.w.Vars[0].Span.File.Text, "{{vars}}") || strings.Contains(c.w.Vars[0].Span.File.Text, "{{input}}") {
		return true
	}
	seen := map[*ir.Node]bool{}
	for work := []*ir.Node{c.w.Entry}; len(work) > 0; {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		if call, ok := n.Op.(*ir.Call); ok && n.In == nil && call.User == nil {
			return true
		}
		_, router := n.Op.(*ir.Route)
		if !router && !ir.Awaited(n) {
			continue
		}
		for _, e := range n.Edges {
			if len(e.With) == 0 && !seen[e.To] {
				seen[e.To] = true
				work = append(work, e.To)
			}
		}
	}
	return false
}

// unusedServers warns about MCP servers that no node is given.
func (c *checker) unusedServers() {
	used := make(map[string]bool)
	for _, n := range c.w.Nodes {
		switch op := n.Op.(type) {
		case *ir.Exec:
			used[serverOf(op.Uses)] = true
		default:
			if call := ir.CallOf(n.Op); call != nil {
				for _, t := range call.Tools {
					used[serverOf(t.Name)] = true
				}
			}
		}
	}
	for _, s := range c.w.Servers {
		if !used[s.Name] && !used["*"] {
			c.list.Warnf("P161", s.Span, "give it to a node: mcp: with servers: ["+s.Name+"], or delete it", "MCP server %s is not used", s.Name)
		}
	}
}

// serverOf is the server in the name of an MCP tool, or "".
func serverOf(tool string) string {
	rest, ok := strings.CutPrefix(tool, "mcp.")
	if !ok {
		return ""
	}
	server, _, _ := strings.Cut(rest, ".")
	return server
}
