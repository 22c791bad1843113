package script

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

// serve starts a server for the script and returns what posts to it.
func serve(t *testing.T, text string) (*Server, func(body string, headers ...string) (int, string)) {
	t.Helper()
	srv, err := Start(t.Context(), parse(t, text), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	})
	return srv, func(body string, headers ...string) (int, string) {
		t.Helper()
		resp, err := post(t, srv, body, headers...)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		raw, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(raw)
	}
}

func post(t *testing.T, srv *Server, body string, headers ...string) (*http.Response, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.BaseURL()+"/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	return client.Do(req)
}

const hello = `{"model": "m", "messages": [{"role": "user", "content": "hello there"}]}`

func decodeCompletion(t *testing.T, body string) wireCompletion {
	t.Helper()
	var c wireCompletion
	if err := json.Unmarshal([]byte(body), &c); err != nil || len(c.Choices) == 0 {
		t.Fatalf("not a completion: %v\n%s", err, body)
	}
	return c
}

func TestAnswerText(t *testing.T) {
	t.Parallel()
	_, ask := serve(t, `exchanges: [{reply: {text: "hi <you> & é"}}]`)
	status, body := ask(hello)
	c := decodeCompletion(t, body)
	got := c.Choices[0]
	if status != 200 || *got.Message.Content != "hi <you> & é" || *got.FinishReason != "stop" || got.Message.Role != "assistant" {
		t.Errorf("answer %d %s", status, body)
	}
	if c.Model != "m (script)" || c.Fingerprint != Fingerprint || c.Created != 0 || c.Object != "chat.completion" {
		t.Errorf("the answer could pass for a model's: %s", body)
	}
	// 11 bytes of "hello there" and 13 of the answer, four to a token.
	if *c.Usage != (wireUsage{Prompt: 3, Completion: 4, Total: 7}) {
		t.Errorf("usage %+v", *c.Usage)
	}
	if _, again := ask(hello); again != body {
		t.Errorf("the same request got another answer:\n%s\n%s", body, again)
	}
	if _, other := ask(strings.Replace(hello, "hello", "hallo", 1)); decodeCompletion(t, other).ID == c.ID {
		t.Error("two requests share an id")
	}
}

func TestAnswerToolCalls(t *testing.T) {
	t.Parallel()
	_, ask := serve(t, `
model: demo
exchanges:
  - reply:
      text: looking
      tool_calls: [{name: read, args: {path: a}}, {name: read, args: {path: b}, id: mine}]
      usage: {input: 100, output: 20, cached: 64, reasoning: 8}
`)
	_, body := ask(`{"model": "gpt-5 (script)", "messages": [{"role": "user", "content": "x"}]}`)
	c := decodeCompletion(t, body)
	calls := c.Choices[0].Message.ToolCalls
	if len(calls) != 2 || calls[0].ID == "" || calls[0].ID == calls[1].ID || calls[1].ID != "mine" {
		t.Fatalf("calls %+v", calls)
	}
	if calls[0].Type != "function" || calls[0].Function.Name != "read" || calls[0].Function.Arguments != `{"path":"a"}` {
		t.Errorf("call %+v", calls[0])
	}
	if c.Model != "demo (script)" || *c.Choices[0].FinishReason != "tool_calls" || *c.Choices[0].Message.Content != "looking" {
		t.Errorf("answer %s", body)
	}
	want := &wireUsage{Prompt: 100, Completion: 20, Total: 120}
	want.PromptMore.Cached, want.CompletionMore.Reasoning = 64, 8
	if *c.Usage != *want {
		t.Errorf("usage %+v", c.Usage)
	}
}

func TestAnswerWithoutUsage(t *testing.T) {
	t.Parallel()
	_, ask := serve(t, `exchanges: [{reply: {text: hi, usage: none}}]`)
	if _, body := ask(hello); strings.Contains(body, "usage") {
		t.Errorf("usage was sent: %s", body)
	}
}

