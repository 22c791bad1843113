package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-ci/pawl/report/words"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/host/workspace"
)

// storeName is the directory inside a checkout that holds records and
// worktrees; it hides itself from git.
const storeName = ".pawl"

// place is where runs happen: a repository, and the store beside it.
type place struct {
	repo  *workspace.Repo // nil outside a repository
	store string          // absolute
}

// openPlace finds the repository and the store. need says that there must be a
// repository.
func (a *app) openPlace(ctx context.Context, need bool) (*place, error) {
	dir, err := filepath.Abs(a.dir)
	if err != nil {
		return nil, host(fmt.Errorf("find the working directory: %w", err), "")
	}
	p := &place{}
	p.repo, err = workspace.Open(ctx, dir, workspace.Options{Env: a.env.lines(), TrustOwner: a.env.truthy("GITHUB_ACTIONS")})
	if err != nil {
		if need || !isProblem(err, workspace.NotRepository) {
			return nil, repoProblem(err)
		}
		p.repo = nil
	}
	switch {
	case a.storeDir != "":
		p.store, err = filepath.Abs(a.path(a.storeDir))
	case p.repo != nil:
		p.store = filepath.Join(p.repo.Top, storeName)
	default:
		p.store = filepath.Join(dir, storeName)
	}
	if err != nil {
		return nil, host(fmt.Errorf("find the store: %w", err), "")
	}
	return p, nil
}

func (p *place) worktree(id event.RunID) string {
	return filepath.Join(p.store, "worktrees", string(id))
}

// mark names the run to the processes it starts. It holds the place too: two
// repositories may use one run id.
func (p *place) mark(id event.RunID) string {
	return fmt.Sprintf("%s.%.12s", id, event.DigestOf([]byte(p.runDir(id))))
}

// notices says what a person may not expect about the checkout.
func (p *place) notices(a *app) {
	if p.repo == nil {
		return
	}
	if p.repo.Detached {
		a.notice("HEAD is detached: the run starts from commit %.12s", p.repo.Head)
	}
	if p.repo.Dirty > 0 {
		a.notice("the checkout has %s: the run works on commit %.12s without them", words.Count(int64(p.repo.Dirty), "uncommitted change"), p.repo.Head)
	}
}

func isProblem(err error, kind workspace.Kind) bool {
	var p *workspace.Problem
	return errors.As(err, &p) && p.Kind == kind
}

// repoProblem gives an error of the workspace its exit status.
func repoProblem(err error) error {
	var p *workspace.Problem
	if errors.As(err, &p) {
		return usage(err, p.Hint)
	}
	var moved *workspace.MovedError
	if errors.As(err, &moved) {
		return usage(err, "look at the branch: pawl goes on only where the record says it stopped")
	}
	return host(err, diskHint(err))
}

// diskHint names the remedy for what a full or read-only disk does.
func diskHint(err error) string {
	text := err.Error()
	switch {
	case strings.Contains(text, "No space left") || strings.Contains(text, "no space left"):
		return "free some space, then: pawl resume"
	case errors.Is(err, os.ErrPermission) || strings.Contains(text, "Permission denied") || strings.Contains(text, "ead-only file system"):
		return "pawl must be able to write there; --store-dir DIR keeps records and worktrees elsewhere"
	}
	return ""
}

// newRunID names a run by its time, so that names sort, and by a few digits more,
// so that two runs of one second differ.
func newRunID(now time.Time) event.RunID {
	tail := strconv.FormatInt(int64(now.Nanosecond())^int64(os.Getpid()), 36)
	return event.RunID(now.UTC().Format("20060102-150405-") + tail[max(0, len(tail)-4):])
}
