package machine

import (
	"encoding/json"
	"fmt"

	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// Attempts that an effect gets before the node or the run gives up, when the
// node does not say otherwise.
const (
	defaultModelRetries   = 2
	defaultCommandRetries = 0
)

// maxRepairs is how often a model is told what was wrong with its answer.
const maxRepairs = 1

// Prompt is the content of NodeStarted.Prompt: a call's first messages.
type Prompt struct {
	System string `json:"system,omitempty"`
	User   string `json:"user"`
}

// prompt renders a call's first messages. Without a user prompt the model gets
// the input as JSON.
func (s *State) prompt(t *Token, call *ir.Call) (*event.Payload, error) {
	var p Prompt
	var err error
	c := scope{s, t}
	if call.System != nil {
		if p.System, err = call.System.Render(c, nil); err != nil {
			return nil, err
		}
	}
	if call.User != nil {
		p.User, err = call.User.Render(c, nil)
	} else {
		p.User, err = ir.Render(t.Input)
	}
	if err != nil {
		return nil, err
	}
	raw, err := ir.Encode(p)
	payload := event.Inline(raw)
	return &payload, err
}

// converse is the next step of an agent: a turn, a tool, or the end.
func (s *State) converse(t *Token, call *ir.Call) Command {
	if t.Conversation.Prompt == nil {
		_, err := s.prompt(t, call)
		return t.fails(event.FailInput, "prompt: %v", err)
	}
	if f := t.lastFail; f != nil && (!f.Retry || t.failures > retries(t.At, defaultModelRetries)) {
		return t.record(&event.RunStopped{Reason: event.StopHost, Detail: f.Detail, Hint: f.Hint})
	}
	turns := t.Conversation.Turns
	if len(turns) == 0 {
		return s.turn(t, call, "")
	}
	last := &turns[len(turns)-1]
	if i := len(last.Results); i < len(last.Tools) {
		return CallTool{Effect: t.effect(fmt.Sprintf("tool/%d.%d", len(turns), i)), Use: last.Tools[i], Turn: len(turns), Index: i}
	}
	if last.Problem != "" && t.repairs() > maxRepairs {
		return t.fails(event.FailOutput, "the answer does not fit after %d repair round: %s", maxRepairs, last.Problem)
	}
	if call.MaxSteps > 0 && t.steps() > call.MaxSteps {
		return t.fails(event.FailSteps, "tool_max_steps: %d turns with tools were not enough", call.MaxSteps)
	}
	return s.turn(t, call, last.Problem)
}

func retries(n *ir.Node, byDefault int) int {
	if n.Retries >= 0 {
		return n.Retries
	}
	return byDefault
}

func (s *State) turn(t *Token, call *ir.Call, repair string) Command {
	turn := len(t.Conversation.Turns) + 1
	model, err := s.modelFor(t, call)
	if err != nil {
		return t.fails(event.FailInput, "model: %s", err)
	}
	return CallModel{Effect: t.effect(fmt.Sprintf("model/%d", turn)), Call: call, Model: model, Turn: turn, Repair: repair}
}

func (s *State) modelFor(t *Token, call *ir.Call) (string, error) {
	if s.Model != "" || call.Model == nil {
		return s.Model, nil
	}
	return call.Model.Render(scope{s, t}, nil)
}

func (t *Token) repairs() int {
	n := 0
	for _, turn := range t.Conversation.Turns {
		if turn.Problem != "" {
			n++
		}
	}
	return n
}

func (t *Token) steps() int {
	n := 0
	for _, turn := range t.Conversation.Turns {
		if len(turn.Tools) > 0 {
			n++
		}
	}
	return n
}

// exec runs a tool node, again when it failed and may be retried.
func (s *State) exec(t *Token, op *ir.Exec) Command {
	if t.Failure != nil && t.failures > retries(t.At, defaultCommandRetries) {
		return t.record(t.Failure)
	}
	if op.Command == nil {
		return RunCommand{Effect: t.effect("command"), Exec: op}
	}
	line, err := op.Command.Command(scope{s, t})
	if err != nil {
		return t.fails(event.FailInput, "command: %s", err)
	}
	return RunCommand{Effect: t.effect("command"), Exec: op, Line: line}
}

func (s *State) ask(t *Token, op *ir.Ask) Command {
	question := gates.Question{
		Run: string(s.Run), Workflow: s.Workflow.Name, Node: t.At.ID,
		Gate: gates.ID(fmt.Sprintf("%s#%d", t.At.ID, t.Visit)), Fields: ir.Approval,
		MinAnswers: op.MinAnswers, Branch: s.Branch, Commit: s.Head,
	}
	if op.Instructions != nil {
		text, err := op.Instructions.Render(scope{s, t}, nil)
		if err != nil {
			return t.fails(event.FailInput, "instructions: %s", err)
		}
		question.Text = text
	}
	if t.At.Out != nil {
		question.Fields = question.Fields[:0:0]
		for _, f := range t.At.Out.Fields {
			question.Fields = append(question.Fields, f.Field)
		}
	}
	input, err := ir.Encode(t.Input)
	if err != nil {
		return t.fails(event.FailInput, "input: %s", err)
	}
	question.Input = json.RawMessage(input)
	return OpenGate{Effect: t.effect("gate"), Question: question}
}
