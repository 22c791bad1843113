package event

import (
	"encoding/json"

	"github.com/pawl-ci/pawl/budget"
)

// ModelCallStarted is durable before the request leaves.
type ModelCallStarted struct {
	Key       Key           `json:"key"`
	Turn      int           `json:"turn"`    // 1 for the node's first request
	Attempt   int           `json:"attempt"` // 1 unless an earlier attempt failed or stayed in doubt
	Model     string        `json:"model"`
	MaxOutput int64         `json:"max_output,omitempty"`
	Reserved  budget.Amount `json:"reserved"`
	Backend   string        `json:"backend,omitempty"` // an agent CLI that does the work instead of a model
	Writes    bool          `json:"writes,omitempty"`  // it may change the worktree

	Question string   `json:"question,omitempty"` // of an agent, which this call answers in a person's place
	Prompt   *Payload `json:"prompt,omitempty"`   // {system, user, frame} of such a call
	Cut      int64    `json:"cut,omitempty"`      // bytes of older tool results that the request leaves out
}

// ToolUse is one tool call a model asked for; its arguments are in the response.
type ToolUse struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Writes bool   `json:"writes,omitempty"` // may change the worktree

	Question string `json:"question,omitempty"` // the agent asks this, and no tool runs
}

// ModelCallFinished holds the measured answer of one turn. When Tools is empty
// the turn was the last one, and exactly one of Output and Problem is set.
type ModelCallFinished struct {
	Key       Key          `json:"key"`
	Model     string       `json:"model"`    // as the provider reported it
	Response  Payload      `json:"response"` // {text, tool_calls}
	Tools     []ToolUse    `json:"tools,omitempty"`
	Output    *Payload     `json:"output,omitempty"`  // checked against the node's schema
	Problem   string       `json:"problem,omitempty"` // why the answer could not be an output
	Finish    string       `json:"finish,omitempty"`  // provider's finish reason
	Form      string       `json:"form,omitempty"`    // what kept the answer to its schema: json_schema, json_object, tool or prompt
	Usage     budget.Usage `json:"usage"`
	Unpriced  bool         `json:"unpriced,omitempty"`  // the cost is unknown, not zero
	Estimated bool         `json:"estimated,omitempty"` // the provider reported no usage: the reservation counts
	Millis    int64        `json:"ms"`
	Snapshot  string       `json:"snapshot,omitempty"` // of the worktree after an agent CLI that writes
}

// ModelCallFailed ends an attempt that brought no usable answer.
type ModelCallFailed struct {
	Key     Key           `json:"key"`
	Class   string        `json:"class"` // unreachable, auth, rate_limit, server, timeout, malformed, refused, bad_request
	Detail  string        `json:"detail"`
	Hint    string        `json:"hint,omitempty"`
	Retry   bool          `json:"retry,omitempty"`  // another attempt may help
	Charged budget.Amount `json:"charged,omitzero"` // counted as spent because the provider may have worked
	Used    *budget.Usage `json:"used,omitempty"`   // measured all the same; then it is counted instead
	Limit   string        `json:"limit,omitempty"`  // of the budget, that ended the call
	Millis  int64         `json:"ms"`
}

// ToolCallStarted is durable before an agent's tool runs.
type ToolCallStarted struct {
	Key     Key    `json:"key"`
	Turn    int    `json:"turn"`
	Index   int    `json:"index"` // position among the turn's tool calls, from 0
	Attempt int    `json:"attempt"`
	Name    string `json:"name"`
	Writes  bool   `json:"writes,omitempty"`
}

// ToolCallFinished holds what the tool gave back to the model.
type ToolCallFinished struct {
	Key      Key     `json:"key"`
	Result   Payload `json:"result"` // a JSON string
	Error    bool    `json:"error,omitempty"`
	Summary  string  `json:"summary,omitempty"`  // one line for people
	Snapshot string  `json:"snapshot,omitempty"` // worktree afterwards, for tools that may write
	Millis   int64   `json:"ms"`
}

// CommandStarted is durable before a tool node's command runs.
type CommandStarted struct {
	Key     Key    `json:"key"`
	Attempt int    `json:"attempt"`
	Command string `json:"command"`
}

