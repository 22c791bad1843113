package script

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Fingerprint is the system_fingerprint of every answer of a script.
const Fingerprint = "pawl-script"

// Label marks a model's name as a script's.
const Label = " (script)"

// bytesPerToken is the fixed rule by which usage is estimated when a script
// gives none. It lies below what a purse reserves for the same bytes.
const bytesPerToken = 4

// answer is a reply made ready for one request.
type answer struct {
	id     string
	model  string
	text   string
	calls  []ToolCall
	finish string
	usage  *Usage
}

// prepare applies a reply to a request: ids that depend on the request alone,
// usage, and the request's bound on output, which a provider keeps as well.
func (s *Script) prepare(reply *Reply, r *chatRequest, body []byte) answer {
	sum := sha256.Sum256(body)
	digest := hex.EncodeToString(sum[:])
	a := answer{id: "chatcmpl-" + digest[:24], model: s.label(r.Model), text: reply.Text, finish: reply.Finish}
	for i, c := range reply.ToolCalls {
		if c.ID == "" {
			c.ID = fmt.Sprintf("call_%s_%d", digest[:16], i)
		}
		a.calls = append(a.calls, c)
	}
	if a.finish == "" {
		a.finish = "stop"
		if len(a.calls) > 0 {
			a.finish = "tool_calls"
		}
	}
	u := a.measure(reply, r)
	a.bound(r.limit(), &u)
	if !reply.NoUsage {
		a.usage = &u
	}
	return a
}

func (s *Script) label(asked string) string {
	if s.Model != "" {
		asked = s.Model
	}
	return strings.TrimSuffix(asked, Label) + Label
}

func (a *answer) measure(reply *Reply, r *chatRequest) Usage {
	if reply.Usage != nil {
		return *reply.Usage
	}
	out := len(a.text)
	for _, c := range a.calls {
		out += len(c.Name) + len(c.Args)
	}
	return Usage{Input: tokensOf(r.bytes()), Output: tokensOf(out)}
}

func tokensOf(bytes int) int64 { return max(int64(bytes+bytesPerToken-1)/bytesPerToken, 1) }

// bound cuts an answer that is longer than the request allows: the text keeps
// its share, and a call that was cut in the middle is no call.
func (a *answer) bound(limit int64, u *Usage) {
	if limit == 0 || u.Output <= limit {
		return
	}
	keep := int(float64(len(a.text)) * float64(limit) / float64(u.Output))
	for keep > 0 && keep < len(a.text) && !utf8.RuneStart(a.text[keep]) {
		keep--
	}
	a.text, a.calls, a.finish = a.text[:keep], nil, "length"
	u.Output, u.Reasoning = limit, min(u.Reasoning, limit)
}

type wireMessage struct {
	Role      string     `json:"role"`
	Content   *string    `json:"content"`
	Refusal   *string    `json:"refusal"`
	ToolCalls []wireCall `json:"tool_calls,omitempty"`
}

type wireCall struct {
	Index    *int         `json:"index,omitempty"` // in a stream only
	ID       string       `json:"id,omitempty"`
	Type     string       `json:"type,omitempty"`
	Function wireFunction `json:"function"`
}

type wireFunction struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

type wireUsage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Total      int64 `json:"total_tokens"`
	PromptMore struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionMore struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

type wireChoice struct {
	Index        int          `json:"index"`
	Message      *wireMessage `json:"message,omitempty"`
	Delta        *wireDelta   `json:"delta,omitempty"`
	Logprobs     *struct{}    `json:"logprobs"`
	FinishReason *string      `json:"finish_reason"`
}

type wireDelta struct {
	Role      string     `json:"role,omitempty"`
	Content   *string    `json:"content,omitempty"`
	ToolCalls []wireCall `json:"tool_calls,omitempty"`
}

type wireCompletion struct {
	ID          string       `json:"id"`
	Object      string       `json:"object"`
	Created     int64        `json:"created"`
	Model       string       `json:"model"`
	Choices     []wireChoice `json:"choices"`
	Usage       *wireUsage   `json:"usage,omitempty"`
	Fingerprint string       `json:"system_fingerprint"`
}

func (a *answer) wire() wireCompletion {
	message := &wireMessage{Role: "assistant"}
	if a.text != "" || len(a.calls) == 0 {
		message.Content = &a.text
	}
	for _, c := range a.calls {
		message.ToolCalls = append(message.ToolCalls, wireCall{ID: c.ID, Type: "function", Function: wireFunction{c.Name, c.Args}})
	}
	return a.envelope("chat.completion", wireChoice{Message: message, FinishReason: &a.finish})
}

func (a *answer) envelope(kind string, choices ...wireChoice) wireCompletion {
	c := wireCompletion{ID: a.id, Object: kind, Model: a.model, Choices: choices, Fingerprint: Fingerprint}
	if c.Choices == nil {
		c.Choices = []wireChoice{}
	}
	if a.usage != nil {
		c.Usage = a.usage.wire()
	}
	return c
}

func (u *Usage) wire() *wireUsage {
	w := &wireUsage{Prompt: u.Input, Completion: u.Output, Total: u.Input + u.Output}
	w.PromptMore.Cached, w.CompletionMore.Reasoning = u.Cached, u.Reasoning
	return w
}

// encode renders our own wire types, which always have a JSON form.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("script: encode %T: %v", v, err))
	}
	return append(b, '\n')
}
