package recipe

import (
	"slices"
	"strings"

	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/report/score"
	"github.com/pawl-ci/pawl/runner/lang/data"
	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// policy checks the evaluation against the workflow and fills in the direction.
func (a *applying) policy() *score.Policy {
	e := a.r.Evaluation
	if e == nil {
		return nil
	}
	p := &score.Policy{Metric: e.Metric.Str, Direction: e.Direction}
	field := a.metric(e.Metric)
	if p.Direction == score.NoDirection {
		p.Direction = better(field)
	}
	if e.Success != nil {
		p.Success = e.Success.Str
		a.success(e.Success, field)
	}
	for _, s := range e.Secondary {
		a.metric(s)
		p.Secondary = append(p.Secondary, s.Str)
	}
	return p
}

// better is the direction of a metric for which the recipe gives none.
func better(f measured) score.Direction {
	switch f.kind {
	case gates.Bool, gates.Int, gates.Float:
		if f.builtin != "" {
			return f.builtin
		}
		return score.Higher
	}
	return score.NoDirection
}

// measured is what is known about a metric's values before the run.
type measured struct {
	kind    gates.Kind // "" when anything may come
	enum    []string
	builtin score.Direction
}

// metric resolves the name of a metric.
func (a *applying) metric(v *data.Value) measured {
	if m, ok := score.Builtin(v.Str); ok {
		kind := gates.Float
		if m.Name == "verified" {
			kind = gates.Bool
		}
		return measured{kind: kind, builtin: m.Direction}
	}
	path := strings.Split(v.Str, ".")
	switch {
	case slices.Contains(path, ""):
		a.list.Errorf("P185", v.Span, "write approved, reviewer.approved or artifacts.verdict.score", "metric %q is no name", v.Str)
		return measured{}
	case len(path) == 1 && a.w.Node(path[0]) == nil:
		return a.anyField(v)
	case path[0] == "artifacts":
		return a.artifact(v, path[1:])
	case path[0] == "outputs":
		path = path[1:]
	}
	n := a.w.Node(path[0])
	if n == nil {
		a.list.Errorf("P185", v.Span, diag.Suggest(path[0], a.nodeNames()), "metric %s: workflow %s has no node %s", v.Str, a.w.Name, path[0])
		return measured{}
	}
	return a.fieldOf(v, []*ir.Node{n}, path[1:])
}

func (a *applying) nodeNames() []string {
	var list []string
	for _, n := range a.w.Nodes {
		if _, end := n.Op.(*ir.End); !end {
			list = append(list, n.ID)
		}
	}
	return list
}

// commandFields are the fields of every command's output, with or without a
// schema.
var commandFields = []string{"exit_code", "passed", "success", "stdout", "stderr", "output", "result", "duration_ms"}

// anyField is a field that some node gives.
func (a *applying) anyField(v *data.Value) measured {
	var among []*ir.Node
	known := metricNames()
	for _, n := range a.w.Nodes {
		if _, end := n.Op.(*ir.End); end {
			continue
		}
		fields, sure := n.OutputFields()
		for _, f := range fields {
			known = append(known, f.Name)
		}
		if hasField(fields, v.Str) || !sure && slices.Contains(commandFields, v.Str) {
			among = append(among, n)
		}
	}
	if len(among) == 0 {
		a.list.Errorf("P185", v.Span, diag.Suggest(v.Str, known), "metric %s: no node of workflow %s gives such a field", v.Str, a.w.Name)
		return measured{}
	}
	return a.fieldOf(v, among, []string{v.Str})
}

func (a *applying) artifact(v *data.Value, path []string) measured {
	var among []*ir.Node
	var published []string
	for _, n := range a.w.Nodes {
		if n.Publish != "" {
			published = append(published, n.Publish)
		}
		if n.Publish == path[0] {
			among = append(among, n)
		}
	}
	if len(among) == 0 {
		a.list.Errorf("P185", v.Span, diag.Suggest(path[0], published), "metric %s: no node publishes %s", v.Str, path[0])
		return measured{}
	}
	return a.fieldOf(v, among, path[1:])
}

// fieldOf finds the type of a field that one of the nodes gives.
func (a *applying) fieldOf(v *data.Value, among []*ir.Node, path []string) measured {
	if len(path) == 0 {
		a.list.Errorf("P185", v.Span, "name one of its fields", "metric %s is a whole output, which is neither better nor worse than another", v.Str)
		return measured{}
	}
	var known []string
	for _, n := range among {
		fields, sure := n.OutputFields()
		if !sure {
			return measured{}
		}
		for _, f := range fields {
			known = append(known, f.Name)
			if f.Name != path[0] {
				continue
			}
			if len(path) > 1 {
				return measured{} // inside of JSON anything may come
			}
			return measured{kind: f.Kind, enum: f.Enum}
		}
	}
	a.list.Errorf("P185", v.Span, diag.Suggest(path[0], known), "metric %s: there is no field %s", v.Str, path[0])
	return measured{}
}

func hasField(fields []ir.Field, name string) bool {
	return slices.ContainsFunc(fields, func(f ir.Field) bool { return f.Name == name })
}

// success refuses a value that the metric can never have.
func (a *applying) success(v *data.Value, m measured) {
	wish, err := score.ParseWish(v.Str)
	if err != nil {
		return // the parser has said so
	}
	_, number := score.Number(wish.Want())
	never := ""
	switch {
	case m.kind == gates.Bool && wish.Want() != "true" && wish.Want() != "false":
		never = "true or false"
	case (m.kind == gates.Int || m.kind == gates.Float) && !number:
		never = "a number"
	case (m.kind == gates.String || m.kind == gates.Strings) && wish.Numeric():
		never = "text, which is not larger or smaller than a number"
	case m.kind == gates.String && len(m.enum) > 0 && !slices.Contains(m.enum, wish.Want()):
		never = "one of: " + strings.Join(m.enum, ", ")
	}
	if never != "" {
		a.list.Errorf("P186", v.Span, "the metric is "+never, "success_value %s: metric %s can never be that", v.Str, a.r.Evaluation.Metric.Str)
	}
}
