package main_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// editor speaks with a real `pawl lsp` over its pipes.
type editor struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	id    int
	notes []json.RawMessage // findings that came in between
}

func startEditor(t *testing.T) *editor {
	t.Helper()
	e := &editor{t: t, cmd: exec.Command("pawl", "lsp", "--stdio")}
	in, err := e.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := e.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	e.in, e.out = in, bufio.NewReader(out)
	if err := e.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); e.cmd.Process.Kill(); e.cmd.Wait() })
	return e
}

func (e *editor) send(message map[string]any) {
	e.t.Helper()
	message["jsonrpc"] = "2.0"
	body, err := json.Marshal(message)
	if err != nil {
		e.t.Fatal(err)
	}
	if _, err := fmt.Fprintf(e.in, "Content-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		e.t.Fatal(err)
	}
}

// message is what comes from the server.
type message struct {
	ID             *int
	Method         string
	Params, Result json.RawMessage
	Error          any
}

func (e *editor) receive() message {
	e.t.Helper()
	length := 0
	for {
		line, err := e.out.ReadString('\n')
		if err != nil {
			e.t.Fatalf("the server is gone: %v", err)
		}
		if line = strings.TrimSpace(line); line == "" {
			break
		}
		if value, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			length, _ = strconv.Atoi(value)
		}
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(e.out, body); err != nil {
		e.t.Fatal(err)
	}
	var m message
	if err := json.Unmarshal(body, &m); err != nil {
		e.t.Fatalf("%s: %v", body, err)
	}
	return m
}

// ask sends a request and decodes its answer into answer.
func (e *editor) ask(method string, params, answer any) {
	e.t.Helper()
	e.id++
	e.send(map[string]any{"id": e.id, "method": method, "params": params})
	for {
		m := e.receive()
		if m.ID == nil {
			e.notes = append(e.notes, m.Params)
			continue
		}
		if m.Error != nil {
			e.t.Fatalf("%s: %v", method, m.Error)
		}
		if err := json.Unmarshal(m.Result, answer); err != nil {
			e.t.Fatalf("%s: %s: %v", method, m.Result, err)
		}
		return
	}
}

// findings waits for the codes that are found in a version.
func (e *editor) findings(version int) string {
	e.t.Helper()
	for {
		for _, raw := range e.notes {
			var p struct {
				Version     int
				Diagnostics []struct{ Code string }
			}
			if err := json.Unmarshal(raw, &p); err != nil {
				e.t.Fatal(err)
			}
			if p.Version == version {
				var codes []string
				for _, d := range p.Diagnostics {
					codes = append(codes, d.Code)
				}
				return strings.Join(codes, " ")
			}
		}
		e.notes = append(e.notes, e.receive().Params)
	}
}

// place is a position in JSON.
type place struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// stretch is a range in JSON, with the text that takes its place in edits.
type stretch struct {
	Range struct {
		Start place `json:"start"`
		End   place `json:"end"`
	} `json:"range"`
	NewText string `json:"newText"`
}

const editedFile = "file:///work/review.iter"

func onFile(line, character int) map[string]any {
	return map[string]any{"textDocument": map[string]any{"uri": editedFile}, "position": place{line, character}}
}

// patched applies edits to a text of one-byte characters.
func patched(text string, edits []stretch) string {
	lines := strings.SplitAfter(text, "\n")
	offset := func(p place) int { return len(strings.Join(lines[:p.Line], "")) + p.Character }
	for _, e := range slices.Backward(edits) {
		text = text[:offset(e.Range.Start)] + e.NewText + text[offset(e.Range.End):]
	}
	return text
}

const brokenFile = `prompt task:
  Review {{vars.file}}.

vars:
  file: string

agent reviewer:
  model:   "gpt-5-mini"
  user: tsk
  readonly: true


workflow review:
  entry: reviewer
  verify: none
  reviewer -> done
`

