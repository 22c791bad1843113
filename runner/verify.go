package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
	"github.com/pawl-ci/pawl/runner/machine"
)

// prepareVerify runs the repository's tests before done counts.
func (e *engine) prepareVerify(c machine.Verify) (event.Body, effectFunc) {
	verify := e.verification(c.Token, 0)
	return &event.VerifyStarted{Key: c.Key}, func(ctx context.Context) ([]event.Body, error) {
		evidence, err := verify(ctx)
		if err != nil || ctx.Err() != nil {
			return unknown(ctx, c.Key, err)
		}
		return []event.Body{&event.VerifyFinished{Key: c.Key, Evidence: evidence}}, nil
	}
}

// verifyNode is builtin.verify: the same tests as a step of the workflow.
func (e *engine) verifyNode(c machine.RunCommand) effectFunc {
	verify := e.verification(c.Token, c.Left)
	return func(ctx context.Context) ([]event.Body, error) {
		began := e.Clock.Now()
		evidence, err := verify(ctx)
		if errors.Is(err, errVerifyTime) {
			problem := fmt.Sprintf("timeout: the tests did not end within %s", c.Left)
			return []event.Body{&event.CommandFinished{Key: c.Key, Exit: 1, Class: event.FailTimeout, Problem: problem, Millis: e.Clock.Now().Sub(began).Milliseconds()}}, nil
		}
		if err != nil || ctx.Err() != nil {
			return unknown(ctx, c.Key, err)
		}
		finished := &event.CommandFinished{Key: c.Key, Evidence: &evidence, Millis: e.Clock.Now().Sub(began).Milliseconds()}
		if !evidence.Passed {
			finished.Exit = 1
		}
		fields := verifyFields(evidence)
		if c.Node.Out != nil {
			var problems []string
			if fields, problems = c.Node.Out.Fit(fields); len(problems) > 0 {
				finished.Class, finished.Problem = event.FailOutput, "output: "+strings.Join(problems, "; ")
				return []event.Body{finished}, nil
			}
		}
		finished.Output = payloadOf(fields)
		return []event.Body{finished}, nil
	}
}

// verification tests exactly what would be committed and puts the worktree back
// afterwards, so that what a test run drops is not taken for work. It reads the
// state now; the function it returns may run beside other effects.
func (e *engine) verification(t *machine.Token, left time.Duration) func(context.Context) (event.Evidence, error) {
	tree := e.state.Tree(t, true)
	at := e.at(tree)
	var commands []string
	if v := e.state.Workflow.Verify; v.Mode == ir.VerifyCommands {
		commands = v.Commands
	}
	return func(ctx context.Context) (event.Evidence, error) {
		place, err := at(ctx)
		if err != nil {
			return event.Evidence{}, err
		}
		if place.Workspace == nil {
			return event.Evidence{}, errNoWorkspace
		}
		snapshot, err := place.Workspace.Snapshot(ctx)
		if err != nil {
			return event.Evidence{}, err
		}
		evidence, err := within(ctx, place.Verifier, left, commands)
		if err != nil && !errors.Is(err, errVerifyTime) {
			return event.Evidence{}, err
		}
		timeUp := err
		if err := place.Workspace.Restore(ctx, tree.Head, snapshot); err != nil {
			return event.Evidence{}, fmt.Errorf("put the worktree back after the tests: %w", err)
		}
		evidence.Tree = snapshot
		return e.redacted(evidence), timeUp
	}
}

// errVerifyTime says that the tests did not end within the node's time.
var errVerifyTime = errors.New("the tests did not end in time")

// within runs the tests in at most left, when that is not 0.
func within(ctx context.Context, tests Verifier, left time.Duration, commands []string) (event.Evidence, error) {
	if left == 0 {
		return tests.Verify(ctx, commands)
	}
	bounded, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	evidence, err := tests.Verify(bounded, commands)
	if bounded.Err() != nil && ctx.Err() == nil {
		return event.Evidence{}, errVerifyTime
	}
	return evidence, err
}

func (e *engine) redacted(ev event.Evidence) event.Evidence {
	ev.Reason = e.opts.Redact(ev.Reason)
	for i := range ev.Commands {
		ev.Commands[i].Tail = e.opts.Redact(ev.Commands[i].Tail)
	}
	return ev
}

// verifyFields is evidence as a node's output.
func verifyFields(ev event.Evidence) map[string]any {
	var tails []string
	failing := []any{}
	for _, c := range ev.Commands {
		if c.Exit != 0 {
			tails = append(tails, fmt.Sprintf("$ %s (exit %d)\n%s", c.Command, c.Exit, c.Tail))
		}
		if c.Counts == nil {
			continue
		}
		for _, name := range c.Counts.Failing {
			failing = append(failing, name)
		}
	}
	exit := 0
	if !ev.Passed {
		exit = 1
	}
	return map[string]any{
		"passed": ev.Passed, "success": ev.Passed, "exit_code": exit, "reason": ev.Reason,
		"output": strings.Join(tails, "\n"), "failing": failing, "result": ev.Reason,
	}
}
