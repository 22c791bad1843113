package script

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// chatRequest is what this server reads of a chat completion request. Fields it
// does not know are ignored.
type chatRequest struct {
	Model          string          `json:"model"`
	Messages       []chatMessage   `json:"messages"`
	Tools          []chatTool      `json:"tools"`
	ToolChoice     json.RawMessage `json:"tool_choice"`
	ResponseFormat *responseFormat `json:"response_format"`
	MaxTokens      *int64          `json:"max_tokens"`
	MaxCompletion  *int64          `json:"max_completion_tokens"`
	Temperature    *float64        `json:"temperature"`
	Effort         *string         `json:"reasoning_effort"`
	N              *int64          `json:"n"`
	Stream         bool            `json:"stream"`
	StreamOptions  *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`

	// Not on the wire: where the request comes from.
	node        string
	visit, turn int
}

type chatMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCalls  []chatToolCall  `json:"tool_calls"`
	ToolCallID string          `json:"tool_call_id"`

	text string // Content, decoded
}

type chatToolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type chatTool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
		Strict      bool            `json:"strict"`
	} `json:"function"`
}

type responseFormat struct {
	Type       string `json:"type"`
	JSONSchema *struct {
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"schema"`
		Strict bool            `json:"strict"`
	} `json:"json_schema"`
}

// refusal is a request that the API does not accept: a 400.
type refusal struct{ param, code, message string }

func refuse(param, format string, args ...any) *refusal {
	return &refusal{param, "invalid_request", fmt.Sprintf(format, args...)}
}

// readRequest decodes and checks a request as strictly as a provider does.
func readRequest(body []byte, h http.Header) (*chatRequest, *refusal) {
	var r chatRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, &refusal{"", "invalid_json", "the body is not a chat completion request: " + err.Error()}
	}
	for _, check := range []func(*chatRequest) *refusal{checkBasics, checkMessages, checkPairing, checkTools, checkFormat} {
		if bad := check(&r); bad != nil {
			return nil, bad
		}
	}
	r.trace(h)
	return &r, nil
}

// trace finds out where the request comes from. The turn is the client's count;
// for clients that send none it is the number of answers so far, plus one.
func (r *chatRequest) trace(h http.Header) {
	r.node = h.Get("X-Pawl-Node")
	r.visit, _ = strconv.Atoi(h.Get("X-Pawl-Visit"))
	r.turn, _ = strconv.Atoi(h.Get("X-Pawl-Turn"))
	if r.turn > 0 {
		return
	}
	r.turn = 1
	for _, m := range r.Messages {
		if m.Role == "assistant" {
			r.turn++
		}
	}
}

func checkBasics(r *chatRequest) *refusal {
	outside := func(n *int64) bool { return n != nil && *n < 1 }
	switch {
	case r.Model == "":
		return refuse("model", "model is missing")
	case len(r.Messages) == 0:
		return refuse("messages", "messages is missing or empty")
	case outside(r.MaxTokens) || outside(r.MaxCompletion):
		return refuse("max_tokens", "the bound on output tokens must be at least 1")
	case r.MaxTokens != nil && r.MaxCompletion != nil:
		return refuse("max_tokens", "max_tokens and max_completion_tokens cannot both be set")
	case r.Temperature != nil && (*r.Temperature < 0 || *r.Temperature > 2):
		return refuse("temperature", "temperature must lie between 0 and 2")
	case r.N != nil && *r.N != 1:
		return refuse("n", "a script gives one choice: n must be 1")
	case r.Effort != nil && !slices.Contains([]string{"none", "minimal", "low", "medium", "high", "xhigh"}, *r.Effort):
		return refuse("reasoning_effort", "reasoning_effort %q is not one of none, minimal, low, medium, high, xhigh", *r.Effort)
	}
	return nil
}

func checkMessages(r *chatRequest) *refusal {
	for i := range r.Messages {
		m := &r.Messages[i]
		at := fmt.Sprintf("messages[%d]", i)
		var bad *refusal
		if m.text, bad = contentText(m.Content, at); bad != nil {
			return bad
		}
		empty := len(m.Content) == 0 || string(m.Content) == "null"
		switch m.Role {
		case "system", "developer", "user", "tool":
			if empty {
				return refuse(at+".content", "%s: a %s message needs content", at, m.Role)
			}
		case "assistant":
			if empty && len(m.ToolCalls) == 0 {
				return refuse(at+".content", "%s: an assistant message needs content or tool_calls", at)
			}
		default:
			return refuse(at+".role", "%s: role %q is not one of system, developer, user, assistant, tool", at, m.Role)
		}
		if m.Role == "tool" && m.ToolCallID == "" {
			return refuse(at+".tool_call_id", "%s: a tool message needs tool_call_id", at)
		}
		if m.Role != "assistant" && len(m.ToolCalls) > 0 {
			return refuse(at+".tool_calls", "%s: only an assistant message has tool_calls", at)
		}
	}
	return nil
}

