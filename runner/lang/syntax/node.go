package syntax

import (
	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/syntax/grammar"
)

// node reads a node of any kind.
func (p *parser) node(kind NodeKind) {
	indent := p.Indent
	span, name, ok := p.header()
	p.open("a property")
	o := owner{string(kind), name.Name, grammar.Node(string(kind))}
	base, _ := p.properties(o, indent)
	p.muted = false
	n := &Node{Span: span, Kind: kind, Name: name}
	if !ok {
		p.settled(base)
		return
	}
	p.together(n, p.props[base:])
	n.Props = p.settled(base)
	if name.Name == "done" || name.Name == "fail" {
		p.complain("P122", name.Span, "choose another name: done and fail are the two ends of every workflow", "%s cannot be the name of a node", name.Name)
		return
	}
	if first := p.out.AddNode(n); first != nil {
		p.twice("P121", "node", name, first.Name.Span)
	}
}

// together checks what the properties of a node need and exclude.
func (p *parser) together(n *Node, props Props) {
	switch n.Kind {
	case Router:
		p.router(n, props)
	case Tool:
		p.toolNode(n, props)
	case Compute:
		if expr := props.Get("expr"); expr == nil || expr.Value.Kind != 0 && len(expr.Value.Entries()) == 0 {
			p.complain("P125", n.Span, `indent below it expr: and the fields: total: "1 + 1"`, "compute %s computes nothing", n.Name.Name)
		}
	}
}

func (p *parser) router(n *Node, props Props) {
	mode := props.Get("mode")
	if mode == nil {
		p.complain("P125", n.Span, "add mode: condition, fan_out_all, llm or round_robin", "router %s has no mode", n.Name.Name)
		return
	}
	if mode.Value.Kind == 0 || mode.Value.Str == "llm" {
		return
	}
	for i := range props {
		if props[i].Key != "mode" {
			p.complain("C023", props[i].Name, "drop it, or use mode: llm",
				"%s has no meaning for router %s: its mode is %s", props[i].Name.Text(), n.Name.Name, mode.Value.Str)
		}
	}
}

func (p *parser) toolNode(n *Node, props Props) {
	command, uses, with := props.Get("command"), props.Get("uses"), props.Get("with")
	switch {
	case command == nil && uses == nil:
		p.complain("P125", n.Span, `add command: "…", or uses: builtin.NAME`, "tool %s has neither command nor uses", n.Name.Name)
	case command != nil && uses != nil:
		p.exclude(uses, command, "tool "+n.Name.Name+" has both command and uses", "drop one of them")
	case command != nil && with != nil:
		p.exclude(with, command, "with has no meaning for a command", "write the values into the command: {{input.x}}")
	}
}

func (p *parser) exclude(this, other *Property, message, hint string) {
	p.because("P129", this.Name, diag.Related{Span: other.Name, Message: other.Key + " is given here"}, hint, "%s", message)
}

// server reads an MCP server.
func (p *parser) server() {
	indent := p.Indent
	span, name, ok := p.header()
	p.open("a property")
	o := owner{"mcp_server", name.Name, grammar.Server}
	base, _ := p.properties(o, indent)
	p.muted = false
	s := &Server{Span: span, Name: name}
	if ok {
		p.transport(s, p.props[base:])
	}
	s.Props = p.settled(base)
	if !ok {
		return
	}
	if first := p.out.AddServer(s); first != nil {
		p.twice("C024", "mcp_server", name, first.Name.Span)
	}
}

// transport checks that a server is a program or an address, not half of each.
func (p *parser) transport(s *Server, props Props) {
	t := props.Get("transport")
	if t == nil {
		p.complain("C025", s.Span, "add transport: stdio, http or sse", "mcp_server %s has no transport", s.Name.Name)
		return
	}
	needs, excluded := "url", []string{"command", "args"}
	switch {
	case t.Value.Kind == 0:
		return
	case t.Value.Str == "stdio":
		needs, excluded = "command", []string{"url"}
	}
	if props.Get(needs) == nil {
		p.complain("C025", s.Span, "add "+needs+`: "…"`, "mcp_server %s has transport %s and no %s", s.Name.Name, t.Value.Str, needs)
	}
	for _, key := range excluded {
		if prop := props.Get(key); prop != nil {
			p.complain("C025", prop.Name, "drop it, or change the transport", "%s has no meaning for mcp_server %s: its transport is %s", key, s.Name.Name, t.Value.Str)
		}
	}
}