// An editor opens a broken file, sees why it is broken, mends it, completes,
// looks up, renames, lays out and leaves.
func TestEditorSession(t *testing.T) {
	t.Parallel()
	e := startEditor(t)
	var initialized struct {
		ServerInfo struct{ Name string }
	}
	e.ask("initialize", map[string]any{"processId": nil, "rootUri": nil, "capabilities": map[string]any{}}, &initialized)
	if initialized.ServerInfo.Name != "pawl" {
		t.Errorf("initialize: %+v", initialized)
	}
	e.send(map[string]any{"method": "initialized", "params": map[string]any{}})
	e.send(map[string]any{"method": "textDocument/didOpen", "params": map[string]any{"textDocument": map[string]any{
		"uri": editedFile, "languageId": "iter", "version": 1, "text": brokenFile,
	}}})
	if got := e.findings(1); got != "P161 C003" {
		t.Errorf("the broken file: %s", got)
	}
	text, version := brokenFile, 1
	change := func(edits []stretch) {
		version++
		text = patched(text, edits)
		var changes []any
		for _, edit := range slices.Backward(edits) {
			changes = append(changes, map[string]any{"range": edit.Range, "text": edit.NewText})
		}
		e.send(map[string]any{"method": "textDocument/didChange", "params": map[string]any{
			"textDocument": map[string]any{"uri": editedFile, "version": version}, "contentChanges": changes,
		}})
	}

	var items struct {
		Items []struct {
			Label    string
			TextEdit stretch
		}
	}
	e.ask("textDocument/completion", onFile(8, 11), &items)
	if len(items.Items) != 1 || items.Items[0].Label != "task" {
		t.Fatalf("completion: %+v", items)
	}
	change([]stretch{items.Items[0].TextEdit})
	if got := e.findings(version); got != "" {
		t.Errorf("the mended file: %s", got)
	}

	var definition []stretch
	e.ask("textDocument/definition", onFile(8, 9), &definition)
	if len(definition) != 1 || definition[0].Range.Start != (place{0, 7}) {
		t.Errorf("definition: %+v", definition)
	}
	var hover struct{ Contents struct{ Value string } }
	e.ask("textDocument/hover", onFile(1, 18), &hover)
	if !strings.Contains(hover.Contents.Value, "--var file=") {
		t.Errorf("hover: %s", hover.Contents.Value)
	}

	rename := onFile(6, 7)
	rename["newName"] = "critic"
	var edit struct{ Changes map[string][]stretch }
	e.ask("textDocument/rename", rename, &edit)
	change(edit.Changes[editedFile])
	var layout []stretch
	e.ask("textDocument/formatting", map[string]any{"textDocument": map[string]any{"uri": editedFile}, "options": map[string]any{"tabSize": 2, "insertSpaces": true}}, &layout)
	change(layout)
	want := strings.NewReplacer("tsk", "task", "reviewer", "critic", `model:   "`, `model: "`, "true\n\n\n", "true\n\n").Replace(brokenFile)
	if text != want {
		t.Errorf("in the end:\n%s\nwant\n%s", text, want)
	}
	if got := e.findings(version); got != "" {
		t.Errorf("in the end: %s", got)
	}

	var nothing any
	e.ask("shutdown", nil, &nothing)
	e.send(map[string]any{"method": "exit"})
	if err := e.cmd.Wait(); err != nil {
		t.Errorf("after shutdown and exit: %v", err)
	}
}

// An editor that dies takes its server with it.
func TestEditorDies(t *testing.T) {
	t.Parallel()
	e := startEditor(t)
	var initialized any
	e.ask("initialize", map[string]any{"processId": nil, "rootUri": nil, "capabilities": map[string]any{}}, &initialized)
	e.in.Close()
	var status *exec.ExitError
	if err := e.cmd.Wait(); !errors.As(err, &status) || status.ExitCode() != 1 {
		t.Errorf("the stream ended: %v, want status 1", err)
	}
}
