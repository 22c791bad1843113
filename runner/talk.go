package runner

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
	"github.com/pawl-ci/pawl/runner/machine"
)

// talk is a conversation as messages. It is a cache of what the record says and
// is rebuilt from it after a resume; the same record gives the same bytes, so a
// provider's prompt cache keeps hitting.
type talk struct {
	at       *machine.Conversation // the visit that messages reach into
	turns    int                   // of it, that messages hold
	messages []Message
	told     string // the instructions that hold now
	size     int    // bytes of messages
	cut      int64  // bytes that were left out of older tool results
	most     int    // bytes above which they are
}

// answer is the content of ModelCallFinished.Response.
type answer struct {
	Text      string     `json:"text,omitempty"`
	ToolCalls []ToolCall `json:"tool_calls,omitempty"`
}

// request is the next turn of a conversation, with the bytes that the bound on
// its size has cost so far.
func (e *engine) request(c machine.CallModel) (*ModelRequest, int64, error) {
	t, err := e.talk(c)
	if err != nil {
		return nil, 0, fmt.Errorf("rebuild the conversation of %s: %w", c.Node.ID, err)
	}
	tools, err := e.toolSpecs(c.Call)
	if err != nil {
		return nil, 0, fmt.Errorf("tools of %s: %w", c.Node.ID, err)
	}
	req := &ModelRequest{
		Model: c.Model, Messages: slices.Clip(t.messages), Tools: tools, Temperature: c.Call.Temperature, Effort: c.Call.Effort,
		Key:   event.Key(string(e.run) + "/" + string(c.Key)),
		Trace: Trace{Run: e.run, Node: c.Node.ID, Visit: c.Token.Visit, Turn: c.Turn},
	}
	if c.Side != nil {
		req.Trace.Node += "/answer"
	}
	if schema := c.Reply.Schema; schema != nil {
		req.SchemaName = schema.Name
		req.Schema, req.Strict = schema.JSONSchema()
	}
	return req, t.cut, nil
}

// size is the number of bytes that become prompt tokens.
func (r *ModelRequest) size() int {
	n := len(r.Schema) + sizeOf(r.Messages)
	for _, t := range r.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Parameters)
	}
	return n
}

func sizeOf(messages []Message) int {
	n := 0
	for _, m := range messages {
		n += len(m.Text)
		for _, c := range m.ToolCalls {
			n += len(c.Name) + len(c.Args)
		}
	}
	return n
}

// askSpec is the tool with which an agent asks somebody.
var askSpec = ToolSpec{
	Name:        machine.AskTool,
	Description: "Ask whoever gave you the task one question, and wait for the answer. Only for what you can neither find out nor decide yourself.",
	Parameters:  json.RawMessage(`{"type":"object","properties":{"question":{"type":"string"}},"required":["question"],"additionalProperties":false}`),
}

// toolSpecs describes what the call may use: nothing that its policy forbids, and
// for a readonly call no tool that writes.
func (e *engine) toolSpecs(call *ir.Call) ([]ToolSpec, error) {
	if call.Backend != "" {
		return nil, nil // its tools are its own
	}
	names := make([]string, len(call.Tools))
	for i, t := range call.Tools {
		names[i] = t.Name
	}
	specs, err := e.Tools.Specs(names)
	specs = slices.DeleteFunc(specs, func(s ToolSpec) bool {
		return call.Readonly && s.Writes || !call.Policy.Permits(cmp.Or(s.Proper, s.Name))
	})
	if call.Interaction != ir.NoInteraction {
		specs = append(specs, askSpec)
	}
	return specs, err
}

// questionIn is what a tool call asks somebody; "" when it does not.
func questionIn(call *ir.Call, use ToolCall) string {
	var args struct {
		Question string `json:"question"`
	}
	if call.Interaction == ir.NoInteraction || use.Name != machine.AskTool || json.Unmarshal([]byte(use.Args), &args) != nil {
		return ""
	}
	return args.Question
}

