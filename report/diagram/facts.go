package diagram

import (
	"fmt"
	"strings"
	"time"

	"github.com/pawl-ci/pawl/report/words"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// How much of a text is drawn, in characters and lines. A full drawing takes as
// much as a label can hold.
const (
	maxFact  = 60
	maxFacts = 16
)

// facts collects lines of text for a level of detail.
type facts struct {
	detail  Detail
	prompts map[*ir.Template]string // their names
	lines   []string
}

// say adds a line.
func (f *facts) say(format string, args ...any) {
	limit := maxFact
	if f.detail == Full {
		limit = 2 * maxLabel
	}
	f.lines = append(f.lines, words.Clip(words.OneLine(fmt.Sprintf(format, args...)), limit))
}

// about adds a line that says what something is, unless there is nothing to say.
func (f *facts) about(what, value string) {
	if value != "" {
		f.say("%s %s", what, value)
	}
}

// when adds a word that holds or does not.
func (f *facts) when(holds bool, word string) {
	if holds {
		f.say("%s", word)
	}
}

// cut is what was said, with what is too much taken out.
func (f *facts) cut() []string {
	if more := len(f.lines) - maxFacts; more > 0 {
		return append(f.lines[:maxFacts:maxFacts], fmt.Sprintf("… and %d more", more))
	}
	return f.lines
}

// boxText is what a node's box says below its name.
func boxText(n *ir.Node, prompts map[*ir.Template]string, detail Detail) []string {
	f := facts{detail: detail, prompts: prompts}
	if kind := kindWord(n); kind != "" {
		f.say("%s", kind)
	}
	if detail == Compact {
		return f.lines
	}
	switch op := n.Op.(type) {
	case *ir.Call:
		f.call(op)
	case *ir.Route:
		f.call(op.Call)
	case *ir.Ask:
		f.ask(op)
	case *ir.Exec:
		f.exec(op)
	case *ir.Compute:
		f.compute(op)
	case *ir.Join:
		f.join(op)
	}
	f.common(n)
	return f.cut()
}

// kindWord says what a node is and, where that is a choice, how it does it.
func kindWord(n *ir.Node) string {
	switch op := n.Op.(type) {
	case *ir.Route:
		if op.Multi {
			return "router · " + string(op.Mode) + ", several"
		}
		return "router · " + string(op.Mode)
	case *ir.Join:
		if op.BestEffort {
			return "join · best_effort"
		}
		return "join · wait_all"
	case *ir.Ask:
		if op.Mode != ir.Pause && op.Mode != "" {
			return "human · " + string(op.Mode)
		}
	case *ir.End, nil:
		return ""
	}
	return n.Op.Word()
}

// call is how a model is asked; c may be nil.
func (f *facts) call(c *ir.Call) {
	if c == nil {
		return
	}
	f.about("model", templateText(c.Model))
	f.about("backend", c.Backend)
	if c.Session != "" && c.Session != ir.Fresh {
		f.about("session", string(c.Session))
	}
	f.about("effort", c.Effort)
	tools := make([]string, len(c.Tools))
	for i, t := range c.Tools {
		tools[i] = t.Name
	}
	f.about("tools", strings.Join(tools, ", "))
	f.when(c.Readonly, "changes nothing")
	if c.MaxSteps > 0 {
		f.say("at most %s with tools", words.Count(int64(c.MaxSteps), "turn"))
	}
	if c.MaxTokens > 0 {
		f.say("at most %s an answer", words.Count(c.MaxTokens, "token"))
	}
	if c.Temperature != nil {
		f.say("temperature %g", *c.Temperature)
	}
	f.about("questions go to", string(c.Interaction))
	if f.detail == Full {
		f.prompt("system", c.System)
		f.prompt("user", c.User)
	}
}

func (f *facts) ask(op *ir.Ask) {
	if op.MinAnswers > 1 {
		f.say("at least %d answers", op.MinAnswers)
	}
	if op.Mode != ir.Pause {
		f.call(op.Call)
	}
	if f.detail == Full {
		f.prompt("asks", op.Instructions)
	}
}

func (f *facts) exec(op *ir.Exec) {
	f.about("uses", op.Uses)
	f.about("runs", firstLine(templateText(op.Command)))
	f.when(op.Readonly, "changes nothing")
	f.when(op.Network, "may use the network")
	if f.detail == Full {
		f.bindings(op.With)
	} else {
		f.about("with", keys(op.With))
	}
}

func (f *facts) compute(op *ir.Compute) {
	if f.detail != Full {
		names := make([]string, len(op.Fields))
		for i, c := range op.Fields {
			names[i] = c.Name
		}
		f.about("computes", strings.Join(names, ", "))
		return
	}
	for _, c := range op.Fields {
		if c.Expr != nil {
			f.say("%s = %s", c.Name, c.Expr.Source)
		}
	}
}

func (f *facts) join(op *ir.Join) {
	f.about("requires", strings.Join(op.Require, ", "))
	if op.Conflict == ir.ConflictAsks {
		f.say("a person settles conflicts")
	} else {
		f.about("conflicts go to", op.Conflict)
	}
}

// common is what every node may have.
func (f *facts) common(n *ir.Node) {
	f.schema("takes", n.In)
	f.schema("gives", n.Out)
	f.about("publishes", n.Publish)
	if n.Timeout > 0 {
		f.say("at most %s", span(n.Timeout))
	}
	if n.Retries > 0 {
		f.say("tried again %s", times(n.Retries))
	}
}

// span is a duration as a workflow writes it: 30m, 1h30m.
func span(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = strings.TrimSuffix(text, zero[1:])
		}
	}
	return text
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return words.Count(int64(n), "time")
}

