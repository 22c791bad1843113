package runner

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/machine"
)

// prepare turns a command into an effect and the event that must be durable
// before it begins. Both are nil when the effect is already under way; an event
// without an effect refuses it.
func (e *engine) prepare(c machine.Command) (*start, event.Body, error) {
	effect := effectOf(c)
	if e.flying[effect.Token.ID] {
		return nil, nil, nil
	}
	s := &start{token: effect.Token, node: effect.Node}
	var started event.Body
	var err error
	switch c := c.(type) {
	case machine.CallModel:
		return e.prepareModel(c)
	case machine.CallTool:
		started, s.do = e.prepareTool(c)
	case machine.RunCommand:
		started, s.do, err = e.prepareCommand(c)
	case machine.OpenGate:
		started, s.do, err = e.prepareGate(c)
	case machine.PollGate:
		s.do, err = e.pollGate(c)
	case machine.Verify:
		started, s.do = e.prepareVerify(c)
	case machine.Finish:
		s.do = e.finish(c)
	case machine.Merge:
		started, s.do = e.prepareMerge(c)
	default:
		err = fmt.Errorf("perform %T: the engine does not know this command", c)
	}
	return s, started, err
}

func effectOf(c machine.Command) machine.Effect {
	switch c := c.(type) {
	case machine.CallModel:
		return c.Effect
	case machine.CallTool:
		return c.Effect
	case machine.RunCommand:
		return c.Effect
	case machine.OpenGate:
		return c.Effect
	case machine.PollGate:
		return c.Effect
	case machine.Verify:
		return c.Effect
	case machine.Finish:
		return c.Effect
	case machine.Merge:
		return c.Effect
	}
	return machine.Effect{}
}

// unknown ends an effect that was interrupted or that the host could not carry
// out. The run stops on hostErr; an interruption is no error of its own.
func unknown(ctx context.Context, key event.Key, hostErr error) ([]event.Body, error) {
	forfeited := &event.EffectForfeited{Key: key}
	if ctx.Err() != nil {
		forfeited.Detail = "interrupted: " + context.Cause(ctx).Error()
		return []event.Body{forfeited}, nil
	}
	forfeited.Detail = "the host failed: " + hostErr.Error()
	return []event.Body{forfeited}, hostErr
}

// finish commits what the node changed.
func (e *engine) finish(c machine.Finish) func(context.Context) ([]event.Body, error) {
	done := *c.Done
	commit := e.commitFor(c)
	at := e.at(e.state.Tree(c.Token, true))
	return func(ctx context.Context) ([]event.Body, error) {
		place, err := at(ctx)
		if err == nil {
			done.Commit, done.Changed, err = place.Workspace.Commit(ctx, commit)
		}
		switch marked := asMarked(err); {
		case err == nil:
			return []event.Body{&done}, nil
		case ctx.Err() != nil:
			return nil, nil // nothing was promised; a resume commits again
		case marked != nil:
			return []event.Body{unresolved(c, marked)}, nil
		}
		return nil, fmt.Errorf("commit: %w", err)
	}
}

var errNoWorkspace = errors.New("this workflow has no worktree (worktree: none)")
