package lsp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/runner/lang/diag"
)

const flow = `vars:
  who: string

schema verdict:
  good: bool

agent work:
  model: "m"
  output: verdict

workflow w:
  entry: work
  work -> fix when not good as again(2)
  work -> done

tool fix:
  command: "echo {{outputs.work.good}} {{vars.who}}"
  readonly: true
`

type location struct {
	URI   string
	Range span
}

func (l location) String() string {
	return fmt.Sprintf("%d:%d-%d", l.Range.Start.Line, l.Range.Start.Character, l.Range.End.Character)
}

func TestDefinitionAndReferences(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	c.initialize(object{})
	c.open(flow)
	if got := call[[]location](c, "textDocument/definition", at(16, 27)); fmt.Sprint(got) != "[6:6-10]" || got[0].URI != file {
		t.Errorf("definition: %v", got)
	}
	if got := call[[]location](c, "textDocument/definition", at(1, 20)); got == nil || len(got) != 0 {
		t.Errorf("definition of nothing: %v", got)
	}
	references := func(declaration bool) []location {
		ask := at(6, 8)
		ask["context"] = object{"includeDeclaration": declaration}
		return call[[]location](c, "textDocument/references", ask)
	}
	if got := fmt.Sprint(references(true)); got != "[6:6-10 11:9-13 12:2-6 13:2-6 16:27-31]" {
		t.Errorf("references: %s", got)
	}
	if got := fmt.Sprint(references(false)); got != "[11:9-13 12:2-6 13:2-6 16:27-31]" {
		t.Errorf("references without the declaration: %s", got)
	}
	type highlight struct {
		Range span
		Kind  int
	}
	got := call[[]highlight](c, "textDocument/documentHighlight", at(4, 3))
	if len(got) != 3 || got[0].Kind != 3 || got[1].Kind != 2 {
		t.Errorf("highlights: %+v", got)
	}
}

type workspaceEdit struct {
	Changes map[string][]struct {
		Range   span
		NewText string
	}
	DocumentChanges []struct {
		TextDocument struct {
			URI     string
			Version *int
		}
		Edits []struct {
			Range   span
			NewText string
		}
	}
}

// Edits name the version that they are for, if the editor understands that.
func TestRenameIsForAVersion(t *testing.T) {
	t.Parallel()
	for _, versioned := range []bool{false, true} {
		c := start(t, Options{})
		c.initialize(object{"workspace": object{"workspaceEdit": object{"documentChanges": versioned}}})
		c.open(flow)
		prepared := call[struct {
			Range       span
			Placeholder string
		}](c, "textDocument/prepareRename", at(16, 28))
		if prepared.Placeholder != "work" || prepared.Range.Start != (position{16, 27}) {
			t.Errorf("prepared: %+v", prepared)
		}
		ask := at(16, 28)
		ask["newName"] = "worker"
		edit := call[workspaceEdit](c, "textDocument/rename", ask)
		if versioned {
			if len(edit.Changes) != 0 || len(edit.DocumentChanges) != 1 || *edit.DocumentChanges[0].TextDocument.Version != 1 || len(edit.DocumentChanges[0].Edits) != 5 {
				t.Errorf("with versions: %+v", edit)
			}
		} else if len(edit.DocumentChanges) != 0 || len(edit.Changes[file]) != 5 {
			t.Errorf("without versions: %+v", edit)
		}
	}
}

type items struct {
	Items []struct {
		Label, Detail    string
		Kind             int
		InsertTextFormat int
		TextEdit         struct {
			Range   span
			NewText string
		}
	}
}

// Completions have stops for the cursor only where the editor understands them.
func TestCompletionSnippets(t *testing.T) {
	t.Parallel()
	for _, snippets := range []bool{false, true} {
		c := start(t, Options{})
		c.initialize(object{"textDocument": object{"completion": object{"completionItem": object{"snippetSupport": snippets}}}})
		c.open(flow + "\nagent two:\n  mod\n")
		list := call[items](c, "textDocument/completion", at(20, 5))
		i := slices.IndexFunc(list.Items, func(i struct {
			Label, Detail    string
			Kind             int
			InsertTextFormat int
			TextEdit         struct {
				Range   span
				NewText string
			}
		}) bool {
			return i.Label == "model"
		})
		if i < 0 {
			t.Fatalf("%+v", list)
		}
		item := list.Items[i]
		want, format := "model: ", 0
		if snippets {
			want, format = `model: "$1"`, 2
		}
		if item.TextEdit.NewText != want || item.InsertTextFormat != format || item.TextEdit.Range != (span{position{20, 2}, position{20, 5}}) {
			t.Errorf("snippets %v: %+v", snippets, item)
		}
	}
}