// CommandFinished holds a tool node's result. Problem is set when the result
// cannot be the node's output; then the node fails.
type CommandFinished struct {
	Key      Key          `json:"key"`
	Exit     int          `json:"exit"`
	Output   *Payload     `json:"output,omitempty"`
	Class    FailureClass `json:"class,omitempty"`
	Problem  string       `json:"problem,omitempty"`
	Evidence *Evidence    `json:"evidence,omitempty"` // for builtin.verify
	Snapshot string       `json:"snapshot,omitempty"`
	Millis   int64        `json:"ms"`
}

// GateOpened is durable before a person is asked.
type GateOpened struct {
	Key      Key     `json:"key"`
	Gate     string  `json:"gate"`
	Question Payload `json:"question"` // gates.Question
}

// GateAsked says that the question is where the person will see it and that no
// answer was there yet. Asking again after a resume finds the same question.
type GateAsked struct {
	Key  Key    `json:"key"`
	Gate string `json:"gate"`
	Ref  string `json:"ref,omitempty"` // where it was asked: a URL, or ""
}

// GateAnswered holds an answer that fits the gate's schema.
type GateAnswered struct {
	Key    Key             `json:"key"`
	Gate   string          `json:"gate"`
	Output json.RawMessage `json:"output"`
	By     string          `json:"by"`
	Via    string          `json:"via"`
}

// VerifyStarted is durable before the repository's tests run.
type VerifyStarted struct {
	Key Key `json:"key"`
}

// VerifyFinished holds the evidence.
type VerifyFinished struct {
	Key      Key      `json:"key"`
	Evidence Evidence `json:"evidence"`
}

// EffectForfeited settles an effect whose outcome stayed unknown after a crash:
// its reservation counts as spent and it will be started again.
type EffectForfeited struct {
	Key     Key           `json:"key"`
	Charged budget.Amount `json:"charged,omitzero"`
	Detail  string        `json:"detail"`
}

// EventType implements Body.
func (*ModelCallStarted) EventType() Type { return "ModelCallStarted" }

// EventType implements Body.
func (*ModelCallFinished) EventType() Type { return "ModelCallFinished" }

// EventType implements Body.
func (*ModelCallFailed) EventType() Type { return "ModelCallFailed" }

// EventType implements Body.
func (*ToolCallStarted) EventType() Type { return "ToolCallStarted" }

// EventType implements Body.
func (*ToolCallFinished) EventType() Type { return "ToolCallFinished" }

// EventType implements Body.
func (*CommandStarted) EventType() Type { return "CommandStarted" }

// EventType implements Body.
func (*CommandFinished) EventType() Type { return "CommandFinished" }

// EventType implements Body.
func (*GateOpened) EventType() Type { return "GateOpened" }

// EventType implements Body.
func (*GateAsked) EventType() Type { return "GateAsked" }

// EventType implements Body.
func (*GateAnswered) EventType() Type { return "GateAnswered" }

// EventType implements Body.
func (*VerifyStarted) EventType() Type { return "VerifyStarted" }

// EventType implements Body.
func (*VerifyFinished) EventType() Type { return "VerifyFinished" }

// EventType implements Body.
func (*EffectForfeited) EventType() Type { return "EffectForfeited" }

func (b *ModelCallStarted) payloads() (needed, other []*Payload) {
	return nil, []*Payload{b.Prompt}
}
func (b *ModelCallFinished) payloads() (needed, other []*Payload) {
	return []*Payload{b.Output}, []*Payload{&b.Response}
}
func (*ModelCallFailed) payloads() (needed, other []*Payload)    { return nil, nil }
func (*ToolCallStarted) payloads() (needed, other []*Payload)    { return nil, nil }
func (b *ToolCallFinished) payloads() (needed, other []*Payload) { return nil, []*Payload{&b.Result} }
func (*CommandStarted) payloads() (needed, other []*Payload)     { return nil, nil }
func (b *CommandFinished) payloads() (needed, other []*Payload)  { return []*Payload{b.Output}, nil }
func (b *GateOpened) payloads() (needed, other []*Payload)       { return []*Payload{&b.Question}, nil }
func (*GateAsked) payloads() (needed, other []*Payload)          { return nil, nil }
func (*GateAnswered) payloads() (needed, other []*Payload)       { return nil, nil }
func (*VerifyStarted) payloads() (needed, other []*Payload)      { return nil, nil }
func (*VerifyFinished) payloads() (needed, other []*Payload)     { return nil, nil }
func (*EffectForfeited) payloads() (needed, other []*Payload)    { return nil, nil }
