package assist_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/runner/lang/assist"
	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/front"
)

var tools = []string{"read_file", "search", "write_file"}

// base is what most cases stand on.
const base = `vars:
  file: string

prompt task:
  Read it.

schema order:
  goal: string
  hint?: string

schema finding:
  severity: string [enum: "low", "high"]
  blocking: bool

mcp_server tracker:
  transport: stdio
  command: "npx"

agent review:
  model: "m"
  input: order
  output: finding
  user: task
  publish: notes

judge weigh:
  model: "m"

`

// open reads a text with a bar where the cursor is.
func open(t *testing.T, text string) (*assist.Document, int) {
	t.Helper()
	at := strings.LastIndex(text, "|")
	if at < 0 {
		t.Fatalf("no cursor in %q", text)
	}
	return assist.Read(diag.NewFile("x.iter", text[:at]+text[at+1:]), tools), at
}

func labels(list []assist.Candidate) string {
	var all []string
	for _, c := range list {
		all = append(all, c.Label)
	}
	return strings.Join(all, " ")
}

// What may be written behind base at a cursor. A list in brackets is compared
// whole; otherwise the words must be among the answers.
func TestComplete(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"|", "[agent compute human join judge mcp_server prompt router schema tool vars workflow]"},
		{"ag|", "agent"},
		{"agent r:\n  |", "model input output tools session"},
		{"agent r:\n  mod|: \"x\"", "model"},
		{"agent r:\n  de|", "delegate"},
		{"agent r:\n  session: |", "[fresh inherit fork artifacts_only]"},
		{"agent r:\n  session: \"fr|\"", "[fresh inherit fork artifacts_only]"},
		{"agent r:\n  readonly: |", "[true false]"},
		{"agent r:\n  input: |", "[order finding]"},
		{"agent r:\n  user: t|", "[task]"},
		{"agent r:\n  backend: |", "claude_code codex"},
		{"agent r:\n  tools: |", "read_file search write_file mcp.tracker."},
		{"agent r:\n  tools: [read_file, |]", "[search write_file mcp.tracker.]"},
		{"agent r:\n  tools: [mcp.|", "[tracker]"},
		{"agent r:\n  tools: [\n    search\n    |\n  ]", "[read_file write_file mcp.tracker.]"},
		{"agent r:\n  mcp:\n    |", "[autoload_project disable inherit servers]"},
		{"agent r:\n  mcp:\n    servers: [|", "[tracker]"},
		{"agent r:\n  model: \"|", "[]"},
		{"agent r:\n  model: \"{{|", "vars"},
		{"agent r:\n  model: \"{{vars.|", "[file]"},
		{"agent r:\n  ## |", "[]"},
		{"prompt p:\n  {{|", "[raw artifacts event input loop outputs run vars]"},
		{"prompt p:\n  {{ outputs.|", "[review weigh]"},
		{"prompt p:\n  {{outputs.review.|}} and", "severity blocking history"},
		{"prompt p:\n  {{outputs.weigh.|", "text"},
		{"prompt p:\n  {{artifacts.|", "[notes]"},
		{"prompt p:\n  {{run.|", "id branch base workflow attempt"},
		{"prompt p:\n  plain |", "[]"},
		{"prompt p:\n  {{input.|", "[]"},
		{"agent x:\n  user: p\n  input: order\n\nprompt p:\n  {{input.|", "[goal hint]"},
		{"tool t:\n  command:\n    make {{raw(vars.|", "[file]"},
		{"tool t:\n  uses: |", "builtin.verify builtin.read_file"},
		{"tool t:\n  uses: builtin.|", "verify search"},
		{"schema s:\n  a: |", "[string bool int float json string[]]"},
		{"schema s:\n  a: string [|", "[enum]"},
		{"vars:\n  a: bo|", "bool"},
		{"vars:\n  a: bool = |", "[true false]"},
		{"compute c:\n  output: finding\n  expr:\n    |", "[severity blocking]"},
		{"compute c:\n  output: finding\n  expr:\n    severity: \"x\"\n    |", "[blocking]"},
		{"compute c:\n  input: order\n  expr:\n    a: \"input.|", "[goal hint]"},
		{"join j:\n  require: [|", "[review weigh j]"},
		{"join j:\n  conflict: |", "[fail ask review]"},
		{"workflow w:\n  |", "entry budget verify vars review weigh"},
		{"workflow w:\n  entry: |", "[review weigh]"},
		{"workflow w:\n  verify: |", "[auto none]"},
		{"workflow w:\n  budget:\n    max_tokens: 3\n    |", "[max_cost_usd max_duration max_iterations max_parallel_branches]"},
		{"workflow w:\n  review |", "[->]"},
		{"workflow w:\n  review -> |", "[review weigh done fail]"},
		{"workflow w:\n  review -> we|", "weigh"},
		{"workflow w:\n  review -> weigh |", "[as when with]"},
		{"workflow w:\n  review -> weigh as a(3) |", "[when with]"},
		{"workflow w:\n  review -> weigh when |", "[not blocking]"},
		{"workflow w:\n  review -> weigh when not |", "[blocking]"},
		{"workflow w:\n  review -> weigh when \"|", "output vars"},
		{"workflow w:\n  review -> weigh when \"output.|", "severity blocking"},
		{"workflow w:\n  review -> weigh as again(3)\n  weigh -> review as |", "[again]"},
		{"workflow w:\n  weigh -> review with { |", "[goal hint]"},
		{"workflow w:\n  weigh -> review with { goal: \"x\", |", "[hint]"},
		{"workflow w:\n  weigh -> review with {\n    |\n  }", "[goal hint]"},
		{"workflow w:\n  weigh -> review with {\n    goal: \"{{outputs.|", "[review weigh]"},
		{"workflow w:\n  review -> weigh with { x: \"{{input.|", "[goal hint]"},
		{"agent a:\n  user: missing\n\nprompt |", "[missing]"},
		{"workflow w:\n  gone -> done\n\ntool |", "[gone]"},
	} {
		d, at := open(t, base+c.text)
		got := labels(d.Complete(at))
		if whole, ok := strings.CutPrefix(c.want, "["); ok {
			if want := strings.TrimSuffix(whole, "]"); got != want {
				t.Errorf("%s\n got %s\nwant %s", c.text, got, want)
			}
			continue
		}
		for _, word := range strings.Fields(c.want) {
			if !slices.Contains(strings.Fields(got), word) {
				t.Errorf("%s\n got %s\nwant %s among them", c.text, got, word)
			}
		}
	}
}

