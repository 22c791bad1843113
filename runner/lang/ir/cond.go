package ir

import (
	"fmt"

	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/formula"
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
	code   *formula.Program
}

// CompileExpr parses an expression. The error is one line about the expression.
func CompileExpr(source string, span diag.Span) (*Expr, error) {
	code, err := formula.Compile(source)
	if err != nil {
		return nil, fmt.Errorf("expression %s: %w", quote(source), err)
	}
	return &Expr{Source: source, Span: span, code: code}, nil
}

// Eval runs the expression in env.
func (e *Expr) Eval(env map[string]any) (any, error) {
	v, err := e.code.Eval(env)
	if err != nil {
		return nil, fmt.Errorf("expression %s: %w", quote(e.Source), err)
	}
	return v, nil
}

// Reads lists what the expression reads: see [formula.Program.Reads].
func (e *Expr) Reads() [][]string { return e.code.Reads() }

// Constants lists the numbers and texts in it: see [formula.Program.Constants].
func (e *Expr) Constants() []any { return e.code.Constants() }
