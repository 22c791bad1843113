package lsp

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/runner/lang/diag"
)

const sample = `prompt task:
  Grüße 𝄞 {{vars.who}}

vars:
  who: string

agent work:
  model: "m"
  user: tusk

workflow w:
  entry: work
  work -> done
`

// The life of a session, as the protocol has it.
func TestLife(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	if m := c.answer(c.ask("textDocument/hover", at(0, 0))); m.Error == nil || m.Error.Code != -32002 {
		t.Errorf("before initialize: %+v", m.Error)
	}
	c.note("textDocument/didOpen", object{})
	c.initialize(object{})
	if m := c.answer(c.ask("initialize", object{"processId": nil, "rootUri": nil, "capabilities": object{}})); m.Error == nil || m.Error.Code != -32600 {
		t.Errorf("a second initialize: %+v", m.Error)
	}
	if m := c.answer(c.ask("shutdown", nil)); m.Error != nil || string(m.Result) != "null" {
		t.Errorf("shutdown: %+v %s", m.Error, m.Result)
	}
	if m := c.answer(c.ask("textDocument/hover", at(0, 0))); m.Error == nil || m.Error.Code != -32600 {
		t.Errorf("after shutdown: %+v", m.Error)
	}
	c.note("exit", nil)
	if err := <-c.ended; err != nil {
		t.Errorf("exit after shutdown: %v", err)
	}
}