func TestOutlineAndFolding(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	c.initialize(object{})
	c.open(flow)
	type symbol struct {
		Name           string
		Kind           int
		Range          span
		SelectionRange span
		Children       []symbol
	}
	var names []string
	for _, s := range call[[]symbol](c, "textDocument/documentSymbol", object{"textDocument": object{"uri": file}}) {
		names = append(names, s.Name)
		if s.SelectionRange.Start.Line < s.Range.Start.Line || s.SelectionRange.End.Line > s.Range.End.Line {
			t.Errorf("%s: %+v is not inside %+v", s.Name, s.SelectionRange, s.Range)
		}
	}
	if got := strings.Join(names, " "); got != "who verdict work w fix" {
		t.Errorf("outline: %s", got)
	}
	folds := call[[]struct{ StartLine, EndLine int }](c, "textDocument/foldingRange", object{"textDocument": object{"uri": file}})
	if len(folds) != 5 || folds[1].StartLine != 3 || folds[1].EndLine != 4 {
		t.Errorf("folds: %+v", folds)
	}
}

func TestActions(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	c.initialize(object{})
	c.open(strings.Replace(flow, "output: verdict", "output: verdit", 1))
	ask := func(only ...string) []struct {
		Title, Kind string
		IsPreferred bool
		Edit        workspaceEdit
		Diagnostics []struct{ Code string }
	} {
		context := object{"diagnostics": []any{}}
		if only != nil {
			context["only"] = only
		}
		return call[[]struct {
			Title, Kind string
			IsPreferred bool
			Edit        workspaceEdit
			Diagnostics []struct{ Code string }
		}](c, "textDocument/codeAction", object{"textDocument": object{"uri": file}, "range": span{position{8, 12}, position{8, 12}}, "context": context})
	}
	got := ask()
	if len(got) != 2 || got[0].Title != "Change to verdict" || !got[0].IsPreferred || got[0].Kind != "quickfix" || got[0].Diagnostics[0].Code != "C002" {
		t.Fatalf("actions: %+v", got)
	}
	if e := got[0].Edit.Changes[file]; len(e) != 1 || e[0].NewText != "verdict" || e[0].Range != (span{position{8, 10}, position{8, 16}}) {
		t.Errorf("edit: %+v", e)
	}
	if got := ask("refactor"); len(got) != 0 {
		t.Errorf("refactorings: %+v", got)
	}
	if got := ask("quickfix"); len(got) != 2 {
		t.Errorf("quick fixes: %+v", got)
	}
}

func TestFormatting(t *testing.T) {
	t.Parallel()
	c := start(t, Options{Format: func(f *diag.File) (string, error) {
		if strings.Contains(f.Text, "broken") {
			return "", fmt.Errorf("line 1: it is broken")
		}
		return strings.ReplaceAll(f.Text, "  entry", "    entry"), nil
	}})
	if r := c.initialize(object{}); r["capabilities"].(object)["documentFormattingProvider"] != true {
		t.Error("formatting is not offered")
	}
	ask := object{"textDocument": object{"uri": file}, "options": object{"tabSize": 2, "insertSpaces": true}}
	c.open(flow)
	edits := call[[]struct {
		Range   span
		NewText string
	}](c, "textDocument/formatting", ask)
	if len(edits) != 1 || edits[0].NewText != "    entry: work\n" || edits[0].Range != (span{position{11, 0}, position{12, 0}}) {
		t.Errorf("edits: %+v", edits)
	}
	c.note("textDocument/didChange", object{"textDocument": object{"uri": file, "version": 2}, "contentChanges": []any{object{"text": "broken"}}})
	if m := c.answer(c.ask("textDocument/formatting", ask)); m.Error == nil || !strings.Contains(m.Error.Message, "it is broken") {
		t.Errorf("a broken file: %+v", m)
	}
	if r := start(t, Options{}).initialize(object{}); r["capabilities"].(object)["documentFormattingProvider"] != nil {
		t.Error("formatting is offered, and there is no formatter")
	}
}

// questions are all requests about a file.
var questions = []string{
	"textDocument/hover", "textDocument/completion", "textDocument/definition", "textDocument/references", "textDocument/documentHighlight",
	"textDocument/prepareRename", "textDocument/rename", "textDocument/documentSymbol", "textDocument/foldingRange", "textDocument/codeAction", "textDocument/formatting",
}