// A provider stops at the bound, and so does a script: the purse relies on it.
func TestAnswerKeepsTheBound(t *testing.T) {
	t.Parallel()
	_, ask := serve(t, `
exchanges:
  - {match: {contains: long}, reply: {text: "0123456789é123456789", usage: {input: 5, output: 100, reasoning: 90}}}
  - {match: {contains: calls}, reply: {tool_calls: [{name: x}], usage: {input: 5, output: 100}}}
  - {reply: {text: "0123456789"}}
`)
	for _, c := range []struct {
		ask, bound, text, finish string
		tokens, reasoning        int64
	}{
		{"long", `"max_tokens": 50`, "0123456789", "length", 50, 50}, // byte 10 is inside é
		{"long", `"max_completion_tokens": 100`, "0123456789é123456789", "stop", 100, 90},
		{"long", `"max_tokens": 1`, "", "length", 1, 1},
		{"calls", `"max_tokens": 50`, "", "length", 50, 0},
		{"short", `"max_tokens": 2`, "012345", "length", 2, 0},
		{"short", `"max_tokens": 3`, "0123456789", "stop", 3, 0},
	} {
		_, body := ask(`{"model": "m", "messages": [{"role": "user", "content": "` + c.ask + `"}], ` + c.bound + `}`)
		got := decodeCompletion(t, body)
		choice := got.Choices[0]
		if *choice.Message.Content != c.text || *choice.FinishReason != c.finish || len(choice.Message.ToolCalls) != 0 ||
			got.Usage.Completion != c.tokens || got.Usage.CompletionMore.Reasoning != c.reasoning {
			t.Errorf("%s with %s: %s", c.ask, c.bound, body)
		}
	}
}

func TestMatching(t *testing.T) {
	t.Parallel()
	_, ask := serve(t, `
exchanges:
  - {match: {node: fix, visit: 2}, reply: {text: second visit}}
  - {match: {node: fix, turn: 2}, reply: {text: fix turn 2}}
  - {match: {turn: 3}, reply: {text: turn 3}}
  - {match: {model: other}, reply: {text: other model}}
  - {match: {schema: verdict}, reply: {json: {ok: true}}}
  - {match: {tools: [a, b]}, reply: {text: has tools}}
  - {match: {contains: [red, blue], not_contains: green}, reply: {text: colours}}
  - {match: {anywhere: early, not_anywhere: never}, reply: {text: early}}
  - {reply: {text: rest}}
`)
	user := func(s string) string { return `{"role": "user", "content": "` + s + `"}` }
	said := `{"role": "assistant", "content": "x"}`
	chat := func(more string, messages ...string) string {
		return `{"model": "m", "messages": [` + strings.Join(messages, ",") + `]` + more + `}`
	}
	tool := func(name string) string { return `{"type": "function", "function": {"name": "` + name + `"}}` }
	cases := []struct {
		name, body, want string
		headers          []string
	}{
		{"visit", chat("", user("q")), "second visit", []string{"X-Pawl-Node", "fix", "X-Pawl-Visit", "2"}},
		{"turn by header", chat("", user("q")), "fix turn 2", []string{"X-Pawl-Node", "fix", "X-Pawl-Turn", "2"}},
		{"turn by messages", chat("", user("q"), said, user("q")), "fix turn 2", []string{"X-Pawl-Node", "fix"}},
		{"header wins over messages", chat("", user("q"), said, said, user("q")), "rest", []string{"X-Pawl-Turn", "1"}},
		{"turn without a node", chat("", user("q"), said, said, user("q")), "turn 3", nil},
		{"model", strings.Replace(chat("", user("q")), `"m"`, `"other"`, 1), "other model", nil},
		{"schema", chat(`, "response_format": {"type": "json_schema", "json_schema": {"name": "verdict", "schema": {"type": "object"}}}`, user("q")), `{"ok":true}`, nil},
		{"tools", chat(`, "tools": [`+tool("b")+`,`+tool("a")+`]`, user("q")), "has tools", nil},
		{"too few tools", chat(`, "tools": [`+tool("a")+`]`, user("q")), "rest", nil},
		{"contains", chat("", user("blue and red")), "colours", nil},
		{"contains one only", chat("", user("blue")), "rest", nil},
		{"contains, in an earlier message", chat("", user("blue and red"), said, user("q")), "rest", nil},
		{"not_contains", chat("", user("blue, red, green")), "rest", nil},
		{"anywhere", chat("", user("early"), said, user("q")), "early", nil},
		{"not_anywhere", chat("", user("early never"), said, user("q")), "rest", nil},
		{"list of parts", chat("", `{"role": "user", "content": [{"type": "text", "text": "blue "}, {"type": "text", "text": "red"}]}`), "colours", nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if status, body := ask(c.body, c.headers...); status != 200 || *decodeCompletion(t, body).Choices[0].Message.Content != c.want {
				t.Errorf("answer %d %s, want %q", status, body, c.want)
			}
		})
	}
}