// A property that the block has already is not offered again, under either of its
// names.
func TestCompleteLeavesOutWhatIsThere(t *testing.T) {
	t.Parallel()
	d, at := open(t, base+"agent r:\n  model: \"m\"\n  d|\n  backend: codex\n")
	got := strings.Fields(labels(d.Complete(at)))
	if slices.Contains(got, "model") || slices.Contains(got, "delegate") || !slices.Contains(got, "input") {
		t.Errorf("got %s", got)
	}
}

// What is written takes the place of the word at the cursor and of nothing else.
func TestCompletePlaces(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, label, want string }{
		{"agent r:\n  mo|del: \"x\"", "model", "agent r:\n  model: \"x\""},
		{"agent r:\n  mo|", "model", "agent r:\n  model: "},
		{"agent r:\n  tools: |", "search", "agent r:\n  tools: [search]"},
		{"agent r:\n  tools: [read_file, se|]", "search", "agent r:\n  tools: [read_file, search]"},
		{"prompt p:\n  {{outputs.re|.x}}", "review", "prompt p:\n  {{outputs.review.x}}"},
		{"workflow w:\n  re| -> done", "review", "workflow w:\n  review -> done"},
		{"workflow w:\n  re|", "review", "workflow w:\n  review -> "},
	} {
		d, at := open(t, base+c.text)
		for _, n := range d.Complete(at) {
			if n.Label == c.label {
				text := d.Source.Text
				if got := text[len(base):n.Start] + n.Insert + text[n.End:]; got != c.want {
					t.Errorf("%s: %q, want %q", c.text, got, c.want)
				}
			}
		}
	}
}

