package recipe

import (
	"fmt"
	"slices"
	"time"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/report/score"
	"github.com/pawl-ci/pawl/runner/lang/data"
	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/front"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// Options are what applying must know beside workflow and recipe.
type Options struct {
	// Env looks up ${NAME} in prompts and models; nil knows no name.
	Env func(name string) (value string, set bool)
	// Tools maps every name that may be listed to the tool's proper name; nil
	// switches the rule about tool names off.
	Tools func(name string) (proper string, known bool)
	// ToolNames lists the proper names, sorted, for hints and for builtin.*.
	ToolNames []string
}

// Apply makes the workflow that the recipe asks for. w must be sealed, and stays
// as it is; so does r. The policy is nil when the recipe has none. Only a list
// without errors makes a workflow that may run, once the rules over workflows
// have been applied to it too: what a new prompt refers to is theirs to judge.
//
// The same recipe applied again changes nothing any more, and the order of what
// it says does not matter.
func Apply(w *ir.Workflow, r *Recipe, opt Options) (*ir.Workflow, *score.Policy, diag.List) {
	a := &applying{w: w.Clone(), r: r, opt: opt}
	a.workflow()
	a.vars()
	a.prompts()
	a.limits()
	a.models()
	a.tools()
	policy := a.policy()
	a.w.Seal()
	a.list.Sort()
	return a.w, policy, a.list
}

// applying is one recipe being applied to a workflow of its own.
type applying struct {
	w    *ir.Workflow
	r    *Recipe
	opt  Options
	list diag.List
}

// workflow refuses a recipe that was made for another workflow.
func (a *applying) workflow() {
	ref := a.r.Workflow
	if ref.Name != "" && ref.Name != a.w.Name {
		a.list.Add(diag.Diagnostic{
			Code: "P181", Severity: diag.Error, Span: ref.NameSpan,
			Message: fmt.Sprintf("recipe %s is for workflow %s, and this is workflow %s", a.r.Name, ref.Name, a.w.Name),
			Hint:    "run it with its own workflow, or write name: " + a.w.Name,
			Related: []diag.Related{{Span: a.w.Span, Message: "the workflow is here"}},
		})
	}
}

// vars gives variables other defaults; what the caller sets wins over them.
func (a *applying) vars() {
	var names []string
	for _, v := range a.w.Vars {
		names = append(names, v.Name)
	}
	for _, s := range a.r.Vars {
		v := a.w.Var(s.Name)
		if v == nil {
			a.list.Errorf("C033", s.At, diag.Suggest(s.Name, names), "workflow %s has no variable %s", a.w.Name, s.Name)
			continue
		}
		value, ok := v.Type.Coerce(s.Value.Plain())
		if !ok {
			a.list.Add(diag.Diagnostic{
				Code: "P143", Severity: diag.Error, Span: s.Value.Span, Hint: "give a value of type " + v.Type.Describe(),
				Message: fmt.Sprintf("variable %s: this is %s, not %s", s.Name, s.Value.Kind, v.Type.Describe()),
				Related: []diag.Related{{Span: v.Span, Message: "the variable is declared here"}},
			})
			continue
		}
		v.Default, v.HasDef = value, true
	}
}

// prompts puts other texts in the place of prompts.
func (a *applying) prompts() {
	var names []string
	for _, p := range a.w.Prompts {
		names = append(names, p.Name)
	}
	with := make(map[*ir.Template]*ir.Template)
	for _, s := range a.r.Prompts {
		i := slices.Index(names, s.Name)
		switch {
		case i < 0:
			a.list.Errorf("C003", s.At, diag.Suggest(s.Name, names), "workflow %s has no prompt %s", a.w.Name, s.Name)
		case a.w.Prompts[i].Text == nil:
			a.list.Warnf("P183", s.At, "delete the entry, or give the prompt to a node", "prompt %s is used by no node: another text changes nothing", s.Name)
		default:
			text := a.template(s.Value)
			with[a.w.Prompts[i].Text] = text
			a.w.Prompts[i].Text = text
		}
	}
	a.w.ReplaceTemplates(with)
}

// template parses a text of the recipe; it keeps its places there.
func (a *applying) template(v *data.Value) *ir.Template {
	t, env, list := front.Template(v.Str, v, front.Options{Env: a.opt.Env})
	a.list = append(a.list, list...)
	for name, value := range env {
		a.w.Env[name] = value
	}
	return t
}

// limits tightens limits and sets those that are missing. It never widens one:
// what a workflow promises to cost at most, no recipe takes back.
func (a *applying) limits() {
	for _, l := range a.r.Limits {
		have := l.get(&a.w.Limits)
		if *have > 0 && l.max > *have {
			a.list.Warnf("P183", l.At, "a recipe can only tighten it; --"+flagOf(l.Name)+" and the workflow itself can widen it",
				"%s is above the workflow's own, which stays: %s", l.Name, limitText(l.Name, *have))
			continue
		}
		*have = l.max
	}
}

func flagOf(limit string) string {
	flag := []byte(limit)
	for i := range flag {
		if flag[i] == '_' {
			flag[i] = '-'
		}
	}
	return string(flag)
}

func limitText(name string, n int64) string {
	switch name {
	case "max_cost_usd":
		return budget.Micros(n).String()
	case "max_duration":
		return time.Duration(n).String()
	}
	return fmt.Sprint(n)
}

// models gives nodes other models: each its own, or one for all.
func (a *applying) models() {
	if a.r.Model != nil {
		model := a.template(a.r.Model)
		for _, n := range a.w.Nodes {
			if c := callOf(n.Op); c != nil {
				c.Model = model
			}
		}
	}
	for _, s := range a.r.Models {
		if c := a.asks(s.Name, s.At); c != nil {
			c.Model = a.template(s.Value)
		}
	}
}

// asks is how the named node asks a model, or nil when there is no such node or
// it asks none.
func (a *applying) asks(node string, at diag.Span) *ir.Call {
	n := a.w.Node(node)
	var callers []string
	for _, other := range a.w.Nodes {
		if callOf(other.Op) != nil {
			callers = append(callers, other.ID)
		}
	}
	if n == nil {
		a.list.Errorf("P182", at, diag.Suggest(node, callers), "workflow %s has no node %s", a.w.Name, node)
		return nil
	}
	c := callOf(n.Op)
	if c == nil {
		a.list.Errorf("P182", at, diag.Suggest("", callers), "node %s asks no model", node)
	}
	return c
}

// callOf is how an operation asks a model, or nil when it never does.
func callOf(op ir.Op) *ir.Call {
	switch op := op.(type) {
	case *ir.Call:
		return op
	case *ir.Route:
		return op.Call
	case *ir.Ask:
		return op.Call
	}
	return nil
}
