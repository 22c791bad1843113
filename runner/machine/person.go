package machine

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// AskTool is the tool with which an agent asks somebody. It is no tool of the
// host: the machine forwards the question to a person or to another model.
const AskTool = "ask_user"

// Side is the exchange with a model that answers an agent's question.
type Side struct {
	Prompt   *Prompt
	Question string
	Turns    []Turn
}

// answering is what the model that answers an agent is told.
const answering = "An agent at work asks you a question. Answer it briefly and definitely, so that it can go on."

// ask is the next step of a human node.
func (s *State) ask(t *Token, op *ir.Ask) Command {
	if op.Mode != ir.Pause && !t.needsPerson {
		return s.converse(t, op.Call)
	}
	question := s.question(t, gates.ID(t.visitName(t.Visit)))
	question.MinAnswers = op.MinAnswers
	if op.Instructions != nil {
		text, err := op.Instructions.Render(scope{s, t}, nil)
		if err != nil {
			return t.fails(event.FailInput, "instructions: %s", err)
		}
		question.Text = text
	}
	question.Text = strings.TrimSpace(question.Text + listed(t.questions))
	for _, f := range answerSchema(t.At).Fields {
		question.Fields = append(question.Fields, f.Field)
	}
	input, err := ir.Encode(t.Input)
	if err != nil {
		return t.fails(event.FailInput, "input: %s", err)
	}
	question.Input = json.RawMessage(input)
	return OpenGate{Effect: t.effect("gate"), Question: question}
}

// question is the common part of everything that a person is asked.
func (s *State) question(t *Token, gate gates.ID) gates.Question {
	return gates.Question{
		Run: string(s.Run), Workflow: s.Workflow.Name, Node: t.At.ID, Gate: gate, Branch: s.Branch, Commit: t.tree.Head,
	}
}

// listed shows the questions that a model has for a person.
func listed(questions []string) string {
	var b strings.Builder
	for _, q := range questions {
		b.WriteString("\n- " + q)
	}
	return b.String()
}

// forward passes an agent's question on to whoever answers it.
func (s *State) forward(t *Token, call *ir.Call, use event.ToolUse) Command {
	if call.Interaction == ir.HumanAnswers || t.needsPerson {
		question := s.question(t, gates.ID(fmt.Sprintf("%s.%d", t.visitName(t.Visit), t.asked+1)))
		question.Text = strings.TrimSpace(use.Question + listed(t.questions))
		question.Fields = []gates.Field{{Name: answerField, Kind: gates.String}}
		return OpenGate{Effect: t.effect(fmt.Sprintf("ask/%d", t.asked+1)), Question: question}
	}
	side := t.side
	if side == nil {
		prompt, err := s.sidePrompt(t, call, use.Question)
		if err != nil {
			return t.fails(event.FailInput, "interaction_prompt: %s", err)
		}
		side = &Side{Prompt: prompt, Question: use.Question}
	}
	repair := ""
	if n := len(side.Turns); n > 0 {
		if repair = side.Turns[n-1].Problem; repairs(side.Turns) > maxRepairs {
			return t.givesUp(event.FailOutput, "the answer to the agent's question does not fit after %d repair round: %s", maxRepairs, repair)
		}
	}
	model, err := s.sideModel(t, call)
	if err != nil {
		return t.fails(event.FailInput, "interaction_model: %s", err)
	}
	turn := t.sideTurns + 1
	e := t.effect(fmt.Sprintf("answer/%d", turn))
	e.Left = t.left(s)
	return CallModel{Effect: e, Call: &ir.Call{Role: ir.Judge, Effort: call.Effort}, Model: model, Turn: turn, Repair: repair, Reply: sideReply(call), Side: side}
}

func (s *State) sideModel(t *Token, call *ir.Call) (string, error) {
	if call.InteractionModel == nil {
		return s.modelFor(t, call)
	}
	if s.Model != "" {
		return s.Model, nil
	}
	return call.InteractionModel.Render(scope{s, t}, nil)
}

func sideReply(call *ir.Call) Reply {
	answer := &ir.Schema{Name: "answer", Fields: []ir.Field{{Field: gates.Field{Name: answerField, Kind: gates.String}}}}
	if call.Interaction == ir.ModelOrHuman {
		return orPerson(answer, 0)
	}
	return Reply{Schema: answer}
}

