package runner

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
	"github.com/pawl-ci/pawl/runner/machine"
)

// prepareCommand runs a tool node: a shell command, the verification, or a
// built-in tool.
func (e *engine) prepareCommand(c machine.RunCommand) (event.Body, effectFunc, error) {
	started := &event.CommandStarted{Key: c.Key, Attempt: c.Attempt, Command: e.opts.Redact(c.Line)}
	switch {
	case c.Exec.Uses == "":
		return started, e.shellNode(c), nil
	case c.Exec.Uses == ir.VerifyTool:
		started.Command = c.Exec.Uses
		return started, e.verifyNode(c), nil
	}
	started.Command = c.Exec.Uses
	args, err := e.state.Evaluate(c.Token.ID, c.Exec.With)
	if err != nil {
		return nil, nil, fmt.Errorf("with of %s: %w", c.Node.ID, err)
	}
	return started, e.builtinNode(c, args), nil
}

func (e *engine) shellNode(c machine.RunCommand) effectFunc {
	at := e.at(e.state.Tree(c.Token, machine.Private(c.Exec)))
	return func(ctx context.Context) ([]event.Body, error) {
		place, err := at(ctx)
		if err != nil {
			return unknown(ctx, c.Key, err)
		}
		result, err := place.Shell.Run(ctx, ShellCommand{Line: c.Line, Timeout: c.Node.Timeout, Network: c.Exec.Network})
		if err != nil || ctx.Err() != nil {
			return unknown(ctx, c.Key, err)
		}
		result.Stdout, result.Stderr = e.opts.Redact(result.Stdout), e.opts.Redact(result.Stderr)
		result.Combined = e.opts.Redact(result.Combined)
		finished := &event.CommandFinished{Key: c.Key, Exit: result.Exit, Millis: result.Took.Milliseconds()}
		finished.Output, finished.Class, finished.Problem = commandOutput(c.Node, result)
		return place.commandDone(ctx, c, finished)
	}
}

func (p *Place) commandDone(ctx context.Context, c machine.RunCommand, finished *event.CommandFinished) ([]event.Body, error) {
	if c.Exec.Writes() {
		var err error
		if finished.Snapshot, err = p.snapshot(ctx); err != nil {
			return unknown(ctx, c.Key, err)
		}
	}
	return []event.Body{finished}, nil
}

// commandOutput is a command's result as the node's output. Standard output that
// is a JSON object gives the fields; what the schema asks for beside it comes
// from the command itself. A failing command fails its node, unless the schema
// has a field that tells: then the workflow judges.
func commandOutput(n *ir.Node, r ShellResult) (*event.Payload, event.FailureClass, string) {
	fields := commandFields(r)
	own, jsonErr := ir.DecodeObject([]byte(strings.TrimSpace(r.Stdout)))
	for k, v := range own {
		fields[k] = v
	}
	if r.TimedOut {
		return nil, event.FailTimeout, fmt.Sprintf("the command did not end within %s", r.Took.Round(1e6))
	}
	if n.Out == nil {
		if r.Exit != 0 {
			return nil, event.FailCommand, exitProblem(r)
		}
		return payloadOf(fields), "", ""
	}
	fitted, problems := n.Out.Fit(fields)
	switch {
	case r.Exit != 0 && jsonErr != nil && !tells(n.Out):
		return nil, event.FailCommand, exitProblem(r)
	case len(problems) > 0:
		return nil, event.FailOutput, "output: " + strings.Join(problems, "; ")
	}
	return payloadOf(fitted), "", ""
}

// commandFields are the fields that every command's output has.
func commandFields(r ShellResult) map[string]any {
	return map[string]any{
		"exit_code": r.Exit, "passed": r.Exit == 0, "success": r.Exit == 0,
		"stdout": r.Stdout, "stderr": r.Stderr, "output": r.Combined,
		"result": strings.TrimSpace(r.Stdout), "duration_ms": int(r.Took.Milliseconds()),
	}
}

// tells reports whether the schema lets the workflow see that a command failed.
func tells(s *ir.Schema) bool {
	return s.Field("exit_code") != nil || s.Field("passed") != nil || s.Field("success") != nil
}

func exitProblem(r ShellResult) string {
	last := strings.TrimSpace(r.Combined)
	if i := strings.LastIndexByte(last, '\n'); i >= 0 {
		last = last[i+1:]
	}
	if len(last) > 200 {
		last = last[:200] + "…"
	}
	if last == "" {
		return fmt.Sprintf("exit status %d", r.Exit)
	}
	return fmt.Sprintf("exit status %d: %s", r.Exit, last)
}

// builtinNode runs a built-in tool without a model.
func (e *engine) builtinNode(c machine.RunCommand, args map[string]any) effectFunc {
	name := strings.TrimPrefix(c.Exec.Uses, "builtin.")
	at := e.at(e.state.Tree(c.Token, machine.Private(c.Exec)))
	return func(ctx context.Context) ([]event.Body, error) {
		place, err := at(ctx)
		if err != nil {
			return unknown(ctx, c.Key, err)
		}
		began := e.Clock.Now()
		result, err := useTool(ctx, place.Tools, c.Left, name, mustEncode(args))
		if err != nil || ctx.Err() != nil {
			return unknown(ctx, c.Key, err)
		}
		exit := 0
		if result.Error {
			exit = 1
		}
		text := e.opts.Redact(result.Text)
		finished := &event.CommandFinished{Key: c.Key, Exit: exit, Millis: e.Clock.Now().Sub(began).Milliseconds()}
		finished.Output, finished.Class, finished.Problem = commandOutput(c.Node, ShellResult{Stdout: text, Combined: text, Exit: exit})
		return place.commandDone(ctx, c, finished)
	}
}
