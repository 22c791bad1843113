package check

import (
	"fmt"
	"strings"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// supply is whether a field comes to a node.
type supply int

const (
	perhaps supply = iota // not known before the run
	brought
	missing
)

// passage is a field that flows through a node.
type passage struct {
	n     *ir.Node
	field string
}

// supplies checks that what a node must be given is given.
func (c *checker) supplies(n *ir.Node) {
	if n.In == nil {
		return
	}
	edges := c.f.Into(n)
	for i := range n.In.Fields {
		f := &n.In.Fields[i]
		if f.Optional || meta(f.Name) {
			continue
		}
		var without []*ir.Edge
		for _, e := range edges {
			if c.along(e, f.Name) == missing {
				without = append(without, e)
			}
		}
		reads := c.inputs[passage{n, f.Name}]
		switch {
		case len(without) == 0:
		case len(without) == len(edges) && n != c.w.Entry:
			c.unsupplied(n, f, without, reads)
		case reads:
			for _, e := range without {
				c.sometimes(n, f, e)
			}
		}
	}
}

// unsupplied reports a field that no edge brings: an error when the node reads it.
func (c *checker) unsupplied(n *ir.Node, f *ir.Field, edges []*ir.Edge, reads bool) {
	d := diag.Diagnostic{
		Code: "P162", Severity: diag.Warning, Span: n.Span,
		Message: fmt.Sprintf("%s needs %s in its input, and no edge brings it", name(n), f.Name),
		Hint:    fmt.Sprintf("add it to an edge: with { %s: \"{{…}}\" }, or make it optional: %s?: %s", f.Name, f.Name, f.Kind),
		Related: declared(f),
	}
	if reads {
		d.Severity = diag.Error
	}
	for _, e := range edges[:min(len(edges), 3)] {
		d.Related = append(d.Related, diag.Related{Span: e.Span, Message: "this edge does not bring it"})
	}
	c.list.Add(d)
}

// sometimes reports an edge that leaves a field out which others bring.
func (c *checker) sometimes(n *ir.Node, f *ir.Field, e *ir.Edge) {
	c.list.Add(diag.Diagnostic{
		Code: "P162", Severity: diag.Warning, Span: e.Span,
		Message: fmt.Sprintf("%s reads %s in its input, and this edge does not bring it", name(n), f.Name),
		Hint:    fmt.Sprintf("add with { %s: \"{{…}}\" }, or make it optional: %s?: %s", f.Name, f.Name, f.Kind),
		Related: declared(f),
	})
}

// along tells whether an edge brings a field.
func (c *checker) along(e *ir.Edge, field string) supply {
	if len(e.With) == 0 {
		return c.leaving(e.From, field)
	}
	for i := range e.With {
		if e.With[i].Key == field {
			return brought
		}
	}
	return missing
}

// leaving tells whether a field is in what leaves n.
func (c *checker) leaving(n *ir.Node, field string) supply {
	if fields, known := n.OutputFields(); known {
		if has(fields, field) {
			return brought
		}
		return missing
	}
	_, router := n.Op.(*ir.Route)
	_, join := n.Op.(*ir.Join)
	at := passage{n, field}
	if s, known := c.passed[at]; known || !router && !join || n == c.w.Entry {
		return s
	}
	c.passed[at] = perhaps // also what a cycle of routers finds
	c.passed[at] = c.through(n, field, join)
	return c.passed[at]
}

// through tells whether a field flows through a router, which passes on what came
// along one edge, or through a join, which unites what came along all.
func (c *checker) through(n *ir.Node, field string, join bool) supply {
	var yes, no int
	edges := c.f.Into(n)
	for _, e := range edges {
		switch c.along(e, field) {
		case brought:
			yes++
		case missing:
			no++
		}
	}
	switch {
	case len(edges) == 0:
		return perhaps
	case yes == len(edges), join && yes > 0:
		return brought
	case no == len(edges):
		return missing
	}
	return perhaps
}

// name is the node as its author knows it: a join that a node awaits with has that
// node's name.
func name(n *ir.Node) string { return strings.TrimSuffix(n.ID, ir.AwaitSuffix) }