// FuzzSession edits a file at random and asks at random: everything is answered,
// and nothing breaks.
func FuzzSession(f *testing.F) {
	f.Add(flow, []byte("\x00\x05\x00\x01{{vars."))
	f.Add("\ufeffworkflow w:\r\n\tentry: é𝄞\r", []byte("\x01\x01\x00\x00\x02\xff\x07\x09 -> "))
	for _, rule := range diag.Rules()[:20] {
		f.Add(rule.Bad, []byte(rule.Code+" with {\n"))
	}
	f.Fuzz(func(t *testing.T, text string, edits []byte) {
		var log logged
		c := start(t, Options{Log: log.add, Format: func(f *diag.File) (string, error) { return f.Text + "\n", nil }})
		c.initialize(object{})
		c.open(text)
		edits = edits[:min(len(edits), 64)]
		for v := 2; len(edits) >= 4; v++ {
			line, column, length := int(edits[0])%40, int(edits[1])%60, int(edits[2])%4
			added := string(edits[3:min(len(edits), 3+1+int(edits[3])%8)])
			c.note("textDocument/didChange", object{"textDocument": object{"uri": file, "version": v}, "contentChanges": []any{
				object{"range": span{position{line, column}, position{line + length/3, column + length}}, "text": added},
			}})
			ask := at(line, column+1)
			ask["newName"], ask["context"], ask["range"] = "other", object{"diagnostics": []any{}, "includeDeclaration": true}, span{position{line, 0}, position{line, 90}}
			ask["options"] = object{"tabSize": 2, "insertSpaces": true}
			m := c.answer(c.ask(questions[int(edits[3])%len(questions)], ask))
			if m.Error != nil && m.Error.Code != int(requestFailed) {
				t.Fatalf("%+v\n%s", m.Error, log.text())
			}
			edits = edits[4:]
		}
		if m := c.answer(c.ask("shutdown", nil)); m.Error != nil {
			t.Fatalf("%+v", m.Error)
		}
		c.note("exit", nil)
		if err := <-c.ended; err != nil || log.text() != "" {
			t.Fatalf("%v\n%s", err, log.text())
		}
	})
}

// What the server says it can is what it answers.
func TestCapabilitiesAreTrue(t *testing.T) {
	t.Parallel()
	c := start(t, Options{Format: func(f *diag.File) (string, error) { return f.Text, nil }})
	capabilities := c.initialize(object{})["capabilities"].(object)
	c.open(flow)
	for _, name := range questions {
		ask := at(6, 8)
		ask["newName"], ask["context"], ask["range"] = "other", object{"diagnostics": []any{}}, span{}
		ask["options"] = object{}
		if m := c.answer(c.ask(name, ask)); m.Error != nil {
			t.Errorf("%s: %+v", name, m.Error)
		}
	}
	raw, _ := json.Marshal(capabilities)
	if n := len(capabilities); n != len(questions)+1 { // with positionEncoding and textDocumentSync; prepareRename is part of rename
		t.Errorf("%d capabilities for %d questions: %s", n, len(questions), raw)
	}
}

// large is a file of so many nodes in a row.
func large(nodes int) string {
	var b strings.Builder
	b.WriteString("prompt task:\n  Do it.\n\n")
	for i := range nodes {
		fmt.Fprintf(&b, "agent n%d:\n  model: \"m\"\n  user: task\n\n", i)
	}
	b.WriteString("workflow w:\n  entry: n0\n")
	for i := range nodes - 1 {
		fmt.Fprintf(&b, "  n%d -> n%d with { text: \"{{outputs.n%d.text}}\" }\n", i, i+1, i)
	}
	fmt.Fprintf(&b, "  n%d -> done\n", nodes-1)
	return b.String()
}

// Of thousands of completions only the likely ones are sent.
func TestCompletionIsCut(t *testing.T) {
	t.Parallel()
	text := large(2000)
	c := start(t, Options{})
	c.initialize(object{})
	c.open(text + "  n12")
	list := call[struct {
		IsIncomplete bool
		Items        []struct{ Label string }
	}](c, "textDocument/completion", at(strings.Count(text, "\n"), 5))
	if !list.IsIncomplete || len(list.Items) == 0 || len(list.Items) > mostItems {
		t.Errorf("%d items, incomplete: %v", len(list.Items), list.IsIncomplete)
	}
	for _, i := range list.Items {
		if !strings.Contains(i.Label, "n12") {
			t.Errorf("%s is sent", i.Label)
		}
	}
}

// BenchmarkLargeFile is one change of a file of 10,000 nodes, until its findings
// are there.
func BenchmarkLargeFile(b *testing.B) {
	c := start(b, Options{})
	c.initialize(object{})
	c.open(large(10000))
	c.findings(1)
	for v := 2; b.Loop(); v++ {
		c.note("textDocument/didChange", object{"textDocument": object{"uri": file, "version": v}, "contentChanges": []any{
			object{"range": span{position{1, 2}, position{1, 2}}, "text": "x"},
		}})
		c.findings(v)
	}
}
