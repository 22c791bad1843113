package model

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/openai/openai-go"
	"github.com/openai/openai-go/shared"
	"pgregory.net/rapid"

	"github.com/pawl-ci/pawl/runner"
)

// conversation is a request with everything in it.
func conversation() *runner.ModelRequest {
	half := 0.5
	return &runner.ModelRequest{
		Model: "openai/m", SchemaName: "ver dict!", MaxOutput: 500, Temperature: &half, Effort: "extra_high",
		Schema: json.RawMessage(`{"type":"object","properties":{"zeta":{"type":"string"},"alpha":{"type":"integer"}},"required":["zeta","alpha"],"additionalProperties":false}`),
		Tools: []runner.ToolSpec{
			{Name: "read_file", Description: "Reads <a> file & more.", Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"from":{"type":"integer"}},"required":["path"]}`)},
			{Name: "list"},
		},
		Messages: []runner.Message{
			{Role: runner.System, Text: "be good"},
			{Role: runner.User, Text: "fix it: \"a\" <b>\n"},
			{Role: runner.Assistant, Text: "looking", ToolCalls: []runner.ToolCall{{ID: "c1", Name: "read_file", Args: `{"path":"a"}`}, {ID: "c2", Name: "list"}}},
			{Role: runner.ToolRole, ToolID: "c1", Text: "content"},
			{Role: runner.ToolRole, ToolID: "c2", Text: ""},
			{Role: runner.Assistant, ToolCalls: []runner.ToolCall{{ID: "c3", Name: "list", Args: "not json"}}},
			{Role: runner.ToolRole, ToolID: "c3", Text: "\xff broken"},
		},
		Key: "1/fix/2/turn-3/1", Trace: runner.Trace{Run: "r-1", Node: "fix", Visit: 2, Turn: 3},
	}
}

// The request on the wire, byte for byte: a change here costs every user their
// prompt cache once, so it should be seen.
func TestRequestBytes(t *testing.T) {
	t.Parallel()
	p := newPeer(t, fine("ok"))
	if _, err := newClient(t, p.URL+"/v1/").Complete(t.Context(), conversation()); err != nil {
		t.Fatal(err)
	}
	want := `{"model":"m","temperature":0.5,"reasoning_effort":"high",` +
		`"response_format":{"type":"json_schema","json_schema":{"name":"ver_dict_","strict":true,"schema":{"type":"object","properties":{"zeta":{"type":"string"},"alpha":{"type":"integer"}},"required":["zeta","alpha"],"additionalProperties":false}}},` +
		`"tool_choice":"auto","tools":[{"type":"function","function":{"name":"read_file","description":"Reads <a> file & more.","parameters":{"type":"object","properties":{"path":{"type":"string"},"from":{"type":"integer"}},"required":["path"]}}},` +
		`{"type":"function","function":{"name":"list"}}],` +
		`"messages":[{"role":"system","content":"be good"},{"role":"user","content":"fix it: \"a\" <b>\n"},` +
		`{"role":"assistant","content":"looking","tool_calls":[{"id":"c1","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"a\"}"}},` +
		`{"id":"c2","type":"function","function":{"name":"list","arguments":"{}"}}]},` +
		`{"role":"tool","content":"content","tool_call_id":"c1"},{"role":"tool","content":"","tool_call_id":"c2"},` +
		`{"role":"assistant","tool_calls":[{"id":"c3","type":"function","function":{"name":"list","arguments":"not json"}}]},` +
		`{"role":"tool","content":"\ufffd broken","tool_call_id":"c3"}],"max_tokens":500}`
	if got := string(p.bodies[0]); got != want {
		t.Errorf("request\n%s\nwant\n%s", got, want)
	}
}

// openai-go's own types, filled with the same request, say the same.
func TestRequestSaysWhatTheSDKSays(t *testing.T) {
	t.Parallel()
	client := New(Config{})
	for _, req := range []*runner.ModelRequest{conversation(), ask("hi"), {Model: "o3", MaxOutput: 5, Effort: "low", Messages: []runner.Message{{Role: runner.Assistant}}}} {
		sdk, err := json.Marshal(sdkParams(t, client, req))
		if err != nil {
			t.Fatal(err)
		}
		ours, err := client.encode(req, bySchema)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(object(t, ours), object(t, sdk)) {
			t.Errorf("ours  %s\ntheirs %s", ours, sdk)
		}
	}
}

// sdkParams fills openai-go's types.
func sdkParams(t *testing.T, c *Client, req *runner.ModelRequest) openai.ChatCompletionNewParams {
	p := openai.ChatCompletionNewParams{Model: c.wireModel(req.Model), ReasoningEffort: shared.ReasoningEffort(effort(req.Effort))}
	for _, m := range req.Messages {
		p.Messages = append(p.Messages, sdkMessage(m))
	}
	for _, spec := range req.Tools {
		f := shared.FunctionDefinitionParam{Name: spec.Name}
		if spec.Description != "" {
			f.Description = openai.String(spec.Description)
		}
		if spec.Parameters != nil {
			f.Parameters = object(t, spec.Parameters)
		}
		p.Tools = append(p.Tools, openai.ChatCompletionToolParam{Function: f})
		p.ToolChoice.OfAuto = openai.String("auto")
	}
	if req.Schema != nil {
		p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
			Name: schemaName(req.SchemaName), Strict: openai.Bool(true), Schema: object(t, req.Schema),
		}}
	}
	if req.Temperature != nil {
		p.Temperature = openai.Float(*req.Temperature)
	}
	if req.MaxOutput > 0 {
		p.MaxCompletionTokens = openai.Int(req.MaxOutput)
	}
	return p
}

func sdkMessage(m runner.Message) openai.ChatCompletionMessageParamUnion {
	switch m.Role {
	case runner.System:
		return openai.SystemMessage(m.Text)
	case runner.User:
		return openai.UserMessage(m.Text)
	case runner.ToolRole:
		return openai.ToolMessage(m.Text, m.ToolID)
	}
	said := &openai.ChatCompletionAssistantMessageParam{}
	if m.Text != "" || len(m.ToolCalls) == 0 {
		said.Content.OfString = openai.String(m.Text)
	}
	for _, call := range m.ToolCalls {
		f := openai.ChatCompletionMessageToolCallFunctionParam{Name: call.Name, Arguments: call.Args}
		if call.Args == "" {
			f.Arguments = "{}"
		}
		said.ToolCalls = append(said.ToolCalls, openai.ChatCompletionMessageToolCallParam{ID: call.ID, Function: f})
	}
	return openai.ChatCompletionMessageParamUnion{OfAssistant: said}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		model string
		cfg   Config
		want  string
		field string
	}{
		{"openai/gpt-4o", Config{}, "gpt-4o", "max_completion_tokens"},
		{"gpt-4o", Config{BaseURL: "https://eu.api.openai.com/v1"}, "gpt-4o", "max_completion_tokens"},
		{"script/demo", Config{BaseURL: "http://127.0.0.1:1/v1"}, "demo", "max_tokens"},
		{"openai/openai/x", Config{BaseURL: "http://h/v1"}, "openai/x", "max_tokens"},
		{"openai/gpt-5", Config{BaseURL: "https://openrouter.ai/api/v1", Prefixes: []string{"openrouter"}}, "openai/gpt-5", "max_completion_tokens"},
		{"openrouter/openai/gpt-5-mini", Config{BaseURL: "https://openrouter.ai/api/v1", Prefixes: []string{"openrouter"}}, "openai/gpt-5-mini", "max_completion_tokens"},
		{"o3-mini", Config{BaseURL: "http://h/v1"}, "o3-mini", "max_completion_tokens"},
		{"gpt-5.1", Config{BaseURL: "http://h/v1"}, "gpt-5.1", "max_completion_tokens"},
		{"gpt-5", Config{BaseURL: "https://x.openai.azure.com/openai/v1"}, "gpt-5", "max_completion_tokens"},
		{"gpt-50", Config{BaseURL: "http://h/v1"}, "gpt-50", "max_tokens"},
		{"gpt-oss:20b", Config{BaseURL: "http://h/v1"}, "gpt-oss:20b", "max_tokens"},
		{"olmo", Config{BaseURL: "https://notopenai.com/v1"}, "olmo", "max_tokens"},
	} {
		client := New(c.cfg)
		raw, err := client.encode(&runner.ModelRequest{Model: c.model, MaxOutput: 77, Messages: ask("x").Messages}, bySchema)
		if err != nil {
			t.Fatal(err)
		}
		m := object(t, raw)
		other := map[string]string{"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}[c.field]
		if m["model"] != c.want || m[c.field] != 77.0 || m[other] != nil {
			t.Errorf("%s at %s: %s", c.model, client.host, raw)
		}
	}
}

func TestMinimalRequest(t *testing.T) {
	t.Parallel()
	p := newPeer(t, fine("ok"))
	if _, err := newClient(t, p.URL+"/v1").Complete(t.Context(), ask("hi")); err != nil {
		t.Fatal(err)
	}
	if got := string(p.bodies[0]); got != `{"model":"m","messages":[{"role":"user","content":"hi"}]}` {
		t.Errorf("request %s", got)
	}
	for word, want := range map[string]string{"": "", "low": "low", "medium": "medium", "high": "high", "extra_high": "high"} {
		if got := effort(word); got != want {
			t.Errorf("effort %s is asked for as %q", word, got)
		}
	}
	for name, want := range map[string]string{"": "answer", "a b": "a_b", strings.Repeat("x", 99): strings.Repeat("x", 64), "ok-1_A": "ok-1_A"} {
		if got := schemaName(name); got != want {
			t.Errorf("schema %q is called %q", name, got)
		}
	}
}

func TestRequestThatIsNoJSON(t *testing.T) {
	t.Parallel()
	req := conversation()
	req.Tools[0].Parameters = json.RawMessage(`{"type":`)
	client := newClient(t, "http://127.0.0.1:1/v1")
	resp, err := client.Complete(t.Context(), req)
	if e := failure(t, client, resp, err); e.Class != runner.BadRequest || e.InDoubt || !strings.Contains(e.Detail, "cannot be written as JSON") {
		t.Errorf("%+v", e)
	}
}

// Two identical requests are identical bytes, and a conversation that goes on
// begins with the bytes of the shorter one, up to where that one's messages
// end: this is what caches live on.
func TestBytesAreStable(t *testing.T) {
	t.Parallel()
	client := New(Config{})
	encode := func(t *rapid.T, req *runner.ModelRequest) string {
		raw, err := client.encode(req, bySchema)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	text := rapid.StringN(0, 20, 60)
	rapid.Check(t, func(t *rapid.T) {
		req := conversation()
		for i := rapid.IntRange(0, 4).Draw(t, "turns"); i > 0; i-- {
			req.Messages = append(req.Messages,
				runner.Message{Role: runner.Assistant, Text: text.Draw(t, "said"), ToolCalls: []runner.ToolCall{{ID: text.Draw(t, "id"), Name: "f", Args: text.Draw(t, "args")}}},
				runner.Message{Role: runner.ToolRole, ToolID: "x", Text: text.Draw(t, "result")})
		}
		before := encode(t, req)
		if again := encode(t, req); again != before {
			t.Fatalf("two encodings differ:\n%s\n%s", before, again)
		}
		req.Messages = append(req.Messages, runner.Message{Role: runner.User, Text: text.Draw(t, "more")})
		req.MaxOutput = rapid.Int64Range(0, 1000).Draw(t, "bound")
		after := encode(t, req)
		if same, _ := strings.CutSuffix(before, `],"max_completion_tokens":500}`); len(same) == len(before) || !strings.HasPrefix(after, same+",") {
			t.Fatalf("the longer conversation does not begin like the shorter one:\n%s\n%s", before, after)
		}
	})
}
