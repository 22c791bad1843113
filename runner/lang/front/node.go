package front

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/ir"
	"github.com/pawl-ci/pawl/runner/lang/syntax"
)

// node fills one declared node.
func (l *lowering) node(n *syntax.Node) {
	out := l.nodes[n.Name.Name]
	if out.Op != nil {
		return
	}
	props := n.Props
	out.In, out.Out = l.schema(props.Value("input")), l.schema(props.Value("output"))
	if v := props.Value("publish"); v != nil {
		out.Publish = v.Str
	}
	if v := props.Value("timeout"); v != nil {
		out.Timeout = v.Duration()
	}
	if v := props.Value("retries"); v != nil {
		out.Retries = int(v.Int())
	}
	out.Op = l.op(n)
	l.awaited(out, props)
}

func (l *lowering) op(n *syntax.Node) ir.Op {
	switch n.Kind {
	case syntax.Agent:
		return l.call(n.Props, ir.Agent)
	case syntax.Judge:
		return l.call(n.Props, ir.Judge)
	case syntax.Router:
		return l.route(n.Props)
	case syntax.Join:
		return l.join(n.Props, "strategy")
	case syntax.Human:
		return l.ask(n.Props)
	case syntax.Tool:
		return l.exec(n.Props)
	}
	return l.compute(n.Props)
}

func (l *lowering) call(props syntax.Props, role ir.CallRole) *ir.Call {
	c := &ir.Call{
		Role: role, Session: ir.Fresh, Model: l.value(props.Value("model"), false),
		System: l.prompt(props.Value("system")), User: l.prompt(props.Value("user")),
		Effort: word(props, "reasoning_effort"),
	}
	c.Backend = l.backend(props.Value("backend"))
	if c.Backend == "" && c.Model == nil && props.Value("backend") == nil {
		c.Backend = l.backend(l.decl.Props.Value("backend"))
	}
	if s := word(props, "session"); s != "" {
		c.Session = ir.Session(s)
	}
	if v := props.Value("tool_max_steps"); v != nil {
		c.MaxSteps = int(v.Int())
	}
	if v := props.Value("max_tokens"); v != nil {
		c.MaxTokens = v.Int()
	}
	if v := props.Value("temperature"); v != nil {
		t := v.Float()
		c.Temperature = &t
	}
	if v := props.Value("readonly"); v != nil {
		c.Readonly = v.Bool()
	}
	c.Interaction = ir.Interaction(word(props, "interaction"))
	if v := l.decl.Props.Value("interaction"); v != nil && c.Interaction == "" {
		c.Interaction = ir.Interaction(v.Str)
	}
	if c.Interaction == "none" {
		c.Interaction = ir.NoInteraction
	}
	c.InteractionPrompt = l.prompt(props.Value("interaction_prompt"))
	c.InteractionModel = l.value(props.Value("interaction_model"), false)
	for i, items := 0, props.Value("tools").Items(); i < len(items); i++ {
		c.Tools = append(c.Tools, ir.ToolRef{Name: items[i].Str, Span: items[i].Span})
	}
	c.Tools = append(c.Tools, l.serverTools(props, c.Tools)...)
	return c
}

// ownBackend are words for a node that pawl itself asks a model for.
var ownBackend = []string{"pawl", "native", "model", "api"}

// backendNames are other spellings of backends.
var backendNames = map[string]string{"claude": "claude_code", "claude-code": "claude_code", "codex_cli": "codex", "codex-cli": "codex"}

// backend is the program that does the work instead of a model, or "". Which one
// it is decides what can be checked, so that it is known when the file is
// compiled.
func (l *lowering) backend(v *syntax.Value) string {
	t := l.value(v, false)
	if t == nil {
		return ""
	}
	if len(t.Refs()) > 0 {
		l.list.Errorf("P169", v.Span, "name it, or take it from the environment: ${NAME:-claude_code}", "a backend that is only known at run time cannot be run by this version of pawl")
		return ""
	}
	name, _ := t.Render(nil, nil) // without a reference there is nothing to fail
	name = strings.TrimSpace(name)
	if slices.Contains(ownBackend, name) {
		return ""
	}
	return cmp.Or(backendNames[name], name)
}

