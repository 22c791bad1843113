package model

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/openai/openai-go"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/runner"
)

func TestHeaders(t *testing.T) {
	t.Parallel()
	p := newPeer(t, fine("ok"))
	for _, trace := range []bool{true, false} {
		client := newClient(t, p.URL+"/v1", func(c *Config) { c.TraceHeaders, c.UserAgent = trace, "pawl/1" })
		req := conversation()
		req.Trace.Node = "nöde\r\n"
		if _, err := client.Complete(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	with, without := p.headers[0], p.headers[1]
	for name, want := range map[string]string{
		"X-Pawl-Run": "r-1", "X-Pawl-Node": "n__de__", "X-Pawl-Visit": "2", "X-Pawl-Turn": "3", "User-Agent": "pawl/1",
		"Authorization": "Bearer " + testKey, "Content-Type": "application/json", "Idempotency-Key": "1/fix/2/turn-3/1",
	} {
		if got := with.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		if got := without.Get(name); strings.HasPrefix(name, "X-Pawl") && got != "" {
			t.Errorf("%s: %q was told without leave", name, got)
		}
	}
	for name := range with {
		if strings.HasPrefix(name, "X-Stainless") || strings.HasPrefix(name, "Openai") {
			t.Errorf("header %s is sent", name)
		}
	}
	req := ask("hi")
	if _, err := newClient(t, p.URL+"/v1", func(c *Config) { c.TraceHeaders = true }).Complete(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	for name := range p.headers[2] {
		if strings.HasPrefix(name, "X-Pawl") || name == "Idempotency-Key" {
			t.Errorf("header %s is sent for a request that has none", name)
		}
	}
}

// What openai-go would read from the environment does not reach the wire.
func TestEnvironmentIsIrrelevant(t *testing.T) {
	other := newPeer(t, fine("stolen"))
	for name, value := range map[string]string{
		"OPENAI_API_KEY": "env-key", "OPENAI_BASE_URL": other.URL, "OPENAI_ORG_ID": "env-org", "OPENAI_PROJECT_ID": "env-project",
		"HTTP_PROXY": other.URL, "http_proxy": other.URL,
	} {
		t.Setenv(name, value)
	}
	p := newPeer(t, fine("ok"))
	resp, err := newClient(t, p.URL+"/v1", func(c *Config) { c.APIKey = "" }).Complete(t.Context(), ask("hi"))
	if err != nil || resp.Text != "ok" {
		t.Fatalf("%+v, %v", resp, err)
	}
	var sent bytes.Buffer
	if err := p.headers[0].Write(&sent); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(sent.String(), "env-") || other.seen() != 0 {
		t.Errorf("the environment was sent:\n%s", &sent)
	}
}

func decodeAnswer(t *testing.T, text string) (*runner.ModelResponse, error) {
	t.Helper()
	var c *openai.ChatCompletion
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	return translate(c, "asked")
}

func TestTranslate(t *testing.T) {
	t.Parallel()
	answer := func(message, finish, usage string) string {
		return `{"model":"m-1","choices":[{"message":` + message + `,"finish_reason":"` + finish + `"}],"usage":` + usage + `}`
	}
	known := func(in, cached, out, reasoning int64) budget.Usage {
		return budget.Usage{Calls: 1, Input: in, Cached: cached, Output: out, Reasoning: reasoning}
	}
	call := func(id, name string) runner.ToolCall { return runner.ToolCall{ID: id, Name: name, Args: "{}"} }
	wireCall := func(id, name string) string {
		return `{"id":"` + id + `","type":"function","function":{"name":"` + name + `","arguments":"{}"}}`
	}
	cases := []struct {
		name, body string
		want       runner.ModelResponse
	}{
		{"text", answer(`{"content":"hi"}`, "stop", `{"prompt_tokens":10,"completion_tokens":4,"total_tokens":14,"prompt_tokens_details":{"cached_tokens":8},"completion_tokens_details":{"reasoning_tokens":3}}`),
			runner.ModelResponse{Model: "m-1", Text: "hi", Finish: "stop", Usage: known(10, 8, 4, 3), UsageKnown: true}},
		{"no usage", `{"model":"m-1","choices":[{"message":{"content":"hi"}}]}`, runner.ModelResponse{Model: "m-1", Text: "hi", Usage: budget.Usage{Calls: 1}}},
		{"usage null", answer(`{"content":null}`, "length", `null`), runner.ModelResponse{Model: "m-1", Finish: "length", Usage: budget.Usage{Calls: 1}}},
		{"usage of nothing", answer(`{"content":"a"}`, "stop", `{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}`), runner.ModelResponse{Model: "m-1", Text: "a", Finish: "stop", Usage: budget.Usage{Calls: 1}}},
		{"negative usage", answer(`{"content":"a"}`, "stop", `{"prompt_tokens":-5,"completion_tokens":3}`), runner.ModelResponse{Model: "m-1", Text: "a", Finish: "stop", Usage: budget.Usage{Calls: 1}}},
		{"absurd usage", answer(`{"content":"a"}`, "stop", `{"prompt_tokens":9000000000000000,"completion_tokens":3}`), runner.ModelResponse{Model: "m-1", Text: "a", Finish: "stop", Usage: budget.Usage{Calls: 1}}},
		{"reasoning only in the total", answer(`{"content":"a"}`, "stop", `{"prompt_tokens":10,"completion_tokens":4,"total_tokens":114,"completion_tokens_details":{"reasoning_tokens":100}}`),
			runner.ModelResponse{Model: "m-1", Text: "a", Finish: "stop", Usage: known(10, 0, 104, 100), UsageKnown: true}},
		{"something only in the total", answer(`{"content":"a"}`, "stop", `{"prompt_tokens":10,"completion_tokens":4,"total_tokens":114}`),
			runner.ModelResponse{Model: "m-1", Text: "a", Finish: "stop", Usage: known(10, 0, 104, 0), UsageKnown: true}},
		{"reasoning beside", answer(`{"content":"a"}`, "stop", `{"prompt_tokens":10,"completion_tokens":4,"completion_tokens_details":{"reasoning_tokens":100}}`),
			runner.ModelResponse{Model: "m-1", Text: "a", Finish: "stop", Usage: known(10, 0, 104, 100), UsageKnown: true}},
		{"more cached than sent", answer(`{"content":"a"}`, "stop", `{"prompt_tokens":10,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":99}}`),
			runner.ModelResponse{Model: "m-1", Text: "a", Finish: "stop", Usage: known(10, 10, 4, 0), UsageKnown: true}},
		{"refusal", answer(`{"content":null,"refusal":"I will not."}`, "stop", `null`), runner.ModelResponse{Model: "m-1", Text: "I will not.", Finish: "refusal", Usage: budget.Usage{Calls: 1}}},
		{"content filter", answer(`{"content":""}`, "content_filter", `null`), runner.ModelResponse{Model: "m-1", Finish: "content_filter", Usage: budget.Usage{Calls: 1}}},
		{"calls", answer(`{"content":"x","tool_calls":[`+wireCall("a", "f")+`,`+wireCall("b", "g")+`]}`, "tool_calls", `null`),
			runner.ModelResponse{Model: "m-1", Text: "x", Finish: "tool_calls", ToolCalls: []runner.ToolCall{call("a", "f"), call("b", "g")}, Usage: budget.Usage{Calls: 1}}},
		{"calls without ids", answer(`{"tool_calls":[`+wireCall("", "f")+`,`+wireCall("call_0", "g")+`,`+wireCall("call_0", "h")+`]}`, "tool_calls", `null`),
			runner.ModelResponse{Model: "m-1", Finish: "tool_calls", ToolCalls: []runner.ToolCall{call("call_0", "f"), call("call_1", "g"), call("call_2", "h")}, Usage: budget.Usage{Calls: 1}}},
		{"no model", `{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}`, runner.ModelResponse{Model: "asked", Text: "x", Finish: "stop", Usage: budget.Usage{Calls: 1}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := decodeAnswer(t, c.body)
			if err != nil {
				t.Fatal(err)
			}
			if g, w := jsonOf(t, got), jsonOf(t, c.want); g != w {
				t.Errorf("got  %s\nwant %s", g, w)
			}
		})
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// Client and script meet on the wire: a whole conversation with tools, then a
// structured answer, with the script's own strictness as the judge.
func TestConversationWithTheScript(t *testing.T) {
	t.Parallel()
	srv := serve(t, `
name: demo
model: demo-model
exchanges:
  - match: {node: fix, turn: 1, tools: [read_file]}
    reply:
      text: let me look
      tool_calls: [{name: read_file, args: {path: calc.go}}, {name: list}]
      usage: {input: 100, output: 30, cached: 40, reasoning: 10}
  - match: {node: fix, visit: 1, turn: 2, contains: nothing}
    reply: {json: {verdict: ok, score: 3}}
`)
	client := newClient(t, srv.BaseURL(), func(c *Config) { c.TraceHeaders = true })
	req := conversation()
	req.Model, req.SchemaName, req.Messages = "script/gpt", "verdict", req.Messages[:2]
	req.Trace = runner.Trace{Run: "r", Node: "fix", Visit: 1, Turn: 1}
	first, err := client.Complete(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if first.Model != "demo-model (script)" || first.Text != "let me look" || first.Finish != "tool_calls" || len(first.ToolCalls) != 2 ||
		first.ToolCalls[0].Args != `{"path":"calc.go"}` || first.ToolCalls[0].ID == first.ToolCalls[1].ID {
		t.Fatalf("first answer %+v", first)
	}
	if want := (budget.Usage{Calls: 1, Input: 100, Cached: 40, Output: 30, Reasoning: 10}); first.Usage != want || !first.UsageKnown {
		t.Errorf("usage %+v", first.Usage)
	}
	req.Messages = append(req.Messages, runner.Message{Role: runner.Assistant, Text: first.Text, ToolCalls: first.ToolCalls},
		runner.Message{Role: runner.ToolRole, ToolID: first.ToolCalls[0].ID, Text: "package calc"},
		runner.Message{Role: runner.ToolRole, ToolID: first.ToolCalls[1].ID, Text: "nothing"})
	req.Trace.Turn = 2
	second, err := client.Complete(t.Context(), req)
	if err != nil || second.Text != `{"verdict":"ok","score":3}` || !second.UsageKnown || second.Finish != "stop" {
		t.Fatalf("second answer %+v, %v", second, err)
	}
	req.Trace.Turn = 3
	resp, err := client.Complete(t.Context(), req)
	var e *runner.ModelError
	if e, _ = err.(*runner.ModelError); e == nil || e.Class != runner.BadRequest || e.InDoubt ||
		!strings.Contains(e.Detail, `script "demo" has no exchange for node "fix", visit 1, turn 3`) {
		t.Errorf("no exchange: %+v, %v", resp, err)
	}
	if n := len(srv.Journal().Requests); n != 3 {
		t.Errorf("%d requests: one without an exchange is not repeated", n)
	}
}

// The faults a script can play look to the client like the real ones.
func TestFaultsOfTheScript(t *testing.T) {
	t.Parallel()
	srv := serve(t, `
exchanges:
  - match: {contains: busy}
    replies: [{error: {status: 429, retry_after: 0}}, {error: {status: 500}}, {text: at last}]
  - {match: {contains: cut}, reply: {error: {kind: cut}}}
  - {match: {contains: garbage}, reply: {error: {kind: garbage}}}
  - {match: {contains: reset}, reply: {error: {kind: reset}}}
  - {match: {contains: empty}, reply: {error: {kind: empty}}}
`)
	client := newClient(t, srv.BaseURL())
	if resp, err := client.Complete(t.Context(), ask("busy")); err != nil || resp.Text != "at last" {
		t.Errorf("%+v, %v", resp, err)
	}
	for kind, detail := range map[string]string{
		"cut": "broke off", "garbage": "is not JSON", "reset": "connection broke", "empty": "no choice",
	} {
		resp, err := client.Complete(t.Context(), ask(kind))
		if e := failure(t, client, resp, err); e.Class != runner.Malformed || !e.InDoubt || !strings.Contains(e.Detail, detail) {
			t.Errorf("%s: %+v", kind, e)
		}
	}
	if n := len(srv.Journal().Requests); n != 7 {
		t.Errorf("%d requests, want 3 and one for each fault", n)
	}
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	srv := serve(t, `exchanges: [{reply: {text: hi}}]`)
	client := newClient(t, srv.BaseURL())
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if resp, err := client.Complete(t.Context(), conversationFor("script")); err != nil || resp.Text != "hi" {
				t.Errorf("%+v, %v", resp, err)
			}
		})
	}
	all.Wait()
}

func conversationFor(provider string) *runner.ModelRequest {
	req := conversation()
	req.Model = provider + "/m"
	return req
}

// A proxy that is given is used.
func TestProxy(t *testing.T) {
	t.Parallel()
	proxy := newPeer(t, fine("through the proxy"))
	client := newClient(t, "http://nowhere.invalid/v1", func(c *Config) {
		c.Proxy = func(*http.Request) (*url.URL, error) { return url.Parse(proxy.URL) }
	})
	resp, err := client.Complete(t.Context(), ask("hi"))
	if err != nil || resp.Text != "through the proxy" {
		t.Fatalf("%+v, %v", resp, err)
	}
}

func FuzzTranslate(f *testing.F) {
	f.Add([]byte(`{"model":"m","choices":[{"message":{"content":"x","tool_calls":[{"id":"","function":{"name":"f","arguments":"{"}}]}}],"usage":{"prompt_tokens":1e3}}`))
	f.Add([]byte(`{"choices":[{"message":{"content":5,"refusal":["x"]}}],"usage":[]}`))
	f.Add([]byte(`{"choices":{"a":1}}`))
	f.Add([]byte(`{"error":{"message":"x"},"choices":null}`))
	client := New(Config{APIKey: testKey})
	f.Fuzz(func(t *testing.T, body []byte) {
		var c *openai.ChatCompletion
		if !json.Valid(body) || json.Unmarshal(body, &c) != nil {
			return
		}
		resp, err := translate(c, "asked")
		if (resp == nil) == (err == nil) {
			t.Fatalf("response %+v with error %v", resp, err)
		}
		if err != nil {
			call := client.newCall(context.Background(), nil, ask("x"))
			if e := call.malformed(err.Error(), err); strings.ContainsAny(e.Detail, "\n\r") {
				t.Fatalf("detail %q", e.Detail)
			}
			return
		}
		u := resp.Usage
		if u.Input < 0 || u.Output < 0 || u.Cached < 0 || u.Cached > u.Input || u.Reasoning < 0 || u.Reasoning > u.Output {
			t.Fatalf("usage %+v", u)
		}
		seen := map[string]bool{}
		for _, c := range resp.ToolCalls {
			if c.ID == "" || seen[c.ID] {
				t.Fatalf("calls %+v", resp.ToolCalls)
			}
			seen[c.ID] = true
		}
	})
}