func TestTimesAndReplies(t *testing.T) {
	t.Parallel()
	_, ask := serve(t, `
exchanges:
  - {times: 3, replies: [{text: one}, {text: two}]}
  - {match: {contains: hello}, times: 1, reply: {text: four}}
`)
	for _, want := range []string{"one", "two", "two", "four"} {
		if _, body := ask(hello); *decodeCompletion(t, body).Choices[0].Message.Content != want {
			t.Fatalf("answer %s, want %q", body, want)
		}
	}
	status, body := ask(hello, "X-Pawl-Node", "fix", "X-Pawl-Visit", "1")
	for _, want := range []string{
		`"code":"no_exchange"`, `script \"script\" has no exchange for node \"fix\", visit 1, turn 1, model \"m\"`,
		`the last message (user) begins \"hello there\"`,
		"exchange 1 (line 3) was used 3 times already", "exchange 2 (line 4) was used 1 times already",
	} {
		if status != 400 || !strings.Contains(body, want) {
			t.Errorf("answer %d lacks %s:\n%s", status, want, body)
		}
	}
}

func TestUnmatchedSaysWhy(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("exchanges:\n")
	for _, m := range []string{"node: a", "visit: 3", "turn: 7", `contains: "` + strings.Repeat("é", 100) + `"`, "model: x", "model: y"} {
		text.WriteString("  - {match: {" + m + "}, reply: {text: a}}\n")
	}
	_, ask := serve(t, text.String())
	_, body := ask(hello)
	for _, want := range []string{
		`for turn 1, model`, `exchange 1 (line 2) wants node \"a\"`, `exchange 2 (line 3) wants visit 3`, `wants turn 7`,
		`wants contains \"` + strings.Repeat("é", 30) + `…\"`, `wants model \"x\"; and 1 more`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("answer lacks %s:\n%s", want, body)
		}
	}
}