// decider is the model of a router or of a human node: it has no tools and asks
// nobody.
func (l *lowering) decider(props syntax.Props) *ir.Call {
	c := l.call(props, ir.Judge)
	c.Interaction, c.Tools = ir.NoInteraction, nil
	return c
}

func (l *lowering) route(props syntax.Props) *ir.Route {
	r := &ir.Route{Mode: ir.RouteMode(word(props, "mode"))}
	if r.Mode == "" {
		r.Mode = ir.Condition
	}
	if v := props.Value("multi"); v != nil {
		r.Multi = v.Bool()
	}
	if r.Mode == ir.LLM {
		r.Call = l.decider(props)
	}
	return r
}

func (l *lowering) ask(props syntax.Props) *ir.Ask {
	a := &ir.Ask{Mode: ir.Pause, Instructions: l.prompt(props.Value("instructions"))}
	if m := word(props, "mode"); m != "" {
		a.Mode = ir.AskMode(m)
	}
	if v := props.Value("min_answers"); v != nil {
		a.MinAnswers = int(v.Int())
	}
	if a.Mode != ir.Pause {
		a.Call = l.decider(props)
	}
	return a
}

func (l *lowering) exec(props syntax.Props) *ir.Exec {
	e := &ir.Exec{Uses: word(props, "uses")}
	if e.Uses == "" {
		e.Command = l.value(props.Value("command"), true)
	}
	if v := props.Value("readonly"); v != nil {
		e.Readonly = v.Bool()
	}
	if v := props.Value("network"); v != nil {
		e.Network = v.Str == "allow"
	}
	for i, entries := 0, props.Value("with").Entries(); i < len(entries); i++ {
		e.With = append(e.With, l.binding(&entries[i]))
	}
	return e
}

func (l *lowering) compute(props syntax.Props) *ir.Compute {
	c := &ir.Compute{}
	for i, entries := 0, props.Value("expr").Entries(); i < len(entries); i++ {
		e := &entries[i]
		if compiled := l.expression(&e.Value); compiled != nil {
			c.Fields = append(c.Fields, ir.ComputeField{Name: e.Key.Name, Expr: compiled, Span: e.Span()})
		}
	}
	return c
}

func word(props syntax.Props, key string) string {
	if v := props.Value(key); v != nil {
		return v.Str
	}
	return ""
}

// value is a property that may hold references.
func (l *lowering) value(v *syntax.Value, command bool) *ir.Template {
	if v == nil {
		return nil
	}
	return l.template(v.Str, v.Text(), command)
}

// prompt resolves the name of a prompt; its text is parsed once however many
// nodes use it.
func (l *lowering) prompt(v *syntax.Value) *ir.Template {
	if v == nil {
		return nil
	}
	p := l.file.Prompt(v.Str)
	if p == nil {
		l.list.Errorf("C003", v.Span, diag.Suggest(v.Str, promptNames(l.file)), "there is no prompt %s", v.Str)
		return nil
	}
	l.used["prompt "+v.Str] = true
	if l.prompts[v.Str] == nil {
		l.prompts[v.Str] = l.template(p.Body.Value, p.Body, false)
	}
	return l.prompts[v.Str]
}

func promptNames(f *syntax.File) []string {
	names := make([]string, len(f.Prompts))
	for i, p := range f.Prompts {
		names[i] = p.Name.Name
	}
	return names
}

func (l *lowering) schema(v *syntax.Value) *ir.Schema {
	if v == nil {
		return nil
	}
	s := l.schemas[v.Str]
	if s == nil {
		names := make([]string, len(l.file.Schemas))
		for i, s := range l.file.Schemas {
			names[i] = s.Name.Name
		}
		l.list.Errorf("C002", v.Span, diag.Suggest(v.Str, names), "there is no schema %s", v.Str)
		return nil
	}
	l.used["schema "+v.Str] = true
	return s
}

func (l *lowering) conflict(have *ir.Loop, as *syntax.Loop) {
	l.list.Add(diag.Diagnostic{
		Code: "C005", Severity: diag.Error, Span: as.Span, Hint: "give both edges the same bound, or the loops different names",
		Message: fmt.Sprintf("loop %s is bounded by %d here and by %d elsewhere", have.Name, as.Max, have.Max),
		Related: []diag.Related{{Span: have.Span, Message: "the first one is here"}},
	})
}
