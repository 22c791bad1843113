package ir

import (
	"fmt"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"
	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/runner/lang/diag"
)

// Cond is an edge's condition: either a bool field of the source's output,
// possibly negated, or an expression.
type Cond struct {
	Field string
	Not   bool
	Expr  *Expr // set for `when "EXPR"`
	Span  diag.Span
}

// String is the condition as written.
func (c *Cond) String() string {
	switch {
	case c.Expr != nil:
		return quote(c.Expr.Source)
	case c.Not:
		return "not " + c.Field
	}
	return c.Field
}

// Holds evaluates the condition. output is what left the source; env is only
// asked for when the condition is an expression.
func (c *Cond) Holds(output map[string]any, env func() map[string]any) (bool, error) {
	if c.Expr != nil {
		v, err := c.Expr.Eval(env())
		if err != nil {
			return false, err
		}
		return asBool(v, "expression "+quote(c.Expr.Source))
	}
	v, given := output[c.Field]
	if !given {
		return false, fmt.Errorf("condition %q: the output has no such field", c.Field)
	}
	b, err := asBool(v, fmt.Sprintf("condition %q", c.Field))
	return b != c.Not, err
}

func asBool(v any, what string) (bool, error) {
	f := Field{Field: gates.Field{Kind: gates.Bool}}
	b, ok := f.Coerce(v)
	if !ok {
		return false, fmt.Errorf("%s: want bool, got %s", what, brief(v))
	}
	return b.(bool), nil
}

// Expr is a compiled expression over output, input, vars, outputs, loop,
// artifacts, run and event. It cannot reach a clock, the network or the file system.
type Expr struct {
	Source string
	Span   diag.Span
	code   *vm.Program
}

// unsteady are the library's functions whose result depends on when they run or
// on the order of a map: a replay could decide otherwise.
var unsteady = []string{"now", "date", "duration", "timezone", "keys", "values", "toPairs"}

// exprRoots are the names an expression may begin a reference with.
var exprRoots = []string{"output", "input", "vars", "outputs", "loop", "artifacts", "run", "event"}

// CompileExpr parses an expression. The error is one line about the expression.
func CompileExpr(source string, span diag.Span) (*Expr, error) {
	roots := make(map[string]any, len(exprRoots))
	for _, name := range exprRoots {
		roots[name] = map[string]any{}
	}
	options := []expr.Option{expr.Env(roots), expr.Patch(nullOutputs{})}
	for _, name := range unsteady {
		options = append(options, expr.DisableBuiltin(name))
	}
	code, err := expr.Compile(source, options...)
	if err != nil {
		return nil, fmt.Errorf("expression %s: %s", quote(source), firstLine(err))
	}
	return &Expr{Source: source, Span: span, code: code}, nil
}

// nullOutputs makes outputs.x.field null while x has no output, as it is in
// templates: the library would call it an error.
type nullOutputs struct{}

// Visit implements ast.Visitor; it comes to the inner parts of a path first.
func (nullOutputs) Visit(node *ast.Node) {
	member, ok := (*node).(*ast.MemberNode)
	if !ok || member.Method || member.Optional {
		return
	}
	if depth := outputsDepth(member); depth > 1 {
		member.Optional = true
		ast.Patch(node, &ast.ChainNode{Node: member})
	}
}

// outputsDepth is how far below outputs a path leads; 0 when it does not begin
// there.
func outputsDepth(node ast.Node) int {
	switch node := node.(type) {
	case *ast.ChainNode:
		return outputsDepth(node.Node)
	case *ast.MemberNode:
		if depth := outputsDepth(node.Node); depth > 0 {
			return depth + 1
		}
		if root, ok := node.Node.(*ast.IdentifierNode); ok && root.Value == "outputs" {
			return 1
		}
	}
	return 0
}

// Eval runs the expression in env.
func (e *Expr) Eval(env map[string]any) (any, error) {
	v, err := expr.Run(e.code, env)
	if err != nil {
		return nil, fmt.Errorf("expression %s: %s", quote(e.Source), firstLine(err))
	}
	return v, nil
}

// firstLine drops the drawing that the library adds to its messages.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