// What the real API refuses, the script refuses too.
func TestHonestPeer(t *testing.T) {
	t.Parallel()
	srv, ask := serve(t, `exchanges: [{reply: {text: fine}}]`)
	user := `{"role":"user","content":"x"}`
	call := `{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	result := `{"role":"tool","tool_call_id":"c1","content":"r"}`
	chat := func(messages string) string { return `{"model":"m","messages":[` + messages + `]}` }
	with := func(more string) string { return `{"model":"m","messages":[` + user + `],` + more + `}` }
	strict := func(schema string) string {
		return with(`"response_format":{"type":"json_schema","json_schema":{"name":"s","strict":true,"schema":` + schema + `}}`)
	}
	cases := []struct{ name, body, param string }{
		{"not JSON", `{"model"`, "null"},
		{"a list", `[]`, "null"},
		{"no model", `{"messages":[` + user + `]}`, `"model"`},
		{"no messages", `{"model":"m"}`, `"messages"`},
		{"bad role", chat(`{"role":"nobody","content":"x"}`), `"messages[0].role"`},
		{"no content", chat(`{"role":"user"}`), `"messages[0].content"`},
		{"content of a wrong kind", chat(`{"role":"user","content":5}`), `"messages[0].content"`},
		{"an image", chat(`{"role":"user","content":[{"type":"image_url"}]}`), `"messages[0].content"`},
		{"an empty assistant", chat(user + `,{"role":"assistant"}`), `"messages[1].content"`},
		{"tool without id", chat(user + `,` + call + `,{"role":"tool","content":"r"}`), `"messages[2].tool_call_id"`},
		{"orphan tool message", chat(user + `,` + result), `"messages[1].tool_call_id"`},
		{"tool after user", chat(call + `,` + result + `,` + user + `,` + result), `"messages[3].tool_call_id"`},
		{"answered twice", chat(call + `,` + result + `,` + result), `"messages[2].tool_call_id"`},
		{"unanswered call", chat(call + `,` + user), `"messages[0].tool_calls"`},
		{"unanswered call at the end", chat(user + `,` + call), `"messages[1].tool_calls"`},
		{"user with calls", chat(strings.Replace(call, `"assistant"`, `"user","content":"x"`, 1)), `"messages[0].tool_calls"`},
		{"call without id", chat(strings.Replace(call, `"c1"`, `""`, 1)), `"messages[0].tool_calls"`},
		{"same id twice", chat(`{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f"}},{"id":"c","type":"function","function":{"name":"f"}}]}`), `"messages[0].tool_calls"`},
		{"max_tokens 0", with(`"max_tokens":0`), `"max_tokens"`},
		{"both bounds", with(`"max_tokens":5,"max_completion_tokens":5`), `"max_tokens"`},
		{"temperature 9", with(`"temperature":9`), `"temperature"`},
		{"two choices", with(`"n":2`), `"n"`},
		{"effort", with(`"reasoning_effort":"extra_high"`), `"reasoning_effort"`},
		{"tool type", with(`"tools":[{"type":"x","function":{"name":"f"}}]`), `"tools[0].type"`},
		{"tool name", with(`"tools":[{"type":"function","function":{"name":"a.b"}}]`), `"tools[0].function.name"`},
		{"tool name twice", with(`"tools":[{"type":"function","function":{"name":"a"}},{"type":"function","function":{"name":"a"}}]`), `"tools[1].function.name"`},
		{"tool parameters", with(`"tools":[{"type":"function","function":{"name":"a","parameters":{"type":"string"}}}]`), `"tools[0].function.parameters"`},
		{"tool_choice without tools", with(`"tool_choice":"auto"`), `"tool_choice"`},
		{"format type", with(`"response_format":{"type":"xml"}`), `"response_format.type"`},
		{"no json_schema", with(`"response_format":{"type":"json_schema"}`), `"response_format.json_schema"`},
		{"schema without a name", with(`"response_format":{"type":"json_schema","json_schema":{"schema":{"type":"object"}}}`), `"response_format.json_schema.name"`},
		{"no schema", with(`"response_format":{"type":"json_schema","json_schema":{"name":"s"}}`), `"response_format.json_schema.schema"`},
		{"schema is a list", strict(`[]`), `"response_format.json_schema.schema"`},
		{"open object", strict(`{"type":"object","properties":{}}`), `"response_format.json_schema.schema"`},
		{"optional property", strict(`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`), `"response_format.json_schema.schema"`},
		{"open object inside", strict(`{"type":"object","properties":{"a":{"type":"array","items":{"type":"object"}}},"required":["a"],"additionalProperties":false}`), `"response_format.json_schema.schema.properties.a.items"`},
		{"open object in anyOf", strict(`{"type":"object","properties":{"a":{"anyOf":[{"type":"null"},{"type":"object"}]}},"required":["a"],"additionalProperties":false}`), `"response_format.json_schema.schema.properties.a.anyOf[1]"`},
		{"open object in $defs", strict(`{"type":"object","additionalProperties":false,"$defs":{"d":{"type":"object"}}}`), `"response_format.json_schema.schema.$defs.d"`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			status, body := ask(c.body)
			if status != 400 || !strings.Contains(body, `"param":`+c.param+`,`) || !strings.Contains(body, `"type":"invalid_request_error"`) {
				t.Errorf("answer %d %s, want a refusal of %s", status, body, c.param)
			}
		})
	}
	if j := srv.Journal(); len(j.Requests) != len(cases) || j.Requests[0].Problem == "" || j.Requests[0].Exchange != 0 {
		t.Errorf("the journal holds %d requests of %d", len(j.Requests), len(cases))
	}
	good := []string{
		chat(user + `,` + call + `,` + result + `,` + call + `,` + result),
		with(`"temperature":0.5,"n":1,"tool_choice":"auto","tools":[{"type":"function","function":{"name":"a_b-1","parameters":{"type":"object"}}}]`),
		strict(`{"type":"object","properties":{"a":{"type":["string","null"]},"b":{"type":"array","items":{"type":"object","properties":{},"additionalProperties":false}}},"required":["a","b"],"additionalProperties":false}`),
		with(`"response_format":{"type":"json_object"},"reasoning_effort":"high","unknown":1`),
	}
	for _, body := range good {
		if status, answer := ask(body); status != 200 {
			t.Errorf("%s was refused: %s", body, answer)
		}
	}
}

