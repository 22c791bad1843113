package formula

import (
	"slices"

	"github.com/expr-lang/expr/ast"
)

// Reads lists what the expression reads, such as [output score] for output.score:
// each path once, sorted. A path ends where the next step is computed, as in
// outputs.x[input.i].
func (p *Program) Reads() [][]string {
	node := p.code.Node()
	r := &reader{paths: make(map[ast.Node][]string)}
	ast.Walk(&node, r)
	var list [][]string
	for _, path := range r.paths {
		list = append(list, path)
	}
	slices.SortFunc(list, slices.Compare)
	return slices.CompactFunc(list, slices.Equal)
}

// reader collects the longest paths; it comes to the inner parts of one first.
type reader struct{ paths map[ast.Node][]string }

// Visit implements ast.Visitor.
func (r *reader) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		if slices.Contains(Roots, n.Value) {
			r.paths[n] = []string{n.Value}
		}
	case *ast.ChainNode:
		r.move(n.Node, n)
	case *ast.MemberNode:
		if name, ok := n.Property.(*ast.StringNode); ok && r.paths[n.Node] != nil {
			r.move(n.Node, n)
			r.paths[n] = append(slices.Clip(r.paths[n]), name.Value)
		}
	}
}

func (r *reader) move(from, to ast.Node) {
	if path := r.paths[from]; path != nil {
		delete(r.paths, from)
		r.paths[to] = path
	}
}

// Constants lists the numbers and texts that stand in the expression, as float64
// and string, in no particular order.
func (p *Program) Constants() []any {
	node := p.code.Node()
	c := &constants{}
	ast.Walk(&node, c)
	return c.list
}

type constants struct{ list []any }

// Visit implements ast.Visitor.
func (c *constants) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.StringNode:
		c.list = append(c.list, n.Value)
	case *ast.IntegerNode:
		c.list = append(c.list, float64(n.Value))
	case *ast.FloatNode:
		c.list = append(c.list, n.Value)
	case *ast.ConstantNode:
		switch v := n.Value.(type) {
		case map[string]struct{}: // x in ["a", "b"], compiled
			for text := range v {
				c.list = append(c.list, text)
			}
		case map[int]struct{}:
			for number := range v {
				c.list = append(c.list, float64(number))
			}
		case string:
			c.list = append(c.list, v)
		}
	}
}
