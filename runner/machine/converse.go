package machine

import (
	"fmt"
	"time"

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

// converse is the next step of a node that asks a model: a turn, a tool, a
// question to somebody else, or the end.
func (s *State) converse(t *Token, call *ir.Call) Command {
	if t.Conversation.Prompt == nil {
		return t.fails(event.FailInput, "prompt: %v", s.promptProblem(t, call))
	}
	if t.timedOut(s) {
		return t.givesUp(event.FailTimeout, "timeout: the %s of this node are used up", t.At.Timeout)
	}
	if f := t.lastFail; f != nil && (!f.Retry || t.failures > retries(t.At, defaultModelRetries)) {
		stop := &event.RunStopped{Reason: event.StopHost, Detail: f.Detail, Hint: f.Hint}
		if f.Limit != "" {
			stop.Reason, stop.Limit = event.StopBudget, f.Limit
		}
		return t.record(stop)
	}
	turns := t.Conversation.Turns
	if len(turns) == 0 {
		return s.turn(t, call, "")
	}
	last := &turns[len(turns)-1]
	if i := len(last.Results); i < len(last.Tools) {
		return s.use(t, call, last.Tools[i], i)
	}
	if last.Problem != "" && repairs(turns) > maxRepairs {
		return t.givesUp(event.FailOutput, "the answer does not fit after %d repair round: %s", maxRepairs, last.Problem)
	}
	if call.MaxSteps > 0 && t.steps() > call.MaxSteps {
		return t.givesUp(event.FailSteps, "tool_max_steps: %d turns with tools were not enough", call.MaxSteps)
	}
	return s.turn(t, call, last.Problem)
}

// promptProblem finds again what kept the visit from being opened with a prompt.
func (s *State) promptProblem(t *Token, call *ir.Call) error {
	if _, err := s.continued(t, call); err != nil {
		return err
	}
	_, err := s.prompt(t, call)
	return err
}

// use is what answers one tool call: a tool, or whoever answers an agent's
// question.
func (s *State) use(t *Token, call *ir.Call, use event.ToolUse, index int) Command {
	if use.Question != "" {
		return s.forward(t, call, use)
	}
	turn := len(t.Conversation.Turns)
	e := t.effect(fmt.Sprintf("tool/%d.%d", turn, index))
	e.Left = t.left(s)
	return CallTool{Effect: e, Use: use, Turn: turn, Index: index}
}

func retries(n *ir.Node, byDefault int) int {
	if n.Retries >= 0 {
		return n.Retries
	}
	return byDefault
}

// givesUp fails the visit, or begins it again when the node says so.
func (t *Token) givesUp(class event.FailureClass, format string, args ...any) Command {
	if t.try >= max(t.At.Retries, 0) {
		return t.fails(class, format, args...)
	}
	return t.record(&event.NodeRetried{Visit: t.Visit, Try: t.try + 1, Class: class, Detail: fmt.Sprintf(format, args...)})
}

func (s *State) turn(t *Token, call *ir.Call, repair string) Command {
	turn := len(t.Conversation.Turns) + 1
	model, err := s.modelFor(t, call)
	if err != nil {
		return t.fails(event.FailInput, "model: %s", err)
	}
	e := t.effect(fmt.Sprintf("model/%d", turn))
	e.Left = t.left(s)
	return CallModel{Effect: e, Call: call, Model: model, Turn: turn, Repair: repair, Reply: s.reply(t)}
}

func (s *State) modelFor(t *Token, call *ir.Call) (string, error) {
	switch {
	case call.Backend != "" && call.Model == nil:
		return "", nil // the program's own choice
	case call.Backend == "" && (s.Model != "" || call.Model == nil):
		return s.Model, nil
	}
	return call.Model.Render(scope{s, t}, nil)
}

func repairs(turns []Turn) int {
	n := 0
	for _, turn := range turns {
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

// left is what remains of the node's time; 0 without a bound. The time that a
// person takes to answer does not count.
func (t *Token) left(s *State) time.Duration {
	if t.At.Timeout == 0 {
		return 0
	}
	return max(t.At.Timeout-(s.Purse.Elapsed-t.began), leastTime)
}

// leastTime is taken for nothing: an effect that was ended at its time may be
// recorded a moment too early.
const leastTime = time.Millisecond

func (t *Token) timedOut(s *State) bool { return t.At.Timeout > 0 && t.left(s) <= leastTime }

// retried begins the visit anew, from its first messages.
func (s *State) retried(t *Token, b *event.NodeRetried) error {
	if b.Visit != t.Visit || b.Try != t.try+1 {
		return fmt.Errorf("try %d of visit %d, %d of %d was expected", b.Try, b.Visit, t.try+1, t.Visit)
	}
	c := t.Conversation
	t.Conversation = &Conversation{Session: c.Session, Visit: c.Visit, Branch: c.Branch, Before: c.Before, Prompt: c.Prompt}
	t.try, t.began, t.side = b.Try, s.Purse.Elapsed, nil
	t.succeeded()
	return nil
}