func TestHTTPErrors(t *testing.T) {
	t.Parallel()
	srv, ask := serve(t, `
exchanges:
  - times: 1
    reply: {error: {status: 429, message: "slow down", code: rl, type: my_type, retry_after: 7}}
  - {replies: [{error: {status: 401}}, {error: {status: 403}}, {error: {status: 503}}, {error: {status: 404}}]}
`)
	resp, err := post(t, srv, hello)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.Body.Close() != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != 429 || resp.Header.Get("Retry-After") != "7" ||
		string(body) != `{"error":{"message":"slow down","type":"my_type","param":null,"code":"rl"}}`+"\n" {
		t.Errorf("answer %d %v %s", resp.StatusCode, resp.Header, body)
	}
	for _, want := range []struct {
		status int
		kind   string
	}{{401, "authentication_error"}, {403, "permission_error"}, {503, "server_error"}, {404, "invalid_request_error"}} {
		status, body := ask(hello)
		if status != want.status || !strings.Contains(body, `"type":"`+want.kind+`"`) || !strings.Contains(body, "answers "+strconv.Itoa(want.status)) {
			t.Errorf("answer %d %s, want %+v", status, body, want)
		}
	}
}

func TestBrokenAnswers(t *testing.T) {
	t.Parallel()
	srv, ask := serve(t, `
exchanges:
  - {match: {contains: cut}, reply: {error: {kind: cut}}}
  - {match: {contains: reset}, reply: {error: {kind: reset}}}
  - {match: {contains: garbage}, reply: {error: {kind: garbage}}}
  - {match: {contains: empty}, reply: {error: {kind: empty}}}
`)
	about := func(s string) string { return strings.Replace(hello, "hello", s, 1) }
	resp, err := post(t, srv, about("cut"))
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(resp.Body); !errors.Is(err, io.ErrUnexpectedEOF) || len(body) == 0 || resp.StatusCode != 200 {
		t.Errorf("cut: %d bytes, error %v", len(body), err)
	}
	_ = resp.Body.Close() // the error above is the point
	if resp, err := post(t, srv, about("reset")); err == nil {
		t.Errorf("reset: answer %d", resp.StatusCode)
	}
	if status, body := ask(about("garbage")); status != 200 || json.Valid([]byte(body)) {
		t.Errorf("garbage: %d %s", status, body)
	}
	status, body := ask(about("empty"))
	var c wireCompletion
	if err := json.Unmarshal([]byte(body), &c); err != nil || status != 200 || len(c.Choices) != 0 || !strings.Contains(body, `"choices":[]`) {
		t.Errorf("empty: %d %s", status, body)
	}
	faults := []Kind{}
	for _, e := range srv.Journal().Requests {
		faults = append(faults, e.Fault)
	}
	if len(faults) != 4 || faults[0] != Cut || faults[3] != Empty {
		t.Errorf("journal %v", faults)
	}
}

func TestHangEndsWithTheClient(t *testing.T) {
	t.Parallel()
	for _, reply := range []string{"{error: {kind: hang}}", "{text: late, delay: 1h}"} {
		h := NewHandler(parse(t, "exchanges: [{reply: "+reply+"}]"))
		began, gone := make(chan struct{}), make(chan struct{})
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			close(began)
			h.ServeHTTP(w, r)
			close(gone)
		}))
		ctx, cancel := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, srv.URL+"/v1/chat/completions", strings.NewReader(hello))
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			<-began
			cancel()
		}()
		if resp, err := http.DefaultClient.Do(req); err == nil {
			t.Errorf("%s: answer %d", reply, resp.StatusCode)
		}
		<-gone
		srv.Close()
	}
}