func findings(f *diag.File) diag.List {
	_, list := front.Load(f, front.Options{})
	return list
}

func TestHover(t *testing.T) {
	t.Parallel()
	const text = base + `
agent fix:
  model: "m"
  input: order
  session: inherit
  tools: [read_file]   ## P123 is not meant here
  user: task2

prompt task2:
  {{outputs.review.severity}} {{input.goal}} {{vars.file}} {{run.branch}} plain

workflow w:
  entry: review
  budget:
    max_tokens: 400
  review -> fix when blocking as again(3)
  fix -> review with { goal: "{{loop.again.iteration}}" }
  review -> done
`
	for _, c := range []struct{ piece, want string }{
		{"agent f|ix", "fix -> review"},
		{"ag|ent fix", "one conversation with a model"},
		{"ses|sion: inherit", "which conversation goes on"},
		{"session: in|herit", "`session`: one of `fresh`"},
		{"user: ta|sk2", "In `fix`"},
		{"P1|23", "unknown property"},
		{"{{outputs.re|view", "agent review:"},
		{"outputs.review.sev|erity}}", "one of \"low\", \"high\""},
		{"{{input.go|al}}", "`input.goal`: string"},
		{"{{vars.fi|le}}", "--var file=…"},
		{"{{run.bra|nch}}", "its branch"},
		{"max_to|kens: 400", "tokens in and out"},
		{"re|view -> fix", "Leads to"},
		{"when bloc|king", "Field of schema `finding`"},
		{"wh|en blocking", "`when FIELD`"},
		{"as ag|ain(3)", "may be taken 3 times"},
		{"as again(3)\n  fix -> review wi|th", "`with { key"},
		{"with { go|al:", "goal: string"},
		{"review -> do|ne", "it has succeeded"},
		{"input: or|der\n  session", "schema order:\n  goal: string"},
	} {
		before, after, _ := strings.Cut(c.piece, "|")
		at := strings.Index(text, before+after) + len(before)
		d := assist.Read(diag.NewFile("x.iter", text), tools)
		h := d.Hover(at, nil)
		if h == nil || !strings.Contains(h.Markdown, c.want) {
			t.Errorf("%s: %+v, want %q", c.piece, h, c.want)
		} else if at < h.Span.Start || at > h.Span.End {
			t.Errorf("%s: the hover is about %q", c.piece, h.Span.Text())
		}
	}
	d := assist.Read(diag.NewFile("x.iter", text), tools)
	for _, piece := range []string{"pla|in", "## P123 is n|ot", "gpt"} {
		before, after, found := strings.Cut(piece, "|")
		if at := strings.Index(text, before+after); found {
			if h := d.Hover(at+len(before), nil); h != nil {
				t.Errorf("%s: %s", piece, h.Markdown)
			}
		}
	}
}

// A finding explains itself where it stands.
func TestHoverOfAFinding(t *testing.T) {
	t.Parallel()
	d, at := open(t, base+"workflow w:\n  entry: rev|ew\n  review -> done\n")
	h := d.Hover(at, findings(d.Source))
	if h == nil || !strings.Contains(h.Markdown, "**C008** entry unknown") || !strings.Contains(h.Markdown, "Right:") {
		t.Errorf("%+v", h)
	}
}

// apply puts edits into a text.
func apply(text string, edits []assist.Edit) string {
	for _, e := range slices.Backward(edits) {
		text = text[:e.Span.Start] + e.Text + text[e.Span.End:]
	}
	return text
}

