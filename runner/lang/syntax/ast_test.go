package syntax_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/syntax"
)

// everything is the tree of the file that holds one of each.
func everything(t *testing.T) *syntax.File {
	t.Helper()
	for _, f := range testFiles(t, "ok") {
		if strings.HasSuffix(f.Name, "everything.iter") {
			return silent(t, f.Text)
		}
	}
	t.Fatal("testdata/ok/everything.iter is missing")
	return nil
}

func TestDeclarations(t *testing.T) {
	t.Parallel()
	f := everything(t)
	var nodes []string
	for _, n := range f.Nodes {
		nodes = append(nodes, string(n.Kind)+" "+n.Name.Name)
		if n.Span.Text() != string(n.Kind)+" "+n.Name.Name {
			t.Errorf("the span of %s is %q", n.Name.Name, n.Span.Text())
		}
		if f.Node(n.Name.Name) != n {
			t.Errorf("node %s is not found by its name", n.Name.Name)
		}
	}
	want := "agent planner, judge check, router sorter, router both, router wise, join merge, human gate, human answer, tool build, tool left, tool right, compute total"
	if got := strings.Join(nodes, ", "); got != want {
		t.Errorf("nodes are %s", got)
	}
	if f.Workflow() == nil || f.Workflow().Name.Name != "everything" || f.Workflow().Span.Text() != "workflow everything" {
		t.Errorf("the workflow is %+v", f.Workflow())
	}
	if f.Server("search") == nil || f.Schema("job") == nil || f.Prompt("plan_user") == nil || f.Node("done") != nil {
		t.Error("a declaration is not found by its name")
	}
	if len(f.Comments) != 1 || f.Comments[0].Text() != "## Every declaration with every property that it takes, in no special order." {
		t.Errorf("comments are %v", f.Comments)
	}
}

func TestVariables(t *testing.T) {
	t.Parallel()
	f := everything(t)
	want := map[string]any{
		"goal": nil, "attempts": 3, "ratio": 1, "loud": false, "tags": []any{"one", "two"}, "nothing": nil,
		"config": map[string]any{"key": "value", "list": []any{1, true, nil, map[string]any{"deep": []any{}}}},
	}
	for _, v := range f.Vars {
		var got any
		if v.Default != nil {
			got = v.Default.Plain()
		}
		if !reflect.DeepEqual(got, want[v.Name.Name]) {
			t.Errorf("%s is %#v, want %#v", v.Span().Text(), got, want[v.Name.Name])
		}
	}
	if len(f.Vars) != len(want) || f.Vars[0].Default != nil || f.Vars[6].Default == nil || f.Vars[5].TypeSpan.Text() != "string[]" {
		t.Errorf("got %d variables", len(f.Vars))
	}
	own := f.Workflow().Vars
	if len(own) != 1 || own[0].Default.Str != "shadows the file's" {
		t.Errorf("the workflow's own variables are %v", own)
	}
}

func TestSchemaFields(t *testing.T) {
	t.Parallel()
	s := everything(t).Schema("job")
	var fields []string
	for i := range s.Fields {
		f := &s.Fields[i]
		text := f.Name.Name + " " + string(f.Type)
		if f.Optional {
			text += "?"
		}
		for j := range f.Enum {
			text += "|" + f.Enum[j].Str
		}
		fields = append(fields, text)
	}
	want := "goal string, model string, input json?, output string[], level string|low|high, score float, n int, ok bool"
	if got := strings.Join(fields, ", "); got != want {
		t.Errorf("fields are %s", got)
	}
}

func TestProperties(t *testing.T) {
	t.Parallel()
	f := everything(t)
	planner := f.Node("planner").Props
	for key, want := range map[string]string{
		"model": "openai/gpt-5-mini", "backend": "claude_code", "session": "inherit", "reasoning_effort": "extra_high", "timeout": "30m",
	} {
		if got := planner.Value(key); got == nil || got.Str != want {
			t.Errorf("%s is %+v, want %q", key, got, want)
		}
	}
	if s := planner.Get("session"); s.Value.Span.Text() != "inherit_if_available" || s.Span().Text() != "session: inherit_if_available" {
		t.Errorf("the spelling of session is lost: %q", s.Span().Text())
	}
	if b := f.Node("check").Props.Get("backend"); b.Name.Text() != "delegate" || b.Value.Str != "codex" {
		t.Errorf("delegate is %+v", b)
	}
	var tools []string
	for _, tool := range planner.Value("tools").Items() {
		tools = append(tools, tool.Str+"="+tool.Span.Text())
	}
	if got := strings.Join(tools, " "); got != `read_file=read_file mcp.search.find=mcp.search.find mcp.code.look-up="mcp.code.look-up"` {
		t.Errorf("tools are %s", got)
	}
	if planner.Value("max_tokens").Int() != 4000 || planner.Value("temperature").Float() != 0.2 ||
		!planner.Value("readonly").Bool() || planner.Value("timeout").Duration() != 30*time.Minute {
		t.Error("a number, a bool or a duration is wrong")
	}
	if got := planner.Value("mcp").Props().Value("servers").Items(); len(got) != 1 || got[0].Str != "code" {
		t.Errorf("mcp servers are %+v", got)
	}
	if planner.Get("nothing") != nil || planner.Value("nothing") != nil || planner.Value("nothing").Items() != nil {
		t.Error("a property that is not there is there")
	}
	if got := f.Node("answer").Props.Value("mode"); got == nil || got.Str != "auto_answer" || got.Span.Text() != "llm" {
		t.Errorf("interaction: llm is %+v", got)
	}
}

