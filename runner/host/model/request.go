package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/pawl-ci/pawl/runner"
)

// wireRequest is a request in the API's words, in the order in which it is
// sent: what stays the same from turn to turn first, so that the next turn's
// bytes begin with this one's. openai-go has types for this as well, but
// encodes 20 KB of them in half a millisecond, ten times as long as these take,
// and sorts the properties of tools, the order in which models read them.
type wireRequest struct {
	Model         string          `json:"model"`
	Temperature   *float64        `json:"temperature,omitempty"`
	Effort        string          `json:"reasoning_effort,omitempty"`
	Format        *wireFormat     `json:"response_format,omitempty"`
	ToolChoice    json.RawMessage `json:"tool_choice,omitempty"`
	Tools         []wireTool      `json:"tools,omitempty"`
	Messages      []wireMessage   `json:"messages"`
	MaxTokens     int64           `json:"max_tokens,omitempty"`
	MaxCompletion int64           `json:"max_completion_tokens,omitempty"`
}

type wireFormat struct {
	Type       string      `json:"type"`
	JSONSchema *wireSchema `json:"json_schema,omitempty"`
}

type wireSchema struct {
	Name   string          `json:"name"`
	Strict bool            `json:"strict"`
	Schema json.RawMessage `json:"schema"`
}

type wireTool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters,omitempty"`
	} `json:"function"`
}

type wireMessage struct {
	Role       runner.Role `json:"role"`
	Content    *string     `json:"content,omitempty"`
	ToolCalls  []wireCall  `json:"tool_calls,omitempty"`
	ToolCallID string      `json:"tool_call_id,omitempty"`
}

type wireCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// encode renders a request. The same request is the same bytes, always.
func (c *Client) encode(req *runner.ModelRequest, f form) ([]byte, error) {
	w := wireRequest{Model: c.wireModel(req.Model), Temperature: req.Temperature, Effort: effort(req.Effort)}
	if w.Model == "" {
		return nil, errors.New("no model is named")
	}
	w.Messages = make([]wireMessage, len(req.Messages))
	size := 1 << 10
	for i := range req.Messages {
		var err error
		if w.Messages[i], err = message(&req.Messages[i]); err != nil {
			return nil, err
		}
		size += len(req.Messages[i].Text)
	}
	if len(req.Tools) > 0 {
		w.ToolChoice = json.RawMessage(`"auto"`)
	}
	for _, t := range req.Tools {
		w.Tools = append(w.Tools, tool(t))
	}
	if req.Schema != nil {
		f.apply(&w, req)
	}
	c.bound(&w, req.MaxOutput)
	return render(&w, size+size/4)
}

func render(w *wireRequest, size int) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(size)
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(w); err != nil {
		return nil, fmt.Errorf("the request cannot be written as JSON: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func message(m *runner.Message) (wireMessage, error) {
	w := wireMessage{Role: m.Role, Content: &m.Text}
	switch m.Role {
	case runner.System, runner.User:
	case runner.ToolRole:
		w.ToolCallID = m.ToolID
	case runner.Assistant:
		if m.Text == "" && len(m.ToolCalls) > 0 {
			w.Content = nil
		}
		w.ToolCalls = calls(m.ToolCalls)
	default:
		return w, fmt.Errorf("a message has the unknown role %q", m.Role)
	}
	return w, nil
}

func calls(all []runner.ToolCall) []wireCall {
	out := make([]wireCall, len(all))
	for i, call := range all {
		w := &out[i]
		w.ID, w.Type, w.Function.Name, w.Function.Arguments = call.ID, "function", call.Name, call.Args
		if strings.TrimSpace(call.Args) == "" {
			w.Function.Arguments = "{}" // some servers parse what they are sent
		}
	}
	return out
}

func tool(t runner.ToolSpec) wireTool {
	w := wireTool{Type: "function"}
	w.Function.Name, w.Function.Description, w.Function.Parameters = t.Name, t.Description, t.Parameters
	return w
}

func format(req *runner.ModelRequest) *wireFormat {
	return &wireFormat{Type: "json_schema", JSONSchema: &wireSchema{schemaName(req.SchemaName), true, req.Schema}}
}

// schemaName makes name one that the API takes: at most 64 letters, digits, "_"
// and "-".
func schemaName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '_'
	}, name)
	if name == "" {
		return "answer"
	}
	return name[:min(len(name), 64)]
}

// effort maps the language's words to the API's. extra_high is asked for as
// high: only a few models know more, and the others refuse the whole request.
func effort(word string) string {
	if word == "extra_high" {
		return "high"
	}
	return word
}

// newBound matches models that refuse max_tokens, wherever they are served.
var newBound = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(.*/)?(o[1-9]|gpt-5)([-.].*)?$`)
})

// bound sets the largest number of output tokens. The API has two names for it.
// Every compatible server knows max_tokens; OpenAI has deprecated it and its
// reasoning models refuse it. So max_completion_tokens is used with OpenAI and
// Azure, and elsewhere for models whose names say that they are OpenAI's
// reasoning models; max_tokens in all other cases.
func (c *Client) bound(w *wireRequest, tokens int64) {
	switch {
	case tokens <= 0:
	case isOpenAI(c.cfg.BaseURL) || newBound().MatchString(w.Model):
		w.MaxCompletion = tokens
	default:
		w.MaxTokens = tokens
	}
}

func isOpenAI(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	host := "." + strings.ToLower(u.Hostname())
	return strings.HasSuffix(host, ".openai.com") || strings.HasSuffix(host, ".openai.azure.com")
}