func TestRename(t *testing.T) {
	t.Parallel()
	const flow = "join j:\n  require: [review]\n\nworkflow w:\n  entry: review\n  review -> j when \"outputs.review.blocking && output.blocking\" with { a: \"{{outputs.review}}\", b: \"{{outputs['review']}}\" }\n  review -> done\n  j -> done\n"
	for _, c := range []struct{ piece, name, in, out string }{
		{"agent rev|iew", "look", "review", "look"},
		{"schema find|ing", "verdict", "finding", "verdict"},
		{"prompt ta|sk", "work", "task", "work"},
		{"  block|ing: bool", "stop", "blocking", "stop"},
	} {
		text := base + flow
		before, after, _ := strings.Cut(c.piece, "|")
		d := assist.Read(diag.NewFile("x.iter", text), tools)
		edits, err := d.Rename(strings.Index(text, before+after)+len(before), c.name)
		if err != nil {
			t.Errorf("%s: %v", c.piece, err)
			continue
		}
		want := strings.ReplaceAll(text, c.in, c.out)
		want = strings.Replace(want, "outputs['look']", "outputs['review']", 1) // no template has such paths
		if got := apply(text, edits); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", c.piece, got, want)
		}
	}
}

func TestRenameRefuses(t *testing.T) {
	t.Parallel()
	const flow = "schema other:\n  blocking: bool\n\nagent two:\n  input: other\n  model: \"m\"\n\nworkflow w:\n  entry: review\n  review -> two\n  two -> gone\n"
	for _, c := range []struct{ piece, name, want string }{
		{"agent rev|iew", "done", "end of the run"},
		{"agent rev|iew", "weigh", "there is a node weigh already"},
		{"agent rev|iew", "a-b", "is no name"},
		{"agent rev|iew", "", "is no name"},
		{"two -> go|ne", "x", "not declared"},
		{"mod|el: \"m\"", "x", "no name that is declared"},
		{"  block|ing: bool", "x", "flows through review -> two"},
		{"  go|al: string", "_goal", "are pawl's"},
		{"  go|al: string", "hint", "already"},
	} {
		text := base + flow
		before, after, _ := strings.Cut(c.piece, "|")
		d := assist.Read(diag.NewFile("x.iter", text), tools)
		_, err := d.Rename(strings.Index(text, before+after)+len(before), c.name)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s to %q: %v, want %q", c.piece, c.name, err, c.want)
		}
	}
}

// What cannot be read cannot be renamed: a rename waits until all can.
func TestRenameWaitsForFiles(t *testing.T) {
	t.Parallel()
	d := assist.Read(diag.NewFile("x.iter", base+"workflow w:\n  entry: review\n  review -> -> weigh\n"), tools)
	if _, err := d.Rename(strings.Index(base, "agent review")+8, "look"); err == nil || !strings.Contains(err.Error(), "mend line 31 first") {
		t.Errorf("%v", err)
	}
	d = assist.Read(diag.NewFile("x.iter", base), tools) // it has no workflow yet
	if _, err := d.Rename(strings.Index(base, "agent review")+8, "look"); err != nil {
		t.Errorf("%v", err)
	}
}

// A fix takes its finding away. The text is what stands behind base.
func TestFixes(t *testing.T) {
	t.Parallel()
	const flow = "workflow w:\n  entry: review\n  review -> weigh\n  weigh -> done\n"
	for _, c := range []struct {
		text  string
		code  diag.Code
		title string
	}{
		{"agent x:\n  inptu: order\n" + flow, "P123", "Change to input"},
		{"agent x:\n  input: ordr\n" + flow, "C002", "Change to order"},
		{"agent x:\n  input: nothing_like_it\n" + flow, "C002", "Declare schema nothing_like_it"},
		{"agent x:\n  user: nothing_like_it\n" + flow, "C003", "Declare prompt nothing_like_it"},
		{flow + "  weigh -> nothing_like_it\n", "C001", "Declare node nothing_like_it"},
		{strings.Replace(flow, "-> weigh", "-> wiegh", 1), "C001", "Change to weigh"},
		{"# one\n" + flow, "P109", "Begin the comment with ##"},
		{"agent x:\n\tmodel: \"m\"\n" + flow, "P101", "Indent by spaces"},
		{"prompt unused:\n  Text.\n\n" + flow, "P161", "Delete it"},
		{"agent x:\n  session: frsh\n" + flow, "P141", "Change to fresh"},
		{"agent x:\n  reasoning_effort: zzz\n" + flow, "C027", "Change to medium"},
	} {
		d := assist.Read(diag.NewFile("x.iter", base+c.text), tools)
		mended := false
		for _, f := range findings(d.Source) {
			if f.Code != c.code {
				continue
			}
			for _, fix := range d.Fixes(f) {
				if fix.Title != c.title {
					continue
				}
				mended = true
				text := apply(d.Source.Text, fix.Edits)
				for _, left := range findings(diag.NewFile("x.iter", text)) {
					if left.Code == c.code && left.Message == f.Message {
						t.Errorf("%s %q leaves it:\n%s", c.code, c.title, text[len(base):])
					}
				}
			}
		}
		if !mended {
			t.Errorf("%s: no fix %q in\n%s%v", c.code, c.title, c.text, findings(d.Source))
		}
	}
}

