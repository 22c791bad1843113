package check

import (
	"strings"

	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// conditions: `when FIELD` reads a bool field of what leaves the node.
func (c *checker) conditions(n *ir.Node) {
	if _, router := n.Op.(*ir.Route); router {
		return // it passes on whatever came in
	}
	fields, known := n.OutputFields()
	if !known {
		return
	}
	for _, e := range n.Edges {
		if e.Cond == nil || e.Cond.Expr != nil || strings.HasPrefix(e.Cond.Field, "_") {
			continue
		}
		c.condition(n, e.Cond, fields)
	}
}

func (c *checker) condition(n *ir.Node, cond *ir.Cond, fields []ir.Field) {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
		if f.Name != cond.Field {
			continue
		}
		if f.Kind != gates.Bool && f.Kind != gates.JSON && f.Kind != "" {
			c.list.Errorf("C013", cond.Span, "use a bool field, or an expression: when \"output."+f.Name+" == …\"",
				"condition %s: the field is %s, not bool", f.Name, f.Describe())
		}
		return
	}
	c.list.Errorf("C014", cond.Span, suggest(cond.Field, names), "condition %s: the output of %s has no such field", cond.Field, n.ID)
}

// suggest names the nearest spelling and the closed set of right answers.
func suggest(word string, names []string) string {
	if len(names) == 0 {
		return "there is none to choose from"
	}
	hint := "one of: " + strings.Join(names, ", ")
	if near := diag.Nearest(word, names); near != "" {
		hint = "did you mean " + near + "? " + hint
	}
	return hint
}
