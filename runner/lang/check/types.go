package check

import (
	"slices"
	"strings"

	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// value is what is known of a value before the run.
type value struct {
	kind gates.Kind // "" when nothing is known; also object and list
	enum []string
}

// Kinds of values that no field has.
const (
	object gates.Kind = "object"
	list   gates.Kind = "list"
)

func of(f *ir.Field) value {
	if f == nil {
		return value{}
	}
	return value{f.Kind, f.Enum}
}

// describe is the value's type for people.
func (v value) describe() string {
	f := ir.Field{Field: gates.Field{Kind: v.kind, Enum: v.enum}}
	return f.Describe()
}

// at is what a reference brings in where it stands.
func (c *checker) at(n *ir.Node, ref *ir.Ref) value {
	path := ref.Path
	switch {
	case ref.Root == ir.RootRun && len(path) == 1:
		if path[0] == "attempt" {
			return value{kind: gates.Int}
		}
		return value{kind: gates.String}
	case ref.Root == ir.RootLoop && len(path) == 2:
		return value{kind: gates.Int}
	case ref.Root == ir.RootVars && len(path) == 1:
		if v := c.w.Var(path[0]); v != nil {
			return of(&v.Type)
		}
	case ref.Root == ir.RootInput && len(path) == 1:
		return of(n.In.Field(path[0]))
	case ref.Root == ir.RootInput && len(path) == 0, ref.Root == ir.RootVars && len(path) == 0:
		return value{kind: object}
	case ref.Root == ir.RootOutputs && len(path) > 0:
		return output(c.w.Node(path[0]), path[1:])
	case ref.Root == ir.RootArtifacts && len(path) > 0:
		if by := c.publishers[path[0]]; len(by) == 1 {
			return output(by[0], path[1:])
		}
	}
	return value{}
}

// output is what path leads to in the output of n.
func output(n *ir.Node, path []string) value {
	switch {
	case n == nil:
		return value{}
	case len(path) == 0:
		return value{kind: object}
	case len(path) > 1:
		return value{}
	}
	fields, known := n.OutputFields()
	for i := range fields {
		if fields[i].Name == path[0] {
			return of(&fields[i])
		}
	}
	if path[0] == "history" {
		return value{kind: list}
	}
	if _, exec := n.Op.(*ir.Exec); exec && !known {
		return value{kind: standard[path[0]]}
	}
	return value{}
}

// fit is how a value and a field go together.
type fit int

const (
	fits   fit = iota
	doubts     // it depends on the value
	never
)

// into tells whether v goes into f, as [ir.Field.Take] will.
func (v value) into(f *ir.Field) fit {
	switch {
	case v.kind == "" || v.kind == gates.JSON || f.Kind == gates.JSON || f.Kind == "":
		return fits
	case f.Kind == gates.String && len(f.Enum) == 0:
		return fits
	case len(v.enum) > 0 && v.kind == gates.String:
		return v.each(f)
	case v.kind == f.Kind && len(f.Enum) == 0, v.kind == gates.Int && f.Kind == gates.Float, v.kind == gates.String && f.Kind == gates.Strings && len(f.Enum) == 0:
		return fits
	case v.kind == gates.String, v.kind == f.Kind, v.kind == gates.Float && f.Kind == gates.Int:
		return doubts
	case v.kind == list && f.Kind == gates.Strings:
		return doubts
	}
	return never
}

// each tells whether the texts of a closed set go into f.
func (v value) each(f *ir.Field) fit {
	good := 0
	for _, text := range v.enum {
		if _, ok := f.Take(text); ok {
			good++
		}
	}
	switch good {
	case len(v.enum):
		return fits
	case 0:
		return never
	}
	return doubts
}

// standard are the fields that a tool node without a schema always has.
var standard = map[string]gates.Kind{
	"exit_code": gates.Int, "passed": gates.Bool, "success": gates.Bool, "stdout": gates.String, "stderr": gates.String,
	"output": gates.String, "result": gates.String, "duration_ms": gates.Int,
}

func meta(name string) bool { return strings.HasPrefix(name, "_") }

func has(fields []ir.Field, name string) bool {
	return slices.ContainsFunc(fields, func(f ir.Field) bool { return f.Name == name })
}

func fieldNames(fields []ir.Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}
