package runnertest

import (
	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// Flow builds workflows in tests.
type Flow struct {
	w     *ir.Workflow
	loops map[string]*ir.Loop
}

// NewFlow begins a workflow with a worktree, no limits and `verify: auto`.
func NewFlow(name string) *Flow {
	return &Flow{
		w:     &ir.Workflow{Name: name, Worktree: true, Verify: ir.Verify{Explicit: true}},
		loops: make(map[string]*ir.Loop),
	}
}

// Node adds a node; the first one is the entry.
func (f *Flow) Node(id string, op ir.Op, out ...ir.Field) *ir.Node {
	n := &ir.Node{ID: id, Op: op, Retries: -1}
	if len(out) > 0 {
		n.Out = &ir.Schema{Name: id + "_out", Fields: out}
	}
	f.w.Nodes = append(f.w.Nodes, n)
	if f.w.Entry == nil {
		f.w.Entry = n
	}
	return n
}

// EdgeOption refines an edge.
type EdgeOption func(*Flow, *ir.Edge)

// Edge connects two nodes; done and fail need no declaration.
func (f *Flow) Edge(from, to string, options ...EdgeOption) *Flow {
	e := &ir.Edge{From: f.node(from), To: f.node(to)}
	e.From.Edges = append(e.From.Edges, e)
	for _, o := range options {
		o(f, e)
	}
	return f
}

// When makes the edge conditional on a bool field.
func When(field string) EdgeOption {
	return func(_ *Flow, e *ir.Edge) { e.Cond = &ir.Cond{Field: field} }
}

// WhenNot makes the edge conditional on a bool field being false.
func WhenNot(field string) EdgeOption {
	return func(_ *Flow, e *ir.Edge) { e.Cond = &ir.Cond{Field: field, Not: true} }
}

// As counts the edge in a loop.
func As(loop string, most int) EdgeOption {
	return func(f *Flow, e *ir.Edge) {
		if f.loops[loop] == nil {
			f.loops[loop] = &ir.Loop{Name: loop, Max: most}
			f.w.Loops = append(f.w.Loops, f.loops[loop])
		}
		e.Loop = f.loops[loop]
	}
}

// With maps one value onto the edge's input.
func With(key string, value *ir.Template) EdgeOption {
	return func(_ *Flow, e *ir.Edge) { e.With = append(e.With, ir.Binding{Key: key, Value: value}) }
}

// Ref is a template that is one reference.
func Ref(root ir.Root, path ...string) *ir.Template {
	return &ir.Template{Parts: []ir.Part{{Ref: &ir.Ref{Root: root, Path: path}}}}
}

// Field describes one field of a schema.
func Field(name string, kind gates.Kind) ir.Field {
	return ir.Field{Field: gates.Field{Name: name, Kind: kind}}
}

// Limits sets the purse's bounds.
func (f *Flow) Limits(l budget.Limits) *Flow { f.w.Limits = l; return f }

// Seal returns the finished workflow.
func (f *Flow) Seal() *ir.Workflow {
	f.w.Seal()
	return f.w
}

func (f *Flow) node(id string) *ir.Node {
	for _, n := range f.w.Nodes {
		if n.ID == id {
			return n
		}
	}
	return f.Node(id, &ir.End{Fail: id == ir.FailID})
}

// CIFix is the main job in small: run the tests, let an agent fix them at most
// three times, ask a person, verify, done.
func CIFix() *ir.Workflow {
	f := NewFlow("ci_fix")
	f.Node("run_tests", &ir.Exec{Command: ir.Literal("test"), Readonly: true},
		Field("passed", gates.Bool), Field("output", gates.String))
	f.Node("fixer", &ir.Call{Model: ir.Literal("m"), Session: ir.Fresh, Tools: []ir.ToolRef{{Name: "read_file"}, {Name: "write_file"}},
		User: Ref(ir.RootInput, "output")}, Field("summary", gates.String))
	f.Node("approve", &ir.Ask{Mode: ir.Pause}, Field("approved", gates.Bool))
	f.Edge("run_tests", "approve", When("passed"))
	f.Edge("run_tests", "fixer", WhenNot("passed"), As("fix", 3))
	f.Edge("fixer", "run_tests")
	f.Edge("approve", "done", When("approved"))
	f.Edge("approve", "fail", WhenNot("approved"))
	return f.Seal()
}

// Writers is parallel work in small: three branches, of which one forks again,
// each with something to write; a gate in one of them; a judge at the end.
// conflict is the policy of the outer join.
func Writers(conflict string) *ir.Workflow {
	f := NewFlow("writers")
	text := Field("text", gates.String)
	agent := func(id string) {
		f.Node(id, &ir.Call{Model: ir.Literal("m"), Session: ir.Fresh, Tools: []ir.ToolRef{{Name: "read_file"}, {Name: "write_file"}}}, text)
	}
	command := func(id, line string, readonly bool) {
		f.Node(id, &ir.Exec{Command: ir.Literal(line), Readonly: readonly}, text)
	}
	f.Node("split", &ir.Route{Mode: ir.FanOutAll})
	agent("code")
	agent("manual")
	f.Node("approve", &ir.Ask{Mode: ir.Pause}, Field("approved", gates.Bool))
	f.Node("again", &ir.Route{Mode: ir.FanOutAll})
	command("left", "write left.txt", false)
	command("right", "write right.txt", false)
	command("look", "look", true)
	f.Node("inner", &ir.Join{})
	f.Node("outer", &ir.Join{Conflict: conflict})
	command("judge", "look", true)
	agent("mend")
	f.Edge("split", "code").Edge("split", "manual").Edge("split", "again")
	f.Edge("code", "outer")
	f.Edge("manual", "approve").Edge("approve", "outer")
	f.Edge("again", "left").Edge("again", "right").Edge("again", "look")
	f.Edge("left", "inner").Edge("right", "inner").Edge("look", "inner")
	f.Edge("inner", "outer").Edge("outer", "judge").Edge("judge", "done")
	return f.Seal()
}