// talk is the conversation up to the turn that c asks for.
func (e *engine) talk(c machine.CallModel) (*talk, error) {
	if c.Side != nil {
		return e.sideTalk(c.Side)
	}
	conv := c.Token.Conversation
	t := e.talks[c.Token.ID]
	if t == nil || !t.leadsTo(conv) {
		e.forget()
		t = &talk{most: e.opts.MaxConversation}
		e.talks[c.Token.ID] = t
	}
	var ahead []*machine.Conversation
	for at := conv; at != nil && at != t.at; at = at.Before {
		ahead = append(ahead, at)
	}
	if t.at == conv {
		return t, e.catchUp(t)
	}
	for _, at := range slices.Backward(ahead) {
		if err := e.enter(t, at); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// forget drops the talks of tokens that are gone: a loop of fan-outs makes many.
func (e *engine) forget() {
	for id := range e.talks {
		if e.state.Token(id) == nil {
			delete(e.talks, id)
		}
	}
}

// leadsTo reports whether conv begins with everything that t holds: it is the
// same visit, or one that goes on where t ends.
func (t *talk) leadsTo(conv *machine.Conversation) bool {
	return t.at == conv || t.at == conv.Before && t.at != nil
}

// enter adds a visit to the talk: its first message, and its turns.
func (e *engine) enter(t *talk, conv *machine.Conversation) error {
	if t.at != nil {
		if err := e.catchUp(t); err != nil {
			return err
		}
	}
	payload := conv.Prompt
	if err := payload.Load(e.Blobs.Get); err != nil {
		return err
	}
	var p machine.Prompt
	if err := json.Unmarshal(payload.Raw(), &p); err != nil {
		return fmt.Errorf("prompt: %w", err)
	}
	t.at, t.turns = conv, 0
	t.open(&p)
	return e.catchUp(t)
}

// open says what a visit begins with. The first one begins with a system
// message; a later one tells new instructions as a user, because what was sent
// once must stay as it is, and only when they are new.
func (t *talk) open(p *machine.Prompt) {
	instructions := p.Instructions()
	text := p.User
	switch {
	case len(t.messages) == 0:
		t.add(Message{Role: System, Text: instructions})
	case instructions != t.told && instructions != "":
		text = "From here on this holds:\n" + instructions + "\n\n" + text
	}
	t.told = instructions
	t.add(Message{Role: User, Text: text})
}

// catchUp adds the turns of the visit that are not in the talk yet.
func (e *engine) catchUp(t *talk) error {
	for turns := t.at.Turns; t.turns < len(turns); t.turns++ {
		more, err := e.turnMessages(&turns[t.turns])
		if err != nil {
			return err
		}
		t.add(more...)
	}
	return nil
}

// turnMessages is one recorded turn: the answer, tool results, and what was
// wrong with it.
func (e *engine) turnMessages(turn *machine.Turn) ([]Message, error) {
	if err := turn.Response.Load(e.Blobs.Get); err != nil {
		return nil, err
	}
	var said answer
	if err := json.Unmarshal(turn.Response.Raw(), &said); err != nil {
		return nil, fmt.Errorf("answer: %w", err)
	}
	messages := []Message{{Role: Assistant, Text: said.Text, ToolCalls: said.ToolCalls}}
	for i := range turn.Results {
		if err := turn.Results[i].Load(e.Blobs.Get); err != nil {
			return nil, err
		}
		var text string
		if err := json.Unmarshal(turn.Results[i].Raw(), &text); err != nil {
			return nil, fmt.Errorf("tool result: %w", err)
		}
		messages = append(messages, Message{Role: ToolRole, ToolID: turn.Tools[i].ID, Text: text})
	}
	if turn.Problem != "" {
		messages = append(messages, Message{Role: User, Text: repair(turn.Problem)})
	}
	return messages, nil
}

func repair(problem string) string {
	return "That answer cannot be used: " + problem + ". Answer again with one JSON object that mends this, and nothing else."
}

// sideTalk is the exchange about an agent's question; it is short and built anew
// each time.
func (e *engine) sideTalk(side *machine.Side) (*talk, error) {
	t := &talk{most: e.opts.MaxConversation}
	t.open(side.Prompt)
	for i := range side.Turns {
		more, err := e.turnMessages(&side.Turns[i])
		if err != nil {
			return nil, err
		}
		t.add(more...)
	}
	return t, nil
}
