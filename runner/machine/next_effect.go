package machine

import (
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// exec runs a tool node, again when it failed and may be retried.
func (s *State) exec(t *Token, op *ir.Exec) Command {
	if t.Failure != nil && t.failures > retries(t.At, defaultCommandRetries) {
		return t.record(t.Failure)
	}
	effect := t.effect("command")
	effect.Left = t.At.Timeout // of each attempt
	if op.Command == nil {
		return RunCommand{Effect: effect, Exec: op}
	}
	line, err := op.Command.Command(scope{s, t})
	if err != nil {
		return t.fails(event.FailInput, "command: %s", err)
	}
	return RunCommand{Effect: effect, Exec: op, Line: line}
}