func TestCloseEndsHangingRequests(t *testing.T) {
	t.Parallel()
	srv, err := Start(t.Context(), parse(t, "exchanges: [{reply: {error: {kind: hang}}}]"), "")
	if err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	go func() {
		_, err := post(t, srv, hello)
		failed <- err
	}()
	for seen := false; !seen; seen = len(srv.Journal().Requests) > 0 {
		if resp, err := http.Get(srv.URL() + "/v1/models"); err == nil {
			_ = resp.Body.Close() // only the round trip matters
		}
	}
	if err := srv.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; err == nil {
		t.Error("the hanging request was answered")
	}
	if err := srv.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}

func TestStart(t *testing.T) {
	t.Parallel()
	s := parse(t, "exchanges: [{reply: {text: hi}}]")
	for _, addr := range []string{"0.0.0.0:0", ":0", "nonsense", "127.0.0.1:99999"} {
		if srv, err := Start(t.Context(), s, addr); err == nil {
			t.Errorf("%s is served at %s", addr, srv.URL())
			_ = srv.Close()
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	srv, err := Start(ctx, s, "")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(srv.BaseURL(), "http://127.0.0.1:") || !strings.HasSuffix(srv.BaseURL(), "/v1") {
		t.Errorf("base url %s", srv.BaseURL())
	}
	if _, err := Start(t.Context(), s, strings.TrimPrefix(srv.URL(), "http://")); err == nil {
		t.Error("one port was taken twice")
	}
	cancel()
	<-srv.done
}

func TestOtherPaths(t *testing.T) {
	t.Parallel()
	srv, ask := serve(t, "name: demo\nexchanges: [{reply: {text: hi}}]")
	ask(hello, "Idempotency-Key", "k1", "Authorization", "Bearer secret", "X-Pawl-Node", "fix")
	get := func(path string) (int, string) {
		resp, err := http.Get(srv.URL() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(body)
	}
	if status, body := get("/v1/models"); status != 200 || !strings.Contains(body, `"id":"demo (script)"`) {
		t.Errorf("models: %d %s", status, body)
	}
	status, body := get("/__script/journal")
	var j Journal
	if err := json.Unmarshal([]byte(body), &j); err != nil || status != 200 || len(j.Requests) != 1 {
		t.Fatalf("journal: %v %d %s", err, status, body)
	}
	e := j.Requests[0]
	if j.Script != "demo" || e.Node != "fix" || e.Key != "k1" || e.Exchange != 1 || e.Turn != 1 || e.Status != 200 ||
		!bytes.Contains(e.Request, []byte("hello there")) || strings.Contains(body, "secret") {
		t.Errorf("journal: %s", body)
	}
	for _, path := range []string{"/", "/v1/nothing", "/v1/chat/completions"} {
		if status, body := get(path); status != 404 || !strings.Contains(body, "not GET "+path) {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
}

func TestJournalIsBounded(t *testing.T) {
	t.Parallel()
	h := NewHandler(parse(t, "exchanges: [{reply: {text: hi}}]"))
	for i := range maxJournal + 1 {
		h.record(Entry{Turn: i})
	}
	j := h.Journal()
	if j.Dropped != maxJournal/2 || len(j.Requests) != maxJournal/2+1 || j.Requests[0].Turn != maxJournal/2 {
		t.Errorf("dropped %d, kept %d from %d", j.Dropped, len(j.Requests), j.Requests[0].Turn)
	}
}

func TestHugeRequest(t *testing.T) {
	t.Parallel()
	h := NewHandler(parse(t, "exchanges: [{reply: {text: hi}}]"))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/chat/completions", io.LimitReader(zeros{}, maxBody+1)))
	if w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("answer %d %s", w.Code, w.Body)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestPieces(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "short", strings.Repeat("é", 100), strings.Repeat("x", 33), strings.Repeat("\x80", 100)} {
		all := pieces(s)
		if strings.Join(all, "") != s {
			t.Errorf("pieces of %q lose something", s)
		}
		for _, p := range all {
			if len(p) > pieceSize || p == "" {
				t.Errorf("piece of %d bytes", len(p))
			}
		}
	}
}