func TestWorkflowProperties(t *testing.T) {
	t.Parallel()
	props := everything(t).Workflow().Props
	if props.Value("worktree").Str != "tick" || props.Value("entry").Str != "sorter" || len(props.Value("verify").Items()) != 2 {
		t.Error("worktree, entry or verify is wrong")
	}
	budget := props.Value("budget").Props()
	if budget.Value("max_duration").Duration() != 90*time.Minute || budget.Value("max_cost_usd").Str != "2.50" || budget.Value("max_tokens").Int() != 400000 {
		t.Error("the budget is wrong")
	}
}

func TestEdges(t *testing.T) {
	t.Parallel()
	var drawn []string
	for _, e := range everything(t).Workflow().Edges {
		text := e.Span.Text()
		if e.When != nil {
			text += " / " + e.When.Span.Text()
			if e.When.Expr != nil {
				text += " = " + e.When.Expr.Str
			}
		}
		if e.Loop != nil {
			text += " / " + e.Loop.Span.Text() + " " + e.Loop.MaxSpan.Text()
		}
		for i := range e.With {
			text += " / " + strings.Join(strings.Fields(e.With[i].Span().Text()), " ")
		}
		if !e.WithSpan.IsZero() && len(e.With) == 0 {
			text += " / nothing"
		}
		drawn = append(drawn, text)
	}
	want := []string{
		`sorter -> planner / when urgent / goal: "{{input.goal}}"`,
		`sorter -> answer`,
		`planner -> left`,
		`planner -> done / when not ready`,
		`both -> left`,
		`both -> right / as turns(2) 2`,
		`left -> merge / left: "{{outputs.left}}" / count: 3 / sure: true / none: null / table: { "a b": [1, 2.5, -3e2], c: {} }`,
		`right -> merge`,
		`merge -> gate / when "output.score > 3 && !output.bad" = output.score > 3 && !output.bad / as again(3) 3 / nothing`,
		`gate -> build`,
		`build -> check / when ok / as retry(1) 1 / name: "x"`,
		`check -> total`,
		`total -> done`,
	}
	for i := range max(len(want), len(drawn)) {
		if i >= len(want) || i >= len(drawn) || want[i] != drawn[i] {
			t.Fatalf("edge %d:\n got %s\nwant %s", i, strings.Join(drawn, "\n     "), strings.Join(want, "\n     "))
		}
	}
}

func TestNegation(t *testing.T) {
	t.Parallel()
	f := silent(t, "agent a:\n  model: \"m\"\nworkflow w:\n  entry: a\n  a -> done when not ok\n  a -> done when not\n  a -> fail when not not\n")
	edges := f.Workflow().Edges
	got := []syntax.When{*edges[0].When, *edges[1].When, *edges[2].When}
	want := []string{"true ok", "false not", "true not"}
	for i, w := range got {
		if text := map[bool]string{true: "true ", false: "false "}[w.Not] + w.Field.Name; text != want[i] {
			t.Errorf("edge %d is %q, want %q", i, text, want[i])
		}
	}
}

func TestBodies(t *testing.T) {
	t.Parallel()
	f := everything(t)
	if got, want := f.Prompt("plan_system").Body.Value, "You plan \"carefully\": 'quotes', ## and # are text here.\n\n  Deeper lines stay deeper.\n{{vars.goal}}"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := f.Prompt("plan_user").Body.Value, "  Any indentation will do.\nIt is the smallest that counts."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	command := f.Node("build").Props.Value("command")
	if want := "set -e\nmake build   ## a comment of the shell's, not ours\n\nmake test"; command.Str != want || command.Kind != syntax.BodyValue {
		t.Errorf("got %q, want %q", command.Str, want)
	}
}

// What is wrong is left out, and what is right beside it stays.
func TestWhatIsWrongIsLeftOut(t *testing.T) {
	t.Parallel()
	f, list := parse(t, `
agent a:
  model: "m"
  wrong: 1
  tools: oops
  retries: 2
agent a:
  model: "n"
prompt p:
  one
prompt p:
  two
schema s:
  x: string
  x: int
  y: what
workflow w:
  entry: a
  a -> done when
  a -> done with { k: "v", k: "w", l: bare }
  a ->
workflow x:
  entry: a
`)
	if !list.HasErrors() {
		t.Fatal("no errors")
	}
	a := f.Node("a")
	if len(f.Nodes) != 1 || len(a.Props) != 2 || a.Props.Value("model").Str != "m" || a.Props.Value("retries").Int() != 2 {
		t.Errorf("node a is %+v", a.Props)
	}
	if len(f.Prompts) != 1 || f.Prompt("p").Body.Value != "one" {
		t.Errorf("prompt p is %+v", f.Prompt("p"))
	}
	s := f.Schema("s")
	if len(s.Fields) != 2 || s.Fields[0].Type != syntax.String || s.Fields[1].Type != syntax.JSON {
		t.Errorf("schema s is %+v", s)
	}
	w := f.Workflow()
	if w.Name.Name != "w" || len(f.Workflows) != 2 || len(w.Edges) != 2 || len(w.Edges[1].With) != 1 {
		t.Errorf("workflow w is %+v", w)
	}
}

// Nothing but the code and the place is judged here: the file's name appears.
func TestEmptyFile(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "\n", "## only a comment", "\ufeff", "   ", "\r\n\r\n"} {
		f, list := parse(t, text)
		if f == nil || f.Workflow() != nil || len(list) != 1 || list[0].Code != "C006" || list[0].Severity != diag.Error {
			t.Errorf("%q: %v", text, list)
		}
	}
}
