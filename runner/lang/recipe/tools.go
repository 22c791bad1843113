package recipe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// builtinSpace is the namespace of the tools that are part of pawl.
const builtinSpace = "builtin."

// tools narrows what models may call. What a node does not list it does not get:
// a policy takes away and never gives.
func (a *applying) tools() {
	all := a.policyOf(a.r.Tools)
	nodes := make(map[string]*ir.ToolPolicy, len(a.r.NodeTools))
	for _, n := range a.r.NodeTools {
		if a.asks(n.Node, n.At) != nil {
			nodes[n.Node] = a.policyOf(n.ToolRules)
		}
	}
	for _, n := range a.w.Nodes {
		c := callOf(n.Op)
		if c == nil {
			continue
		}
		both := meet(all, nodes[n.ID])
		switch {
		case both == nil:
		case c.Backend != "":
			a.unheld(n, c)
		default:
			a.narrow(n, c, both)
		}
	}
}

// unheld refuses a policy for a node that pawl's own tools do not serve: what its
// program does, nobody here could forbid.
func (a *applying) unheld(n *ir.Node, c *ir.Call) {
	span, _ := a.origin(n.ID)
	a.list.Add(diag.Diagnostic{
		Code: "P182", Severity: diag.Error, Span: span, Hint: "give the node a model instead, or write the policy for other nodes only, under nodes",
		Message: fmt.Sprintf("node %s runs %s, whose tools no policy can narrow", n.ID, c.Backend),
		Related: []diag.Related{{Span: n.Span, Message: n.ID + " is declared here"}},
	})
}

// narrow drops the tools that a policy forbids and leaves the policy with the
// call, for tools whose names only a running server knows.
func (a *applying) narrow(n *ir.Node, c *ir.Call, p *ir.ToolPolicy) {
	policy := &ir.ToolPolicy{Allow: slices.Clone(p.Allow), Deny: p.Deny}
	kept := c.Tools[:0]
	for _, t := range c.Tools {
		proper := a.proper(t.Name)
		if !overlaps(p, proper) {
			continue
		}
		kept = append(kept, t)
		if len(p.Allow) > 0 && proper != t.Name {
			policy.Allow = append(policy.Allow, t.Name) // the model knows it by this name
		}
	}
	if len(c.Tools) > 0 && len(kept) == 0 {
		span, where := a.origin(n.ID)
		a.list.Add(diag.Diagnostic{
			Code: "P184", Severity: diag.Warning, Span: span, Hint: "allow one of: " + names(c.Tools),
			Message: "the tool policy" + where + " leaves " + n.ID + " without any tool",
			Related: []diag.Related{{Span: n.Span, Message: n.ID + " is declared here"}},
		})
	}
	c.Tools = kept
	policy.Allow = normal(policy.Allow)
	c.Policy = policy
}

// origin is where the recipe speaks of the tools of a node.
func (a *applying) origin(node string) (diag.Span, string) {
	for _, n := range a.r.NodeTools {
		if n.Node == node {
			return n.At, " for " + node
		}
	}
	for _, list := range [][]Pattern{a.r.Tools.Allow, a.r.Tools.Deny} {
		if len(list) > 0 {
			return list[0].Span.To(list[len(list)-1].Span), ""
		}
	}
	return diag.Span{}, ""
}

func names(tools []ir.ToolRef) string {
	list := make([]string, len(tools))
	for i, t := range tools {
		list[i] = t.Name
	}
	return strings.Join(list, ", ")
}

// policyOf resolves the names of a policy; nil when it has no rules.
func (a *applying) policyOf(rules ToolRules) *ir.ToolPolicy {
	if len(rules.Allow) == 0 && len(rules.Deny) == 0 {
		return nil
	}
	before := len(a.list)
	p := &ir.ToolPolicy{Allow: a.resolve(rules.Allow), Deny: a.resolve(rules.Deny)}
	if len(a.list) > before {
		return nil // errors, so nothing will run; what they lead to is no news
	}
	return p
}

func (a *applying) resolve(patterns []Pattern) []string {
	var out []string
	for _, p := range patterns {
		switch {
		case p.Text == "*" || strings.HasPrefix(p.Text, "mcp."):
			out = append(out, p.Text)
		case p.Text == builtinSpace+"*":
			out = append(out, a.opt.ToolNames...)
		case strings.HasSuffix(p.Text, "*"):
			a.list.Errorf("P168", p.Span, diag.Suggest(p.Text, []string{"builtin.*", "mcp.*"}), "there is no namespace %s", strings.TrimSuffix(p.Text, ".*"))
		case a.opt.Tools == nil:
			out = append(out, p.Text)
		default:
			proper, known := a.opt.Tools(p.Text)
			if !known {
				a.list.Errorf("P168", p.Span, diag.Suggest(p.Text, a.opt.ToolNames), "there is no tool %s", p.Text)
				continue
			}
			out = append(out, proper)
		}
	}
	return normal(out)
}

func (a *applying) proper(name string) string {
	if a.opt.Tools != nil {
		if proper, known := a.opt.Tools(name); known {
			return proper
		}
	}
	return name
}

func normal(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// meet is the policy that permits what both permit.
func meet(p, q *ir.ToolPolicy) *ir.ToolPolicy {
	if p == nil || q == nil {
		if p == nil {
			return q
		}
		return p
	}
	both := &ir.ToolPolicy{Deny: normal(slices.Concat(p.Deny, q.Deny))}
	switch {
	case len(p.Allow) == 0:
		both.Allow = q.Allow
	case len(q.Allow) == 0:
		both.Allow = p.Allow
	default:
		both.Allow = meetPatterns(p.Allow, q.Allow)
		if len(both.Allow) == 0 {
			both.Deny = []string{"*"}
		}
	}
	return both
}

func meetPatterns(p, q []string) []string {
	var out []string
	for _, a := range p {
		for _, b := range q {
			switch {
			case covers(a, b):
				out = append(out, b)
			case covers(b, a):
				out = append(out, a)
			}
		}
	}
	return normal(out)
}

// covers reports whether pattern a means everything that pattern b means.
func covers(a, b string) bool {
	if space, all := strings.CutSuffix(a, "*"); all {
		return strings.HasPrefix(b, space) && b != space
	}
	return a == b
}

// overlaps reports whether the policy permits some tool that the name of a node's
// list, which may be a namespace itself, means.
func overlaps(p *ir.ToolPolicy, name string) bool {
	if slices.ContainsFunc(p.Deny, func(pattern string) bool { return covers(pattern, name) }) {
		return false
	}
	return len(p.Allow) == 0 || slices.ContainsFunc(p.Allow, func(pattern string) bool {
		return covers(pattern, name) || covers(name, pattern)
	})
}
