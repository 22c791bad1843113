package diagram_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/report/diagram"
	"github.com/pawl-ci/pawl/report/reporttest"
	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/front"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

var update = flag.Bool("update", false, "write the golden drawings")

// tour is a workflow with every kind of node and edge.
func tour(t *testing.T) *ir.Workflow {
	t.Helper()
	text, err := os.ReadFile("testdata/tour.iter")
	if err != nil {
		t.Fatal(err)
	}
	w, _ := front.Load(diag.NewFile("tour.iter", string(text)), front.Options{})
	if w == nil {
		t.Fatal("the tour is no workflow")
	}
	return w
}

// variants are the forms of a drawing that differ in what they show.
var variants = map[string]diagram.Options{
	"compact.mmd":  {},
	"detailed.mmd": {Detail: diagram.Detailed, Direction: "LR"},
	"full.mmd":     {Detail: diagram.Full, Legend: true},
	"compact.dot":  {Format: diagram.DOTFormat},
	"full.dot":     {Format: diagram.DOTFormat, Detail: diagram.Full, Legend: true, Direction: "RL"},
}

// TestGoldens: the drawings beside the tour are those of a browser's and of
// Graphviz's acceptance; a change of them is looked at there.
func TestGoldens(t *testing.T) {
	t.Parallel()
	for name, opt := range variants {
		d := diagram.Draw(tour(t), opt)
		got := d.Text + "\n"
		golden := filepath.Join("testdata", "tour."+name)
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
		if !d.Fits || d.Detail != opt.Detail || d.Nodes != 12 || d.Edges != 15 {
			t.Errorf("%s: %+v", name, d)
		}
		if err := check(d.Text, opt); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNoWorkflow(t *testing.T) {
	t.Parallel()
	for name, opt := range variants {
		d := diagram.Draw(nil, opt)
		if err := check(d.Text, opt); err != nil || d.Nodes != 0 || !d.Fits {
			t.Errorf("%s: %v: %+v", name, err, d)
		}
	}
}

const text = `"(?:[\pL\p{Nd} _,/·…×]|#[0-9]{1,7};|<br/>)*"`

// The lines that a flowchart may have, each of one form.
var (
	chartNode  = regexp.MustCompile(`^ +(n\d+|l_[a-z]+|about|start)(\[T\]|\{\{T\}\}|\[\[T\]\]|\(T\)|\(\[T\]\)|\{T\}|\[/T\\\]|\[\\T/\]|\(\(\(T\)\)\)|\(\(" "\)\)|>T\]):::[a-z]+$`)
	chartEdge  = regexp.MustCompile(`^ +(n\d+|start) (?:-->|==>|-\.->)(?:\|T\|)? (n\d+)$`)
	chartOther = regexp.MustCompile(`^  (?:classDef [a-z]+ [a-z0-9:#, -]+|style legend [a-z0-9:#, ]+|subgraph legend \["legend"\]|end)$|^    l_a\d\(\(" "\)\):::start (?:-\.->|==>)\|T\| l_b\d\(\(" "\)\):::start$`)
	textInside = regexp.MustCompile(text)
)

// checkChart is a strict reader of flowcharts: every line is of one known form,
// and arrows join nodes that are there.
func checkChart(chart string) error {
	head, body, _ := strings.Cut(chart, "\n")
	if !regexp.MustCompile(`^flowchart (TD|LR|BT|RL)$`).MatchString(head) {
		return fmt.Errorf("a flowchart begins with %q", head)
	}
	nodes := map[string]bool{}
	for i, l := range strings.Split(body, "\n") {
		form := textInside.ReplaceAllString(strings.ReplaceAll(l, `(" ")`, `(B)`), "T")
		form = strings.ReplaceAll(form, `(B)`, `(" ")`)
		form = strings.ReplaceAll(form, `subgraph legend [T]`, `subgraph legend ["legend"]`)
		if m := chartNode.FindStringSubmatch(form); m != nil {
			nodes[m[1]] = true
			continue
		}
		if m := chartEdge.FindStringSubmatch(form); m != nil {
			if !nodes[m[1]] || !nodes[m[2]] {
				return fmt.Errorf("line %d joins nodes that are not there: %q", i+2, l)
			}
			continue
		}
		if l != "" && !chartOther.MatchString(form) {
			return fmt.Errorf("line %d has no known form: %q", i+2, l)
		}
	}
	return nil
}

// The tokens of DOT that drawings use.
var (
	dotToken = regexp.MustCompile(`^(?:\s+|[A-Za-z_][A-Za-z0-9_]*|[0-9.]+|"(?:[^"\\\n]|\\["\\nl])*"|->|[{}\[\]=,;])`)
	dotLine  = regexp.MustCompile(`^(?:digraph \w+ \{|\}|    \}|  \}|  subgraph \w+ \{|    label=S;|\s+\w+ \[A\];|\s+\w+ -> \w+(?: \[A\])?;|    \w+ \[A\]; \w+ \[A\]; \w+ -> \w+(?: \[A\])?;)$`)
	dotText  = regexp.MustCompile(`"(?:[^"\\\n]|\\["\\nl])*"`)
	dotAttrs = regexp.MustCompile(`\[\w+=[\w.]+(?:, \w+=[\w.]+)*\]`)
	dotAmp   = regexp.MustCompile(`&(?:amp;)?`)
)

// checkDOT is a strict reader of DOT, first of its tokens, then of its lines.
func checkDOT(graph string) error {
	for rest := graph; rest != ""; {
		token := dotToken.FindString(rest)
		if token == "" {
			return fmt.Errorf("not a token: %.40q", rest)
		}
		rest = rest[len(token):]
	}
	for _, amp := range dotAmp.FindAllString(graph, -1) {
		if amp == "&" {
			return fmt.Errorf("an entity is open")
		}
	}
	for i, l := range strings.Split(graph, "\n") {
		form := dotAttrs.ReplaceAllString(dotText.ReplaceAllString(l, "S"), "[A]")
		if !dotLine.MatchString(form) {
			return fmt.Errorf("line %d has no known form: %q (%q)", i+1, l, form)
		}
	}
	return nil
}

func check(drawing string, opt diagram.Options) error {
	if opt.Format == diagram.DOTFormat {
		return checkDOT(drawing)
	}
	return checkChart(drawing)
}

// hostile is a workflow whose every text comes from say.
func hostile(say func() string) *ir.Workflow {
	lit := func() *ir.Template {
		return &ir.Template{Parts: []ir.Part{{Text: say()}, {Ref: &ir.Ref{Root: ir.RootInput, Path: []string{say()}, Raw: true}}, {Text: say()}}}
	}
	field := func() ir.Field {
		return ir.Field{Field: gates.Field{Name: say(), Kind: gates.String, Enum: []string{say()}, Optional: true}}
	}
	schema := &ir.Schema{Name: say(), Fields: []ir.Field{field(), field()}}
	warm := 0.5
	call := &ir.Call{Model: lit(), Backend: say(), System: lit(), User: lit(), Session: ir.Session(say()), Effort: say(),
		Tools: []ir.ToolRef{{Name: say()}}, MaxSteps: 1, MaxTokens: 1, Temperature: &warm, Readonly: true, Interaction: ir.HumanAnswers}
	expr := &ir.Expr{Source: say()}
	with := []ir.Binding{{Key: say(), Value: lit()}}
	w := &ir.Workflow{
		Name: say(), Prompts: []*ir.Prompt{{Name: say(), Text: call.System}}, Vars: []*ir.Var{{Name: say(), Type: field(), HasDef: true, Default: say()}},
		Limits: budget.Limits{MaxCost: 1, MaxDuration: time.Second}, Verify: ir.Verify{Mode: ir.VerifyCommands, Commands: []string{say()}},
		Loops: []*ir.Loop{{Name: say(), Max: 2}},
	}
	for i, op := range []ir.Op{
		call, &ir.Route{Mode: ir.LLM, Multi: true, Call: call}, &ir.Route{Mode: ir.RouteMode(say())}, &ir.Ask{Mode: ir.AutoAnswer, Call: call, Instructions: lit(), MinAnswers: 2},
		&ir.Exec{Command: lit(), With: with}, &ir.Exec{Uses: say(), With: with}, &ir.Compute{Fields: []ir.ComputeField{{Name: say(), Expr: expr}}},
		&ir.Join{Require: []string{say(), say()}}, &ir.End{}, &ir.End{Fail: true}, nil,
	} {
		w.Nodes = append(w.Nodes, &ir.Node{ID: fmt.Sprint(i) + say(), Op: op, In: schema, Out: schema, Publish: say(), Retries: i % 3, Timeout: time.Second})
	}
	w.Entry = w.Nodes[0]
	for i, n := range w.Nodes[1:] {
		n.Edges = []*ir.Edge{
			{From: n, To: w.Nodes[i], Cond: &ir.Cond{Field: say(), Not: true}, With: with, Loop: w.Loops[0]},
			{From: n, To: n, Cond: &ir.Cond{Expr: expr}},
		}
	}
	return w
}

// TestAnyTextIsText: whatever stands in a workflow, a drawing of it has one
// meaning.
func TestAnyTextIsText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.OneOf(rapid.SampledFrom(reporttest.Nasty), rapid.SampledFrom([]string{`\`, `\N`, `\l`, `"`, "&amp", "<b>", "];", "1. a", "_a_", "# a"}), rapid.String())
		say := func() string { return strings.Join(rapid.SliceOfN(piece, 0, 3).Draw(t, "text"), "") }
		name := rapid.SampledFrom(slices.Sorted(maps.Keys(variants))).Draw(t, "variant")
		if err := check(diagram.Draw(hostile(say), variants[name]).Text, variants[name]); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	})
}

// TestReadersCatch: drawings that are wrong are refused, or the tests above say
// nothing.
func TestReadersCatch(t *testing.T) {
	t.Parallel()
	chart := diagram.Draw(tour(t), diagram.Options{}).Text
	graph := diagram.Draw(tour(t), diagram.Options{Format: diagram.DOTFormat}).Text
	for _, c := range []struct {
		good, old, new string
		check          func(string) error
	}{
		{chart, "  start --> n0", "  start --> n99", checkChart},
		{chart, `"writer<br/>agent"`, `"wri"ter<br/>agent"`, checkChart},
		{chart, `"writer<br/>agent"`, `"<img src=x>"`, checkChart},
		{chart, "flowchart TD", "flowchart", checkChart},
		{chart, "  n1 --> n3", "  click n1 x", checkChart},
		{graph, `"writer\nagent"`, `"wri"ter"`, checkDOT},
		{graph, `"writer\nagent"`, `"writer\"`, checkDOT},
		{graph, `"writer\nagent"`, `"&lt;"`, checkDOT},
		{graph, "  start -> n0;", "  start -> n0", checkDOT},
	} {
		if bad := strings.Replace(c.good, c.old, c.new, 1); bad == c.good || c.check(bad) == nil {
			t.Errorf("%s instead of %s is accepted", c.new, c.old)
		}
	}
}

// rich is a chain of nodes with long prompts.
func rich(n int) *ir.Workflow {
	w := chain(n)
	for _, node := range w.Nodes[:n] {
		node.Op = &ir.Call{Model: ir.Literal("gpt-5-mini"), Effort: "high", Session: ir.Inherit, Readonly: true, Backend: "codex", System: ir.Literal(strings.Repeat("word ", 20)), User: ir.Literal(strings.Repeat("word ", 20))}
	}
	return w
}

// TestTooLarge: what GitHub refuses is drawn with less, and where nothing helps,
// the drawing says so.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		nodes int
		want  diagram.Detail
		fits  bool
	}{{10, diagram.Full, true}, {230, diagram.Detailed, true}, {470, diagram.Compact, true}, {2000, diagram.Compact, false}} {
		d := diagram.Draw(rich(c.nodes), diagram.Options{Detail: diagram.Full})
		if d.Detail != c.want || d.Fits != c.fits || d.Nodes != c.nodes {
			t.Errorf("%d nodes: %s, fits %t, %d nodes drawn, %d bytes", c.nodes, d.Detail, d.Fits, d.Nodes, len(d.Text))
		}
		if d = diagram.Draw(rich(c.nodes), diagram.Options{Detail: diagram.Full, Format: diagram.DOTFormat}); d.Detail != diagram.Full || !d.Fits {
			t.Errorf("DOT has no limit: %d nodes drawn %s", c.nodes, d.Detail)
		}
	}
}