func TestOutlineAndFolds(t *testing.T) {
	t.Parallel()
	d := assist.Read(diag.NewFile("x.iter", "## one\n## two\n"+base+"workflow w:\n  vars:\n    a: int = 1\n  entry: review\n  review -> done with {\n    a: 1\n  }\n"), tools)
	var b strings.Builder
	for _, item := range d.Outline() {
		b.WriteString(item.Name)
		for _, c := range item.Children {
			b.WriteString("/" + c.Name)
		}
		b.WriteString(" ")
	}
	if want := "file task order/goal/hint finding/severity/blocking tracker review weigh w/a "; b.String() != want {
		t.Errorf("outline %q, want %q", b.String(), want)
	}
	var got []string
	for _, f := range d.Folds() {
		got = append(got, strings.TrimSpace(d.Source.Line(f.First+1))+" … "+strings.TrimSpace(d.Source.Line(f.Last+1)))
	}
	for _, want := range []string{"## one … ## two", "vars: … file: string", "prompt task: … Read it.", "review -> done with { … }", "workflow w: … }"} {
		if !slices.Contains(got, want) {
			t.Errorf("folds %q lack %q", got, want)
		}
	}
}

func texts(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("../../../testdata/workflows/*.iter")
	if err != nil || len(files) == 0 {
		t.Fatalf("no workflows: %v", err)
	}
	list := []string{base, "", "\t", "{{", "workflow w:\n  a -> b with {", "\x00\xff\r\r\n"}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, string(text))
	}
	for _, rule := range diag.Rules() {
		list = append(list, rule.Bad)
	}
	return list
}

// ask puts every question at a place.
func ask(t *testing.T, d *assist.Document, at int) {
	t.Helper()
	for _, c := range d.Complete(at) {
		if c.Start < 0 || c.Start > at || c.End < at || c.End > len(d.Source.Text) || c.Label == "" {
			t.Fatalf("candidate %+v at %d", c, at)
		}
	}
	if h := d.Hover(at, nil); h != nil && h.Markdown == "" {
		t.Fatalf("empty hover at %d", at)
	}
	_, _ = d.Rename(at, "other")
}

// Every question can be put at every place of every file, whole or cut off there.
func TestEveryQuestionEverywhere(t *testing.T) {
	t.Parallel()
	for _, text := range texts(t) {
		d := assist.Read(diag.NewFile("x.iter", text), tools)
		for at := 0; at <= len(text); at += 7 {
			ask(t, d, at)
			ask(t, assist.Read(diag.NewFile("x.iter", text[:at]), tools), at)
		}
	}
}

func FuzzQuestions(f *testing.F) {
	for i, text := range texts(f) {
		f.Add(text, i*13)
	}
	f.Fuzz(func(t *testing.T, text string, at int) {
		d := assist.Read(diag.NewFile("x.iter", text), tools)
		ask(t, d, min(max(at, 0), len(text)))
		d.Folds()
		d.Outline()
		for _, finding := range findings(d.Source) {
			for _, fix := range d.Fixes(finding) {
				apply(text, fix.Edits)
			}
		}
	})
}