func (f *facts) schema(what string, s *ir.Schema) {
	if s == nil {
		return
	}
	if f.detail != Full {
		f.about(what, s.Name)
		return
	}
	f.say("%s %s:", what, s.Name)
	for i := range s.Fields {
		field := &s.Fields[i]
		optional := ""
		if field.Optional {
			optional = "?"
		}
		f.say("· %s%s: %s", field.Name, optional, field.Describe())
	}
}

// prompt is a text's name and first line.
func (f *facts) prompt(what string, t *ir.Template) {
	if t == nil {
		return
	}
	if name := f.prompts[t]; name != "" {
		what += " " + name
	}
	f.say("%s: %s", what, firstLine(templateText(t)))
}

func (f *facts) bindings(list []ir.Binding) {
	for _, b := range list {
		f.say("%s: %s", b.Key, templateText(b.Value))
	}
}

func keys(list []ir.Binding) string {
	names := make([]string, len(list))
	for i, b := range list {
		names[i] = b.Key
	}
	return strings.Join(names, ", ")
}

// lineText is what stands at an edge.
func lineText(e *ir.Edge, detail Detail) []string {
	f := facts{detail: detail}
	if detail != Full {
		if text := edgeLabel(e); text != "" {
			f.say("%s", text)
		}
		if detail == Detailed {
			f.about("with", keys(e.With))
		}
		return f.cut()
	}
	if e.Cond != nil {
		f.say("%s", e.Cond)
	}
	if e.Loop != nil {
		f.say("%s, at most %d", e.Loop.Name, e.Loop.Max)
	}
	f.bindings(e.With)
	return f.cut()
}

// aboutWorkflow is what holds for the workflow as a whole.
func aboutWorkflow(w *ir.Workflow, detail Detail) []string {
	f := facts{detail: detail}
	f.say("workflow %s", w.Name)
	f.limits(w)
	switch w.Verify.Mode {
	case ir.VerifyAuto:
		f.say("verified by the repository's own tests")
	case ir.VerifyCommands:
		f.about("verified by", strings.Join(w.Verify.Commands, "; "))
	case ir.VerifyNone:
		f.say("not verified")
	}
	f.when(!w.Worktree, "changes nothing: it has no worktree")
	if detail == Full {
		for _, s := range w.Servers {
			f.say("MCP server %s", s.Name)
		}
		for _, v := range w.Vars {
			f.variable(v)
		}
		for _, l := range w.Loops {
			nodes := ""
			if len(f.lines) < maxFacts {
				nodes = loopNodes(w, l)
			}
			f.say("loop %s, at most %d: %s", l.Name, l.Max, nodes)
		}
	}
	return f.cut()
}

func (f *facts) limits(w *ir.Workflow) {
	l := w.Limits
	if l.MaxCost > 0 {
		f.say("at most %s", l.MaxCost)
	}
	if l.MaxTokens > 0 {
		f.say("at most %s", words.Count(l.MaxTokens, "token"))
	}
	if l.MaxDuration > 0 {
		f.say("at most %s", span(l.MaxDuration))
	}
	if l.MaxIterations > 0 {
		f.say("at most %s", words.Count(l.MaxIterations, "step"))
	}
	if l.MaxParallelBranches > 0 {
		f.say("at most %d branches at once", l.MaxParallelBranches)
	}
}

func (f *facts) variable(v *ir.Var) {
	text := fmt.Sprintf("var %s: %s", v.Name, v.Type.Kind)
	if v.HasDef {
		if value, err := ir.Render(v.Default); err == nil {
			text += " = " + firstLine(value)
		}
	}
	f.say("%s", text)
}

func loopNodes(w *ir.Workflow, l *ir.Loop) string {
	var names []string
	for _, n := range w.Nodes {
		if l.Contains(n) {
			names = append(names, n.ID)
		}
	}
	return strings.Join(names, ", ")
}

// templateText is a template as it was written; t may be nil.
func templateText(t *ir.Template) string {
	if t == nil {
		return ""
	}
	var b strings.Builder
	for _, p := range t.Parts {
		switch {
		case p.Ref == nil:
			b.WriteString(p.Text)
		case p.Ref.Raw:
			b.WriteString("{{raw(" + p.Ref.String() + ")}}")
		default:
			b.WriteString("{{" + p.Ref.String() + "}}")
		}
	}
	return b.String()
}

// firstLine is the first line that says something, with a sign that there are
// more.
func firstLine(text string) string {
	text = strings.TrimSpace(text)
	line, more, _ := strings.Cut(text, "\n")
	if strings.TrimSpace(more) != "" {
		line = strings.TrimRight(line, " \r") + " …"
	}
	return line
}
