package symbols_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/symbols"
	"github.com/pawl-ci/pawl/runner/lang/syntax"
)

const whole = `vars:
  file: string
  model: string = "m"

prompt task:
  Read {{vars.file}} and {{ input.goal }}.
  {{outputs.review.severity}} {{artifacts.notes.severity}} {{loop.again.max}} {{vars.nobody}} {{outputs.

schema order:
  goal: string

schema finding:
  severity: string
  blocking: bool

mcp_server tracker:
  transport: stdio
  command: "npx {{vars.model}}"

agent review:
  model: "{{vars.model}}"
  input: order
  output: finding
  user: task
  publish: notes
  tools: [read_file, mcp.tracker.find]
  mcp:
    servers: [tracker]

router turn:
  mode: condition

join meet:
  strategy: best_effort
  require: [review, gone]
  conflict: review

compute weigh:
  input: order
  output: finding
  expr:
    severity: "outputs.review.severity + vars['file'] + \"vars.none\""
    blocking: "any(outputs.review.list, .severity == vars?.model) || input.goal == ''"

tool build:
  command:
    make {{raw(vars.file)}}

workflow all:
  entry: review
  vars:
    model: string = "w"
  review -> turn when blocking as again(3)
  turn -> weigh when not blocking with { goal: "{{input.severity}} {{vars.file}}" }
  weigh -> review when "output.blocking && loop.again.iteration < 3" as again(3)
  weigh -> meet
  meet -> done
`

func index(text string) *symbols.Index {
	tree, _ := syntax.Parse(diag.NewFile("x.iter", text))
	return symbols.New(tree)
}

// place finds the bar in a piece of text that is in the file without it.
func place(t *testing.T, text, piece string) int {
	t.Helper()
	before, after, found := strings.Cut(piece, "|")
	at := strings.Index(text, before+after)
	if !found || at < 0 {
		t.Fatalf("%q is not in the text", piece)
	}
	return at + len(before)
}

func TestEveryPlaceOfAName(t *testing.T) {
	t.Parallel()
	ix := index(whole)
	for _, c := range []struct {
		piece string
		kind  symbols.Kind
		name  string
		line  int // of the declaration; 0: nothing is declared
	}{
		{"{{vars.f|ile}} and", symbols.Var, "file", 2},
		{"{{ input.goal|", symbols.Field, "goal", 10},
		{"{{outputs.|review.severity}} {{art", symbols.Node, "review", 20},
		{"{{outputs.review.sev|erity}} {{art", symbols.Field, "severity", 13},
		{"{{artifacts.notes|.", symbols.Artifact, "notes", 25},
		{"{{artifacts.notes.|severity", symbols.Field, "severity", 13},
		{"{{loop.a|gain.max", symbols.Loop, "again", 53},
		{"{{vars.no|body", symbols.Var, "nobody", 0},
		{`npx {{vars.mod|el`, symbols.Var, "model", 52},
		{"input: or|der", symbols.Schema, "order", 9},
		{"user: ta|sk", symbols.Prompt, "task", 5},
		{"publish: no|tes", symbols.Artifact, "notes", 25},
		{"mcp.tra|cker.find", symbols.Server, "tracker", 16},
		{"servers: [trac|ker", symbols.Server, "tracker", 16},
		{"require: [rev|iew", symbols.Node, "review", 20},
		{"gon|e]", symbols.Node, "gone", 0},
		{"conflict: rev|iew", symbols.Node, "review", 20},
		{`    sev|erity: "outputs`, symbols.Field, "severity", 13},
		{`"outputs.rev|iew.severity +`, symbols.Node, "review", 20},
		{`vars['fi|le']`, symbols.Var, "file", 2},
		{`vars?.mod|el)`, symbols.Var, "model", 52},
		{`|| input.go|al == ''`, symbols.Field, "goal", 10},
		{"raw(vars.fi|le)", symbols.Var, "file", 2},
		{"entry: rev|iew", symbols.Node, "review", 20},
		{"  review -> tu|rn", symbols.Node, "turn", 30},
		{"turn when bloc|king as", symbols.Field, "blocking", 14},
		{"as ag|ain(3)\n  turn", symbols.Loop, "again", 53},
		{"not block|ing with", symbols.Field, "blocking", 14}, // through the router
		{"with { go|al:", symbols.Field, "goal", 10},
		{`} {{vars.fi|le}}" }`, symbols.Var, "file", 2},
		{`"output.block|ing &&`, symbols.Field, "blocking", 14},
		{`loop.aga|in.iter`, symbols.Loop, "again", 53},
		{"meet -> do|ne", symbols.Node, "done", 0},
	} {
		at := strings.Replace(c.piece, "|| ", "", 1) // a piece may have bars of its own
		u := ix.At(place(t, whole, at))
		switch {
		case u == nil:
			t.Errorf("%s: nothing stands there", c.piece)
		case u.Kind != c.kind || u.Name != c.name:
			t.Errorf("%s: %s %s stands there, want %s %s", c.piece, u.Kind, u.Name, c.kind, c.name)
		case (c.line == 0) != (len(u.Symbols) == 0):
			t.Errorf("%s: it names %d symbols, and line %d declares it", c.piece, len(u.Symbols), c.line)
		case c.line > 0 && u.Symbols[0].At.Position().Line != c.line:
			t.Errorf("%s: declared at line %d, want %d", c.piece, u.Symbols[0].At.Position().Line, c.line)
		}
	}
}

