package machine

import (
	"fmt"
	"time"

	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// Command is what must happen now. The set is closed; Record needs no outside
// world, the others are effects or lead to one.
type Command interface {
	isCommand()
}

// Record is a decision that only has to be written down.
type Record struct {
	Token event.TokenID
	Node  string
	Body  event.Body
}

// Effect is the common part of commands that reach outside.
type Effect struct {
	Token   *Token
	Node    *ir.Node
	Key     event.Key
	Attempt int
	Left    time.Duration // of the node's time; 0 without a bound
}

// CallModel asks for the next turn of a conversation. Repair is set when the
// turn before could not be read as the node's output. Reply reads the answer.
type CallModel struct {
	Effect
	Call   *ir.Call
	Model  string // as the workflow names it
	Turn   int
	Repair string
	Reply  Reply
	Side   *Side // set when the call answers an agent's question
}

// CallTool runs one tool that the model asked for in turn Turn.
type CallTool struct {
	Effect
	Use   event.ToolUse
	Turn  int
	Index int
}

// RunCommand runs a tool node. Line is the rendered command, or "" for Uses.
type RunCommand struct {
	Effect
	Exec *ir.Exec
	Line string
}

// OpenGate asks a person for the first time.
type OpenGate struct {
	Effect
	Question gates.Question
}

// PollGate asks again for a question that was opened before.
type PollGate struct {
	Effect
	Opened *event.GateOpened
}

// Verify runs the repository's tests before done counts.
type Verify struct {
	Effect
}

// Finish commits what the node changed and closes the visit with Done, which the
// commit is added to.
type Finish struct {
	Effect
	Done   *event.NodeFinished
	Commit bool // the node may have written
}

// Merge puts the work of branches together, in order and up to the first
// conflict that Sides does not decide. Mark asks for the files with both sides
// marked, for an agent.
type Merge struct {
	Effect
	Tree     Tree   // merged into
	Base     string // commit that the branches started from
	Branches []event.MergeBranch
	Sides    map[string]string // of the first branch: ours or theirs by path
	Mark     bool
}

func (Record) isCommand()     {}
func (Merge) isCommand()      {}
func (CallModel) isCommand()  {}
func (CallTool) isCommand()   {}
func (RunCommand) isCommand() {}
func (OpenGate) isCommand()   {}
func (PollGate) isCommand()   {}
func (Verify) isCommand()     {}
func (Finish) isCommand()     {}

// effect names the next effect of t: what is "model/3", "tool/3.0", "command", …
func (t *Token) effect(what string) Effect {
	attempt := t.attempts + 1
	if t.try > 0 {
		what = fmt.Sprintf("try%d/%s", t.try+1, what)
	}
	key := fmt.Sprintf("%d/%s/%d/%s/%d", t.ID, t.At.ID, t.Visit, what, attempt)
	return Effect{Token: t, Node: t.At, Key: event.Key(key), Attempt: attempt}
}
