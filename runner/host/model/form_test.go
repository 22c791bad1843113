package model

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/runner"
)

// structured is a request for an answer in a schema.
func structured(tools ...string) *runner.ModelRequest {
	req := &runner.ModelRequest{
		Model: "m", Messages: []runner.Message{{Role: runner.User, Text: "judge"}}, Key: "k",
		SchemaName: "verdict", Schema: json.RawMessage(`{"type":"object","properties":{"ok":{"type":"boolean"}}}`), Strict: true,
	}
	for _, name := range tools {
		req.Tools = append(req.Tools, runner.ToolSpec{Name: name, Parameters: json.RawMessage(`{"type":"object"}`)})
	}
	return req
}

// calling is an answer that calls tools with the given arguments, in pairs.
func calling(pairs ...string) http.HandlerFunc {
	var calls []string
	for i := 0; i < len(pairs); i += 2 {
		calls = append(calls, fmt.Sprintf(`{"id":"c%d","type":"function","function":{"name":%q,"arguments":%q}}`, i, pairs[i], pairs[i+1]))
	}
	return says(200, `{"id":"x","object":"chat.completion","created":1,"model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[`+
		strings.Join(calls, ",")+`]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12}}`)
}

func refuses(message string) http.HandlerFunc {
	return says(400, fmt.Sprintf(`{"error":{"message":%q,"type":"invalid_request_error"}}`, message))
}

// wire is what was asked for in the i-th request.
func (p *peer) wire(t *testing.T, i int) wireRequest {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	var w wireRequest
	if err := json.Unmarshal(p.bodies[i], &w); err != nil {
		t.Fatal(err)
	}
	return w
}

const noSchemas = "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model."

func TestFormsAreTriedInOrder(t *testing.T) {
	t.Parallel()
	p := newPeer(t, refuses(noSchemas), refuses("json_object is not supported"), refuses("tool_choice must be auto"), fine(`{"ok":true}`))
	resp, err := newClient(t, p.URL+"/v1").Complete(t.Context(), structured())
	if err != nil || resp.Text != `{"ok":true}` || resp.Form != "prompt" {
		t.Fatalf("got %+v, %v", resp, err)
	}
	want := []struct {
		format, choice string
		tools          int
		last           string
	}{
		{"json_schema", "", 0, "judge"},
		{"json_object", "", 0, "It must fit this JSON schema"},
		{"", `{"type":"function","function":{"name":"final_answer"}}`, 1, "judge"},
		{"", "", 0, "It must fit this JSON schema"},
	}
	keys := map[string]bool{}
	for i, c := range want {
		w := p.wire(t, i)
		format := ""
		if w.Format != nil {
			format = w.Format.Type
		}
		if last := *w.Messages[len(w.Messages)-1].Content; format != c.format || string(w.ToolChoice) != c.choice || len(w.Tools) != c.tools || !strings.Contains(last, c.last) {
			t.Errorf("request %d: format %q, choice %s, %d tools, last message %q", i, format, w.ToolChoice, len(w.Tools), last)
		}
		keys[p.headers[i].Get("Idempotency-Key")] = true
	}
	if len(keys) != len(want) {
		t.Errorf("different requests share a key: %v", keys)
	}
}

func TestTheFormThatWorkedIsRemembered(t *testing.T) {
	t.Parallel()
	p := newPeer(t, refuses(noSchemas), fine(`{"ok":true}`))
	client := newClient(t, p.URL+"/v1")
	for range 3 {
		if resp, err := client.Complete(t.Context(), structured()); err != nil || resp.Form != "json_object" {
			t.Fatalf("got %+v, %v", resp, err)
		}
	}
	if p.seen() != 4 {
		t.Errorf("%d requests, want 4: the refused one only once", p.seen())
	}
	other := structured()
	other.Model = "another"
	if _, err := client.Complete(t.Context(), other); err != nil || p.wire(t, 4).Format.Type != "json_schema" {
		t.Errorf("another model does not begin with the best form: %v", err)
	}
}

func TestWithToolsTheAnswerIsATool(t *testing.T) {
	t.Parallel()
	p := newPeer(t, refuses(noSchemas), calling("read_file", `{}`), calling("read_file", `{}`, answerTool, `{"ok":false}`), calling(answerTool, `{"ok":true}`))
	client := newClient(t, p.URL+"/v1")
	for i, want := range []struct {
		text  string
		calls int
	}{{"", 1}, {"", 1}, {`{"ok":true}`, 0}} {
		resp, err := client.Complete(t.Context(), structured("read_file"))
		if err != nil || resp.Text != want.text || len(resp.ToolCalls) != want.calls || resp.Form != "tool" {
			t.Errorf("turn %d: %+v, %v", i, resp, err)
		}
		if w := p.wire(t, i+1); string(w.ToolChoice) != `"required"` || len(w.Tools) != 2 || w.Tools[1].Function.Name != answerTool {
			t.Errorf("turn %d asked %+v", i, w)
		}
	}
}

func TestAnEndpointWithoutSchemasBeginsWithATool(t *testing.T) {
	t.Parallel()
	p := newPeer(t, calling(answerTool, `{"ok":true}`))
	resp, err := newClient(t, p.URL+"/v1", func(c *Config) { c.NoSchema = true }).Complete(t.Context(), structured())
	if err != nil || resp.Text != `{"ok":true}` || resp.Finish != "stop" || p.seen() != 1 {
		t.Errorf("got %+v, %v after %d requests", resp, err, p.seen())
	}
}

func TestOtherRefusalsAreErrors(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"about something else": refuses("max_tokens is too large"),
		"no such model":        says(404, `{"error":{"message":"The model m does not exist"}}`),
		"the key":              says(401, `{"error":{"message":"invalid key for structured output"}}`),
	} {
		p := newPeer(t, answer)
		if _, err := newClient(t, p.URL+"/v1").Complete(t.Context(), structured()); err == nil || p.seen() != 1 {
			t.Errorf("%s: %v after %d requests", name, err, p.seen())
		}
	}
	p := newPeer(t, refuses(noSchemas))
	req := structured()
	req.Schema = nil
	if _, err := newClient(t, p.URL+"/v1").Complete(t.Context(), req); err == nil || p.seen() != 1 {
		t.Errorf("without a schema: %v after %d requests", err, p.seen())
	}
	p = newPeer(t, refuses(noSchemas))
	if _, err := newClient(t, p.URL+"/v1").Complete(t.Context(), structured()); err == nil || p.seen() != 4 {
		t.Errorf("a server that refuses everything: %v after %d requests", err, p.seen())
	}
}

func TestKeyHeader(t *testing.T) {
	t.Parallel()
	p := newPeer(t, fine("hi"))
	client := newClient(t, p.URL+"/v1", func(c *Config) { c.KeyHeader = "api-key" })
	if _, err := client.Complete(t.Context(), &runner.ModelRequest{Model: "m", Messages: []runner.Message{{Role: runner.User, Text: "x"}}}); err != nil {
		t.Fatal(err)
	}
	if h := p.headers[0]; h.Get("Api-Key") != testKey || h.Get("Authorization") != "" {
		t.Errorf("headers %v", h)
	}
}