func TestTheEditorIsGone(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*client){
		"its stream ends":       func(c *client) { c.in.Close() },
		"exit without shutdown": func(c *client) { c.note("exit", nil) },
		"half a message":        func(c *client) { io.WriteString(c.in, "Content-Length: 100\r\n\r\n{"); c.in.Close() },
		"no header":             func(c *client) { io.WriteString(c.in, "GET / HTTP/1.1\r\n\r\n") },
	} {
		c := start(t, Options{})
		c.initialize(object{})
		c.open(sample)
		c.findings(1)
		leave(c)
		if err := <-c.ended; !errors.Is(err, ErrNoShutdown) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The process of the editor is watched, when there is somebody to do it.
func TestTheEditorsProcess(t *testing.T) {
	t.Parallel()
	gone := make(chan func(), 1)
	c := start(t, Options{Watch: func(pid int, f func()) {
		if pid == 4711 {
			gone <- f
		}
	}})
	call[object](c, "initialize", object{"processId": 4711, "rootUri": nil, "capabilities": object{}})
	(<-gone)()
	if err := <-c.ended; !errors.Is(err, ErrNoShutdown) {
		t.Errorf("%v", err)
	}
}

// What is wrong with a message is answered, and the session goes on.
func TestWrongMessages(t *testing.T) {
	t.Parallel()
	var log logged
	c := start(t, Options{Log: log.add})
	c.initialize(object{})
	c.open(sample)
	c.raw(`{"jsonrpc":"2.0","id":`)
	if m := c.receiveAnswer(); m.Error == nil || m.Error.Code != -32700 || string(m.ID) != "null" {
		t.Errorf("no JSON: %+v", m)
	}
	for _, w := range []struct {
		method string
		params any
		code   int
	}{
		{"textDocument/colourOfTheSky", object{}, -32601},
		{"$/hidden", nil, -32601},
		{"textDocument/hover", "text", -32602},
		{"textDocument/hover", object{"textDocument": object{"uri": "file:///not/open"}, "position": object{"line": 0, "character": 0}}, -32602},
		{"textDocument/rename", object{"textDocument": object{"uri": file}, "position": object{"line": 6, "character": 7}, "newName": "done"}, -32803},
		{"textDocument/prepareRename", at(1, 3), -32803},
	} {
		if m := c.answer(c.ask(w.method, w.params)); m.Error == nil || m.Error.Code != w.code {
			t.Errorf("%s: %+v, want code %d", w.method, m.Error, w.code)
		}
	}
	c.note("textDocument/didChange", "text")
	c.note("$/setTrace", object{"value": "verbose"})
	c.note("$/cancelRequest", object{"id": object{}})
	c.note("$/unheardOf", object{})
	c.note("textDocument/didChange", object{"textDocument": object{"uri": "file:///not/open", "version": 3}, "contentChanges": []any{}})
	if r := call[object](c, "textDocument/hover", at(6, 7)); r["contents"] == nil {
		t.Error("the session does not go on")
	}
	if !strings.Contains(log.text(), "textDocument/didChange") {
		t.Errorf("nothing was said of the broken notification: %q", log.text())
	}
}

func (c *client) receiveAnswer() wire {
	for {
		if m := c.receive(); m.Method == "" {
			return m
		}
	}
}

// A mistake of ours is answered and told, and the session goes on.
func TestWhatBreaksIsSurvived(t *testing.T) {
	t.Parallel()
	var log logged
	c := start(t, Options{Log: log.add, Check: func(f *diag.File) diag.List {
		if strings.Contains(f.Text, "explode") {
			panic("the check broke")
		}
		return check(f)
	}})
	c.initialize(object{})
	c.open("## explode\n")
	if m := c.answer(c.ask("textDocument/hover", at(0, 4))); m.Error == nil || m.Error.Code != -32603 {
		t.Errorf("hover: %+v", m)
	}
	c.note("textDocument/didChange", object{"textDocument": object{"uri": file, "version": 2}, "contentChanges": []any{object{"text": sample}}})
	if p := c.findings(2); len(p.Diagnostics) != 2 {
		t.Errorf("findings: %+v", p)
	}
	if !strings.Contains(log.text(), "the check broke") {
		t.Errorf("log: %q", log.text())
	}
}

// A request that nobody wants any more is answered with the protocol's error,
// whatever else is going on.
func TestCancel(t *testing.T) {
	t.Parallel()
	checking, go1 := make(chan bool, 9), make(chan bool)
	c := start(t, Options{Check: func(f *diag.File) diag.List {
		checking <- true
		<-go1
		return nil
	}})
	c.initialize(object{})
	c.open(sample)
	<-checking
	hover := c.ask("textDocument/hover", at(6, 7)) // waits for the findings
	outline := c.ask("textDocument/documentSymbol", object{"textDocument": object{"uri": file}})
	if m := c.answer(outline); m.Error != nil { // overtakes it
		t.Errorf("outline: %+v", m.Error)
	}
	c.note("$/cancelRequest", object{"id": hover})
	c.note("$/cancelRequest", object{"id": "never asked"})
	if m := c.answer(c.ask("textDocument/documentSymbol", object{"textDocument": object{"uri": file}})); m.Error != nil {
		t.Errorf("outline: %+v", m.Error)
	}
	close(go1)
	if m := c.answer(hover); m.Error == nil || m.Error.Code != -32800 {
		t.Errorf("cancelled: %+v", m)
	}
}

// While findings are computed, versions that come in between are left out, and
// those of an old version are not sent.
func TestOnlyTheNewestVersionIsPublished(t *testing.T) {
	t.Parallel()
	began, goOn := make(chan string, 99), make(chan bool)
	c := start(t, Options{Check: func(f *diag.File) diag.List {
		began <- f.Text
		<-goOn
		return nil
	}})
	c.initialize(object{})
	c.open("version 1")
	if got := <-began; got != "version 1" {
		t.Fatal(got)
	}
	for v := 2; v <= 50; v++ {
		c.note("textDocument/didChange", object{"textDocument": object{"uri": file, "version": v}, "contentChanges": []any{object{"text": fmt.Sprint("version ", v)}}})
	}
	c.answer(c.ask("textDocument/documentSymbol", object{"textDocument": object{"uri": file}})) // all have arrived
	goOn <- true
	if got := <-began; got != "version 50" {
		t.Errorf("the next one to be checked is %s", got)
	}
	goOn <- true
	if p := c.findings(50); len(c.notes) != 0 || p.URI != file {
		t.Errorf("published %+v beside %+v", c.notes, p)
	}
}

func TestFindings(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	c.initialize(object{})
	c.open(sample)
	p := c.findings(1)
	if len(p.Diagnostics) != 2 {
		t.Fatalf("%+v", p)
	}
	unused, unknown := p.Diagnostics[0], p.Diagnostics[1]
	if unused.Code != "P161" || unused.Severity != 2 || len(unused.Tags) != 1 || unused.Tags[0] != 1 {
		t.Errorf("unused prompt: %+v", unused)
	}
	if unknown.Code != "C003" || unknown.Severity != 1 || unknown.Source != "pawl" || unknown.Range != (span{position{8, 8}, position{8, 12}}) {
		t.Errorf("unknown prompt: %+v", unknown)
	}
	if !strings.HasSuffix(unknown.CodeDescription.Href, "docs/language.md#diagnostics") || !strings.Contains(unknown.Message, "did you mean task?") {
		t.Errorf("unknown prompt: %+v", unknown)
	}
	c.note("textDocument/didChange", object{"textDocument": object{"uri": file, "version": 2}, "contentChanges": []any{
		object{"range": span{position{8, 8}, position{8, 12}}, "text": "task"},
		object{"range": span{position{0, 0}, position{0, 0}}, "text": "schema s:\n  a: int\n  a: int\n\n"},
	}})
	p = c.findings(2)
	if len(p.Diagnostics) != 2 || p.Diagnostics[1].Code != "P121" || len(p.Diagnostics[1].RelatedInformation) != 1 {
		t.Fatalf("%+v", p)
	}
	if r := p.Diagnostics[1].RelatedInformation[0]; r.Location.URI != file || r.Location.Range != (span{position{1, 2}, position{1, 3}}) {
		t.Errorf("related: %+v", r)
	}
	c.note("textDocument/didClose", object{"textDocument": object{"uri": file}})
	if p := c.findings(0); len(p.Diagnostics) != 0 {
		t.Errorf("closed: %+v", p)
	}
}
