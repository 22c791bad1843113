package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/runner/lang/cover"
	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// exhaustive: whatever a node answers, some edge must hold.
func (c *checker) exhaustive(n *ir.Node) {
	if len(n.Edges) == 0 || slices.ContainsFunc(n.Edges, func(e *ir.Edge) bool { return e.Cond == nil }) {
		return
	}
	r := cover.Try(n.Edges, func(path []string) ir.Field {
		v := c.reads(n, path)
		return ir.Field{Field: gates.Field{Kind: v.kind, Enum: v.enum}}
	})
	hint := "add an edge without a condition as the fallback"
	if missing := opposites(n.Edges); missing != "" {
		hint += ", or one with: " + missing
	}
	span := n.Edges[len(n.Edges)-1].Cond.Span
	switch {
	case r.Open:
		c.list.Warnf("C012", span, hint, "nobody can say whether the conditions of %s cover every case, and there is no fallback", n.ID)
	case r.Gap != "" && r.Certain:
		c.list.Errorf("C012", span, hint, "the conditions of %s do not cover every answer, for example %s, and there is no fallback", n.ID, r.Gap)
	case r.Gap != "":
		c.list.Warnf("C012", span, hint, "the conditions of %s do not cover every case, for example %s, and there is no fallback", n.ID, r.Gap)
	}
}

// opposites are the conditions that would complete those of the edges.
func opposites(edges []*ir.Edge) string {
	var list []string
	for _, e := range edges {
		switch {
		case e.Cond.Expr != nil:
		case e.Cond.Not:
			list = append(list, "when "+e.Cond.Field)
		default:
			list = append(list, "when not "+e.Cond.Field)
		}
	}
	return strings.Join(slices.Compact(list), ", ")
}

// reads is what an expression behind n finds at path.
func (c *checker) reads(n *ir.Node, path []string) value {
	if path[0] != "output" {
		return c.at(n, &ir.Ref{Root: ir.Root(path[0]), Path: path[1:]})
	}
	if _, router := n.Op.(*ir.Route); router {
		return value{kind: c.flowing(n, path[1:])}
	}
	return output(n, path[1:])
}

// flowing is the kind of a field that a router passes on: what conditions ask for
// is bool, of the rest nothing is known.
func (c *checker) flowing(n *ir.Node, path []string) gates.Kind {
	for _, e := range n.Edges {
		if len(path) == 1 && e.Cond != nil && e.Cond.Expr == nil && e.Cond.Field == path[0] {
			return gates.Bool
		}
	}
	return ""
}

// conditions: `when FIELD` reads a bool field of what leaves the node.
func (c *checker) conditions(n *ir.Node) {
	_, router := n.Op.(*ir.Route)
	fields, known := n.OutputFields()
	for _, e := range n.Edges {
		switch {
		case e.Cond == nil || e.Cond.Expr != nil || meta(e.Cond.Field):
		case router:
			if c.leaving(n, e.Cond.Field) == missing {
				c.list.Errorf("C014", e.Cond.Span, "bring it to "+n.ID+": with { "+e.Cond.Field+": \"{{…}}\" }",
					"condition %s: nothing that flows into %s has such a field", e.Cond.Field, n.ID)
			}
		case known:
			c.condition(n, e.Cond, fields)
		}
	}
}

func (c *checker) condition(n *ir.Node, cond *ir.Cond, fields []ir.Field) {
	for i := range fields {
		f := &fields[i]
		if f.Name != cond.Field {
			continue
		}
		if of(f).into(&ir.Field{Field: gates.Field{Kind: gates.Bool}}) != fits {
			c.list.Add(diag.Diagnostic{
				Code: "C013", Severity: diag.Error, Span: cond.Span, Message: fmt.Sprintf("condition %s: the field is %s, not bool", f.Name, f.Describe()),
				Hint: "use a bool field, or an expression: when \"output." + f.Name + " == …\"", Related: declared(f),
			})
		}
		return
	}
	c.list.Errorf("C014", cond.Span, diag.Suggest(cond.Field, fieldNames(fields)), "condition %s: the output of %s has no such field", cond.Field, n.ID)
}

// declared points at a field's declaration, where it has one.
func declared(f *ir.Field) []diag.Related {
	if f.Span.IsZero() {
		return nil
	}
	return []diag.Related{{Span: f.Span, Message: "the field is declared here"}}
}
