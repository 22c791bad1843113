package formula

import (
	"errors"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"
)

// Program is a compiled expression. It may be used from many goroutines.
type Program struct {
	code *vm.Program
}

// unsteady are the library's functions whose result depends on when they run or
// on the order of a map: a replay could decide otherwise.
var unsteady = []string{"now", "date", "duration", "timezone", "keys", "values", "toPairs"}

// Roots are the names an expression may begin a reference with.
var Roots = []string{"output", "input", "vars", "outputs", "loop", "artifacts", "run", "event"}

// Compile parses an expression. The error is one line about it.
func Compile(source string) (*Program, error) {
	roots := make(map[string]any, len(Roots))
	for _, name := range Roots {
		roots[name] = map[string]any{}
	}
	options := []expr.Option{expr.Env(roots), expr.Patch(nullOutputs{})}
	for _, name := range unsteady {
		options = append(options, expr.DisableBuiltin(name))
	}
	code, err := expr.Compile(source, options...)
	if err != nil {
		return nil, firstLine(err)
	}
	return &Program{code}, nil
}

// Eval runs the expression in env, which holds values by the names in [Roots].
// The error is one line.
func (p *Program) Eval(env map[string]any) (any, error) {
	v, err := expr.Run(p.code, env)
	if err != nil {
		return nil, firstLine(err)
	}
	return v, nil
}

// firstLine drops the drawing that the library adds to its messages.
func firstLine(err error) error {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return errors.New(line)
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