func TestWhatIsNoName(t *testing.T) {
	t.Parallel()
	ix := index(whole)
	for _, piece := range []string{"vars.no|ne", "list, .sever|ity", "mod|e: condition", "str|ategy", "read_f|ile", "Re|ad {{"} {
		if u := ix.At(place(t, whole, piece)); u != nil {
			t.Errorf("%s: %s %s stands there", piece, u.Kind, u.Name)
		}
	}
}

func TestUses(t *testing.T) {
	t.Parallel()
	ix := index(whole)
	count := func(s *symbols.Symbol) (all, defs int) {
		for _, u := range ix.Uses(s) {
			if u.Def {
				defs++
			}
		}
		return len(ix.Uses(s)), defs
	}
	for _, c := range []struct {
		s         *symbols.Symbol
		all, defs int
	}{
		{ix.Find(symbols.Node, "review"), 9, 1},
		{ix.Find(symbols.Var, "file"), 5, 1},
		{ix.Find(symbols.Var, "model"), 4, 1}, // the workflow's
		{ix.Find(symbols.Loop, "again"), 4, 1},
		{ix.FieldOf("finding", "severity"), 5, 1},
		{ix.Find(symbols.Prompt, "task"), 2, 1},
	} {
		if all, defs := count(c.s); all != c.all || defs != c.defs {
			t.Errorf("%s %s stands at %d places, %d of them declare it; want %d and %d", c.s.Kind, c.s.Name, all, defs, c.all, c.defs)
		}
	}
	if got := ix.Unknown(symbols.Var); len(got) != 1 || got[0].Name != "nobody" {
		t.Errorf("unknown variables: %v", got)
	}
}

func names(list []symbols.Member) string {
	var all []string
	for _, m := range list {
		all = append(all, m.Name)
	}
	return strings.Join(all, " ")
}

func TestMembers(t *testing.T) {
	t.Parallel()
	ix := index(whole)
	review, turn := ix.File.Node("review"), ix.File.Node("turn")
	prompt := symbols.Scope{Inputs: ix.Users("task")}
	cond := symbols.Scope{Output: turn, Expr: true}
	for _, c := range []struct {
		scope symbols.Scope
		path  []string
		want  string
	}{
		{prompt, nil, "artifacts event input loop outputs run vars"},
		{cond, nil, "output artifacts event input loop outputs run vars"},
		{prompt, []string{"vars"}, "model file"},
		{prompt, []string{"input"}, "goal"},
		{prompt, []string{"outputs"}, "review turn meet weigh build"},
		{prompt, []string{"outputs", "review"}, "severity blocking history _session_id _tokens _cost_usd"},
		{prompt, []string{"outputs", "build"}, "exit_code passed success stdout stderr output result duration_ms history _session_id _tokens _cost_usd"},
		{prompt, []string{"artifacts", "notes"}, "severity blocking"},
		{prompt, []string{"loop", "again"}, "iteration max"},
		{prompt, []string{"outputs", "review", "severity"}, ""},
		{prompt, []string{"output"}, ""},
		{cond, []string{"output"}, "severity blocking _session_id _tokens _cost_usd"}, // what flows into the router
		{symbols.Scope{}, []string{"input"}, ""},
	} {
		if got := names(ix.Members(c.scope, c.path...)); got != c.want {
			t.Errorf("%v: %s, want %s", c.path, got, c.want)
		}
	}
	if m, ok := ix.Member(prompt, "outputs", "review", "severity"); !ok || m.Type != "string" {
		t.Errorf("outputs.review.severity: %v %v", m, ok)
	}
	if got := names(ix.Inputs(ix.File.Node("meet"))); got != "severity blocking" {
		t.Errorf("meet gets %s", got)
	}
	if got := names(ix.Inputs(review)); got != "goal" {
		t.Errorf("review gets %s", got)
	}
}

// texts are all workflows of the repository and all examples of the register,
// cut off at several places, too.
func texts(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("../../../testdata/workflows/*.iter")
	if err != nil || len(files) == 0 {
		t.Fatalf("no workflows: %v", err)
	}
	list := []string{whole, strings.ReplaceAll(whole, "\n", "\r\n")}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, string(text))
	}
	for _, rule := range diag.Rules() {
		list = append(list, rule.Bad, rule.Good)
	}
	return list
}

// holds checks what is true of every index.
func holds(t *testing.T, text string) {
	t.Helper()
	ix := index(text)
	for _, kind := range []symbols.Kind{symbols.Node, symbols.Var, symbols.Prompt, symbols.Schema, symbols.Field, symbols.Loop} {
		for _, s := range ix.All(kind) {
			uses := ix.Uses(s)
			if !slices.ContainsFunc(uses, func(u symbols.Use) bool { return u.Def && u.Span == s.At }) {
				t.Errorf("%s %s: the place that declares it is none of its uses", s.Kind, s.Name)
			}
			for _, u := range uses {
				if got := u.Span.Text(); strings.Trim(got, `"`) != s.Name && !strings.Contains(got, `\`) {
					t.Errorf("%s %s stands as %q at %s", s.Kind, s.Name, got, u.Span)
				}
				if at := ix.At(u.Span.Start); at == nil {
					t.Errorf("%s %s at %s is not found there", s.Kind, s.Name, u.Span)
				}
			}
		}
	}
}

func TestEveryUseIsTheName(t *testing.T) {
	t.Parallel()
	for _, text := range texts(t) {
		holds(t, text)
	}
}

func FuzzIndex(f *testing.F) {
	for _, text := range texts(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { holds(t, text) })
}