func (s *State) sidePrompt(t *Token, call *ir.Call, question string) (*Prompt, error) {
	p := &Prompt{}
	var err error
	if call.InteractionPrompt != nil {
		if p.System, err = call.InteractionPrompt.Render(scope{s, t}, nil); err != nil {
			return nil, err
		}
	}
	task, err := s.userPrompt(t, call)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	b.WriteString(answering)
	sideReply(call).frame(&b)
	p.Frame = b.String()
	p.User = fmt.Sprintf("The agent's task:\n%s\n\nIts question:\n%s", task, question)
	return p, nil
}

// waitingQuestion is the agent's question that is to be answered next.
func (t *Token) waitingQuestion() (event.ToolUse, bool) {
	if t.Conversation == nil || len(t.Conversation.Turns) == 0 {
		return event.ToolUse{}, false
	}
	last := &t.Conversation.Turns[len(t.Conversation.Turns)-1]
	if i := len(last.Results); i < len(last.Tools) && last.Tools[i].Question != "" {
		return last.Tools[i], true
	}
	return event.ToolUse{}, false
}

// told gives the agent the answer to its question; it goes on where it asked.
func (t *Token) told(answer any) error {
	text, err := ir.Render(answer)
	if err != nil {
		return err
	}
	raw, err := ir.Encode(text)
	if err != nil {
		return err
	}
	turn := &t.Conversation.Turns[len(t.Conversation.Turns)-1]
	turn.Results = append(turn.Results, event.Inline(raw))
	t.Phase, t.Question = Working, nil
	t.asked++
	t.side, t.questions, t.needsPerson = nil, nil, false
	return nil
}

// sideOpened keeps the first messages for the exchange's later turns.
func (s *State) sideOpened(t *Token, b *event.ModelCallStarted) error {
	call, agent := t.At.Op.(*ir.Call)
	if b.Question == "" || t.side != nil || !agent {
		return nil
	}
	prompt, err := s.sidePrompt(t, call, b.Question)
	if err != nil {
		return err
	}
	t.side = &Side{Prompt: prompt, Question: b.Question}
	return nil
}

// sideAnswered folds an answer of the model that answers an agent's question.
func (t *Token) sideAnswered(b *event.ModelCallFinished) error {
	if t.side == nil {
		return fmt.Errorf("nobody was asked about the agent's question")
	}
	t.sideTurns++
	t.side.Turns = append(t.side.Turns, Turn{Response: b.Response, Problem: b.Problem})
	if b.Output == nil {
		return nil
	}
	said, err := object(b.Output.Raw())
	if err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	if said[needsField] == true {
		t.callPerson(said)
		return nil
	}
	return t.told(said[answerField])
}

// callPerson says that the model leaves the decision to a person.
func (t *Token) callPerson(said map[string]any) {
	t.needsPerson = true
	items, _ := said[questionsField].([]any)
	for _, item := range items {
		if text, ok := item.(string); ok {
			t.questions = append(t.questions, text)
		}
	}
}

// decided folds what a model answered in place of a person.
func (t *Token) decided(op *ir.Ask, b *event.ModelCallFinished) error {
	said, err := object(b.Output.Raw())
	if err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	if op.Mode == ir.AutoOrPause {
		r := orPerson(answerSchema(t.At), op.MinAnswers)
		if said[r.needs] == true {
			t.callPerson(said)
			return nil
		}
		delete(said, r.needs)
	}
	output, problem := inline(said)
	if problem != "" {
		return fmt.Errorf("answer: %s", problem)
	}
	t.Output, t.Phase, t.by = output, Completed, b.Model
	return nil
}

// routed folds a router's choice; what flowed in flows on.
func (s *State) routed(t *Token, b *event.ModelCallFinished) error {
	said, err := object(b.Output.Raw())
	if err != nil {
		return fmt.Errorf("route: %w", err)
	}
	names := targets(said)
	for _, c := range s.choices(t) {
		for _, name := range names {
			if c.name == name {
				t.route = append(t.route, c.edge.Index)
			}
		}
	}
	if len(t.route) != len(names) {
		return fmt.Errorf("route: not every target of %v is an edge of %s", names, t.At.ID)
	}
	output, problem := inline(t.Input)
	if problem != "" {
		return fmt.Errorf("input: %s", problem)
	}
	reason, _ := said["reason"].(string)
	t.Output, t.Phase, t.reason = output, Completed, reason
	return nil
}
