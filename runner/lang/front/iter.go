package front

import (
	"strings"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/ir"
	"github.com/pawl-ci/pawl/runner/lang/syntax"
)

// vars takes the file's variables, and the workflow's in front of them.
func (l *lowering) vars() {
	seen := make(map[string]bool)
	for _, list := range [][]*syntax.Var{l.decl.Vars, l.file.Vars} {
		for _, v := range list {
			if seen[v.Name.Name] {
				continue
			}
			seen[v.Name.Name] = true
			out := &ir.Var{Name: v.Name.Name, Span: v.Span()}
			out.Type = ir.Field{Field: gates.Field{Name: v.Name.Name, Kind: gates.Kind(v.Type)}, Span: v.TypeSpan}
			if v.Default != nil {
				out.HasDef = true
				out.Default, _ = out.Type.Coerce(v.Default.Plain()) // it fits: the parser has seen to that
			}
			l.w.Vars = append(l.w.Vars, out)
		}
	}
}

func lowerSchema(s *syntax.Schema) *ir.Schema {
	out := &ir.Schema{Name: s.Name.Name, Span: s.Span}
	for i := range s.Fields {
		f := &s.Fields[i]
		field := ir.Field{Field: gates.Field{Name: f.Name.Name, Kind: gates.Kind(f.Type), Optional: f.Optional}, Span: f.Span()}
		for j := range f.Enum {
			field.Enum = append(field.Enum, f.Enum[j].Str)
		}
		out.Fields = append(out.Fields, field)
	}
	return out
}

// declareNodes makes every node before any is lowered: edges and templates may
// name them in any order. done and fail are always there.
func (l *lowering) declareNodes() {
	for _, n := range l.file.Nodes {
		node := &ir.Node{ID: n.Name.Name, Span: n.Span, Retries: -1}
		l.nodes[node.ID] = node
		l.w.Nodes = append(l.w.Nodes, node)
	}
	for _, id := range []string{ir.DoneID, ir.FailID} {
		l.nodes[id] = &ir.Node{ID: id, Span: l.decl.Span, Retries: -1, Op: &ir.End{Fail: id == ir.FailID}}
		l.w.Nodes = append(l.w.Nodes, l.nodes[id])
	}
}

// workflow takes the workflow's own properties.
func (l *lowering) workflow() {
	props := l.decl.Props
	if entry := props.Value("entry"); entry != nil {
		l.w.Entry = l.nodes[entry.Str]
		if l.w.Entry == nil || entry.Str == ir.DoneID || entry.Str == ir.FailID {
			l.w.Entry = nil
			l.list.Errorf("C008", entry.Span, diag.Suggest(entry.Str, l.nodeNames()), "entry %s: there is no such node", entry.Str)
		}
	} else {
		l.list.Errorf("C008", l.decl.Span, "add entry: NODE; "+diag.Suggest("", l.nodeNames()), "workflow %s has no entry", l.w.Name)
	}
	if v := props.Value("worktree"); v != nil {
		l.w.Worktree = v.Str != "none"
	}
	l.verify(props.Value("verify"))
	if v := props.Value("budget"); v != nil {
		l.w.Limits = limits(v.Props())
	}
}

func limits(props syntax.Props) budget.Limits {
	var out budget.Limits
	if v := props.Value("max_tokens"); v != nil {
		out.MaxTokens = v.Int()
	}
	if v := props.Value("max_iterations"); v != nil {
		out.MaxIterations = v.Int()
	}
	if v := props.Value("max_parallel_branches"); v != nil {
		out.MaxParallelBranches = v.Int()
	}
	if v := props.Value("max_duration"); v != nil {
		out.MaxDuration = v.Duration()
	}
	if v := props.Value("max_cost_usd"); v != nil {
		out.MaxCost = budget.Micros(v.Float()*float64(budget.Dollar) + 0.5)
	}
	return out
}

func (l *lowering) verify(v *syntax.Value) {
	if v == nil {
		return
	}
	l.w.Verify.Explicit = true
	switch {
	case v.Kind == syntax.ListValue:
		l.w.Verify.Mode = ir.VerifyCommands
		for i := range v.Items() {
			l.w.Verify.Commands = append(l.w.Verify.Commands, v.Items()[i].Str)
		}
	case v.Str == "none":
		l.w.Verify.Mode = ir.VerifyNone
	case v.Str != "auto":
		l.w.Verify.Mode, l.w.Verify.Commands = ir.VerifyCommands, []string{strings.TrimSpace(v.Str)}
	}
}

func (l *lowering) nodeNames() []string {
	var names []string
	for _, n := range l.file.Nodes {
		names = append(names, n.Name.Name)
	}
	return names
}

// edge connects two nodes.
func (l *lowering) edge(e *syntax.Edge) {
	from, to := l.end(e.From), l.end(e.To)
	if from == nil || to == nil {
		return
	}
	out := &ir.Edge{Span: e.Span, From: from, To: to, Loop: l.loop(e.Loop), Cond: l.condition(e.When)}
	for i := range e.With {
		out.With = append(out.With, l.binding(&e.With[i]))
	}
	from.Edges = append(from.Edges, out)
}

func (l *lowering) end(name syntax.Ident) *ir.Node {
	n := l.nodes[name.Name]
	if n == nil {
		l.list.Errorf("C001", name.Span, diag.Suggest(name.Name, append(l.nodeNames(), ir.DoneID, ir.FailID)), "there is no node %s", name.Name)
	}
	return n
}

// loop joins edges of one name into one loop.
func (l *lowering) loop(as *syntax.Loop) *ir.Loop {
	if as == nil {
		return nil
	}
	have := l.loops[as.Name.Name]
	if have == nil {
		have = &ir.Loop{Name: as.Name.Name, Max: as.Max, Span: as.Span}
		l.loops[have.Name] = have
		l.w.Loops = append(l.w.Loops, have)
		return have
	}
	if have.Max != as.Max {
		l.conflict(have, as)
	}
	return have
}

func (l *lowering) condition(w *syntax.When) *ir.Cond {
	if w == nil {
		return nil
	}
	cond := &ir.Cond{Field: w.Field.Name, Not: w.Not, Span: w.Span}
	if w.Expr != nil {
		if cond.Expr = l.expression(w.Expr); cond.Expr == nil {
			return nil
		}
	}
	return cond
}

func (l *lowering) expression(v *syntax.Value) *ir.Expr {
	e, err := ir.CompileExpr(v.Str, v.Span)
	if err != nil {
		l.list.Errorf("P165", v.Span, "an expression reads output, input, vars, outputs, artifacts, loop and run, for example output.score > 3", "%s", err)
		return nil
	}
	return e
}

func (l *lowering) binding(e *syntax.Entry) ir.Binding {
	b := ir.Binding{Key: e.Key.Name, Span: e.Span()}
	switch e.Value.Kind {
	case syntax.StringValue, syntax.BodyValue:
		b.Value = l.template(e.Value.Str, e.Value.Text(), false)
	default:
		raw, err := ir.Encode(e.Value.Plain())
		if err != nil {
			raw = []byte("null")
		}
		b.Value = &ir.Template{Span: e.Value.Span, Parts: []ir.Part{{Const: e.Value.Plain(), IsConst: true, Text: string(raw)}}}
	}
	return b
}