// contentText reads a message's content: text, or a list of text parts.
func contentText(raw json.RawMessage, at string) (string, *refusal) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s, nil
	}
	var parts []struct{ Type, Text string }
	if json.Unmarshal(raw, &parts) != nil || len(parts) == 0 {
		return "", refuse(at+".content", "%s: content is neither text nor a list of parts", at)
	}
	var b strings.Builder
	for _, p := range parts {
		if p.Type != "text" {
			return "", refuse(at+".content", "%s: a script reads text parts only, this one is %q", at, p.Type)
		}
		b.WriteString(p.Text)
	}
	return b.String(), nil
}

// checkPairing makes sure that every tool call is answered, right after it, and
// that nothing else is.
func checkPairing(r *chatRequest) *refusal {
	open, from := map[string]bool{}, 0
	for i, m := range r.Messages {
		at := fmt.Sprintf("messages[%d]", i)
		if m.Role == "tool" {
			if !open[m.ToolCallID] {
				return refuse(at+".tool_call_id", "%s: tool_call_id %q answers no open call of the assistant message before it", at, m.ToolCallID)
			}
			delete(open, m.ToolCallID)
			continue
		}
		if len(open) > 0 {
			return unanswered(from, open)
		}
		from = i
		for j, c := range m.ToolCalls {
			if c.ID == "" || c.Type != "function" || c.Function.Name == "" {
				return refuse(at+".tool_calls", "%s: tool_calls[%d] needs id, type \"function\" and a function name", at, j)
			}
			if open[c.ID] {
				return refuse(at+".tool_calls", "%s: tool_calls[%d] repeats the id %q", at, j, c.ID)
			}
			open[c.ID] = true
		}
	}
	if len(open) > 0 {
		return unanswered(from, open)
	}
	return nil
}

func unanswered(from int, open map[string]bool) *refusal {
	ids := make([]string, 0, len(open))
	for id := range open {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	at := fmt.Sprintf("messages[%d]", from)
	return refuse(at+".tool_calls", "%s: tool calls without a tool message right after: %s", at, strings.Join(ids, ", "))
}

// wireName reports whether the API takes s as the name of a tool or schema.
func wireName(s string) bool {
	const allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
	return s != "" && len(s) <= 64 && strings.Trim(s, allowed) == ""
}

func checkTools(r *chatRequest) *refusal {
	seen := map[string]bool{}
	for i, t := range r.Tools {
		at, name := fmt.Sprintf("tools[%d]", i), t.Function.Name
		switch {
		case t.Type != "function":
			return refuse(at+".type", "%s: type %q is not \"function\"", at, t.Type)
		case !wireName(name):
			return refuse(at+".function.name", "%s: name %q: want 1 to 64 letters, digits, _ and -", at, name)
		case seen[name]:
			return refuse(at+".function.name", "%s: the name %q is there twice", at, name)
		}
		seen[name] = true
		if bad := checkSchema(t.Function.Parameters, t.Function.Strict, at+".function.parameters"); bad != nil {
			return bad
		}
	}
	if len(r.ToolChoice) > 0 && string(r.ToolChoice) != "null" && len(r.Tools) == 0 {
		return refuse("tool_choice", "tool_choice without tools")
	}
	return nil
}

func checkFormat(r *chatRequest) *refusal {
	f := r.ResponseFormat
	if f == nil {
		return nil
	}
	switch f.Type {
	case "text", "json_object":
		return nil
	case "json_schema":
	default:
		return refuse("response_format.type", "response_format: type %q is not one of text, json_object, json_schema", f.Type)
	}
	switch {
	case f.JSONSchema == nil:
		return refuse("response_format.json_schema", "response_format: json_schema is missing")
	case !wireName(f.JSONSchema.Name):
		return refuse("response_format.json_schema.name", "response_format: name %q: want 1 to 64 letters, digits, _ and -", f.JSONSchema.Name)
	case len(f.JSONSchema.Schema) == 0:
		return refuse("response_format.json_schema.schema", "response_format: schema is missing")
	}
	return checkSchema(f.JSONSchema.Schema, f.JSONSchema.Strict, "response_format.json_schema.schema")
}

func (r *chatRequest) schema() string {
	if r.ResponseFormat == nil || r.ResponseFormat.JSONSchema == nil {
		return ""
	}
	return r.ResponseFormat.JSONSchema.Name
}

// limit is the bound on output tokens, 0 without one.
func (r *chatRequest) limit() int64 {
	for _, n := range []*int64{r.MaxCompletion, r.MaxTokens} {
		if n != nil {
			return *n
		}
	}
	return 0
}

// bytes is how much text the request holds, which is what tokens are estimated
// from: messages, tool calls, tools and the answer's schema.
func (r *chatRequest) bytes() int {
	n := 0
	for _, m := range r.Messages {
		n += len(m.text)
		for _, c := range m.ToolCalls {
			n += len(c.Function.Name) + len(c.Function.Arguments)
		}
	}
	for _, t := range r.Tools {
		n += len(t.Function.Name) + len(t.Function.Description) + len(t.Function.Parameters)
	}
	if f := r.ResponseFormat; f != nil && f.JSONSchema != nil {
		n += len(f.JSONSchema.Schema)
	}
	return n
}
