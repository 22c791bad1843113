package lsp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/front"
)

// client is an editor: it frames messages itself and knows nothing of the
// server's library.
type client struct {
	t       testing.TB
	in      io.WriteCloser
	out     *bufio.Reader
	ended   chan error
	id      int
	answers map[string]wire
	notes   []wire
}

// wire is a message as it comes.
type wire struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func check(f *diag.File) diag.List {
	_, list := front.Load(f, front.Options{})
	return list
}

// start serves an editor over pipes.
func start(t testing.TB, opt Options) *client {
	t.Helper()
	if opt.Check == nil {
		opt.Check = check
	}
	opt.Tools = []string{"read_file", "search"}
	fromEditor, in := io.Pipe()
	out, toEditor := io.Pipe()
	c := &client{t: t, in: in, out: bufio.NewReader(out), ended: make(chan error, 1), answers: make(map[string]wire)}
	go func() {
		err := Serve(context.Background(), fromEditor, toEditor, opt)
		toEditor.Close()
		c.ended <- err
	}()
	t.Cleanup(func() { in.Close(); out.Close() })
	return c
}

// raw sends a body in a frame.
func (c *client) raw(body string) {
	c.t.Helper()
	if _, err := fmt.Fprintf(c.in, "Content-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		c.t.Fatalf("send: %v", err)
	}
}

func (c *client) send(message map[string]any) {
	c.t.Helper()
	message["jsonrpc"] = "2.0"
	body, err := json.Marshal(message)
	if err != nil {
		c.t.Fatal(err)
	}
	c.raw(string(body))
}

func (c *client) note(method string, params any) {
	c.t.Helper()
	c.send(map[string]any{"method": method, "params": params})
}

// ask sends a request and returns its id.
func (c *client) ask(method string, params any) int {
	c.t.Helper()
	c.id++
	c.send(map[string]any{"id": c.id, "method": method, "params": params})
	return c.id
}

// receive reads one message.
func (c *client) receive() wire {
	c.t.Helper()
	length := 0
	for {
		line, err := c.out.ReadString('\n')
		if err != nil {
			c.t.Fatalf("receive: %v", err)
		}
		line = strings.TrimSpace(line)
		if line == "" {
			break
		}
		if value, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			length, _ = strconv.Atoi(value)
		}
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(c.out, body); err != nil {
		c.t.Fatalf("receive: %v", err)
	}
	var m wire
	if err := json.Unmarshal(body, &m); err != nil {
		c.t.Fatalf("receive %s: %v", body, err)
	}
	return m
}

// answer waits for the answer to a request; what else comes is kept.
func (c *client) answer(id int) wire {
	c.t.Helper()
	key := strconv.Itoa(id)
	for {
		if m, ok := c.answers[key]; ok {
			delete(c.answers, key)
			return m
		}
		m := c.receive()
		if m.Method != "" {
			c.notes = append(c.notes, m)
		} else {
			c.answers[string(m.ID)] = m
		}
	}
}

// call asks and decodes the answer.
func call[R any](c *client, method string, params any) R {
	c.t.Helper()
	m := c.answer(c.ask(method, params))
	if m.Error != nil {
		c.t.Fatalf("%s: %d %s", method, m.Error.Code, m.Error.Message)
	}
	var r R
	if err := json.Unmarshal(m.Result, &r); err != nil {
		c.t.Fatalf("%s: %v in %s", method, err, m.Result)
	}
	return r
}

type object = map[string]any

func (c *client) initialize(capabilities object) object {
	c.t.Helper()
	r := call[object](c, "initialize", object{"processId": nil, "rootUri": nil, "capabilities": capabilities})
	c.note("initialized", object{})
	return r
}

const file = "file:///work/a.iter"

func (c *client) open(text string) {
	c.t.Helper()
	c.note("textDocument/didOpen", object{"textDocument": object{"uri": file, "languageId": "iter", "version": 1, "text": text}})
}

func at(line, character int) object {
	return object{"textDocument": object{"uri": file}, "position": object{"line": line, "character": character}}
}

type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

type span struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type published struct {
	URI         string
	Version     *int
	Diagnostics []struct {
		Range              span
		Severity           int
		Code               string
		CodeDescription    struct{ Href string }
		Source, Message    string
		Tags               []int
		RelatedInformation []struct {
			Location struct {
				URI   string
				Range span
			}
			Message string
		}
	}
}

// findings waits for the findings of a version; of a closed file with version 0.
func (c *client) findings(version int) published {
	c.t.Helper()
	for {
		for len(c.notes) > 0 {
			m := c.notes[0]
			c.notes = c.notes[1:]
			if m.Method != "textDocument/publishDiagnostics" {
				continue
			}
			var p published
			if err := json.Unmarshal(m.Params, &p); err != nil {
				c.t.Fatal(err)
			}
			if version == 0 && p.Version == nil || p.Version != nil && *p.Version == version {
				return p
			}
		}
		if m := c.receive(); m.Method != "" {
			c.notes = append(c.notes, m)
		} else {
			c.answers[string(m.ID)] = m
		}
	}
}

// logged collects what the server says about itself.
type logged struct {
	mu    sync.Mutex
	lines []string
}

func (l *logged) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
}

func (l *logged) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}
