package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/machine"
)

// prepareMerge puts the work of branches together at their join. It makes new
// commits and then moves one tree, so doing it again does no harm.
func (e *engine) prepareMerge(c machine.Merge) (event.Body, effectFunc) {
	started := &event.MergeStarted{Key: c.Key, Attempt: c.Attempt, Ours: c.Tree.Head, Branches: c.Branches, Sides: c.Sides}
	request := MergeRequest{
		Ours: c.Tree.Head, Base: c.Base, Branches: c.Branches, Sides: c.Sides,
		Commit: Commit{Subject: c.Node.ID + ": merge branch", Trailers: e.trailers(c.Node.ID), Time: e.state.Time},
	}
	at := e.at(c.Tree)
	return started, func(ctx context.Context) ([]event.Body, error) {
		if e.Branches == nil {
			return unknown(ctx, c.Key, errNoWorkspace)
		}
		began := e.Clock.Now()
		got, err := e.Branches.Merge(ctx, request)
		if err != nil || ctx.Err() != nil {
			return unknown(ctx, c.Key, err)
		}
		finished := &event.MergeFinished{Key: c.Key, Head: got.Head, Merged: got.Merged, Conflicts: e.shown(got.Conflicts)}
		if c.Mark && len(got.Conflicts) > 0 {
			finished.Snapshot = got.Marked
		}
		if e.places.isOpen(c.Tree.Name) {
			place, err := at(ctx)
			if err == nil {
				err = place.Workspace.Restore(ctx, finished.Head, finished.Snapshot)
			}
			if err != nil || ctx.Err() != nil {
				return unknown(ctx, c.Key, err)
			}
		}
		finished.Millis = e.Clock.Now().Sub(began).Milliseconds()
		return []event.Body{finished}, nil
	}
}

func (e *engine) shown(conflicts []event.Conflict) []event.Conflict {
	for i := range conflicts {
		conflicts[i].Text = e.opts.Redact(conflicts[i].Text)
	}
	return conflicts
}

// unresolved is how an agent's visit ends that has left conflicts in files.
func unresolved(c machine.Finish, err *MarkedError) *event.NodeFailed {
	return &event.NodeFailed{
		Visit: c.Token.Visit, Class: event.FailConflict,
		Detail: "the conflict is not resolved: marks are left in " + strings.Join(err.Files, ", "),
	}
}

// MarkedError says that files which were to be committed still hold the marks of
// a conflict. Nothing was committed.
type MarkedError struct {
	Files []string
}

// Error implements error.
func (e *MarkedError) Error() string {
	return fmt.Sprintf("marks of a conflict are left in %s", strings.Join(e.Files, ", "))
}

// asMarked finds a MarkedError.
func asMarked(err error) *MarkedError {
	var marked *MarkedError
	errors.As(err, &marked)
	return marked
}
