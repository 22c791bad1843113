package records

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/pawl-ci/pawl/report/words"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/host/workspace"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
)

// storeName is the directory inside a checkout that holds records and
// worktrees; it hides itself from git.
const storeName = ".pawl"

// Place is where runs happen: a repository, and the store beside it.
type Place struct {
	Repo  *workspace.Repo // nil outside a repository
	Store string          // the directory of records and worktrees, absolute
}

// Open finds the repository and the store that the flags of a mean. need says
// that there must be a repository.
func Open(ctx context.Context, a *cli.App, need bool) (*Place, error) {
	dir, err := filepath.Abs(a.Dir)
	if err != nil {
		return nil, cli.Host(fmt.Errorf("find the working directory: %w", err), "")
	}
	p := &Place{}
	p.Repo, err = workspace.Open(ctx, dir, workspace.Options{Env: a.Env.Lines(), TrustOwner: a.Env.Truthy("GITHUB_ACTIONS")})
	if err != nil {
		if need || !isProblem(err, workspace.NotRepository) {
			return nil, RepoProblem(err)
		}
		p.Repo = nil
	}
	switch {
	case a.StoreDir != "":
		p.Store, err = filepath.Abs(a.Path(a.StoreDir))
	case p.Repo != nil:
		p.Store = filepath.Join(p.Repo.Top, storeName)
	default:
		p.Store = filepath.Join(dir, storeName)
	}
	if err != nil {
		return nil, cli.Host(fmt.Errorf("find the store: %w", err), "")
	}
	return p, nil
}

// Worktree is the directory that a run works in.
func (p *Place) Worktree(id event.RunID) string {
	return filepath.Join(p.Store, "worktrees", string(id))
}

// Mark names the run to the processes it starts. It holds the place too: two
// repositories may use one run id.
func (p *Place) Mark(id event.RunID) string {
	return fmt.Sprintf("%s.%.12s", id, event.DigestOf([]byte(p.RunDir(id))))
}

// Notices says what a person may not expect about the checkout.
func (p *Place) Notices(a *cli.App) {
	if p.Repo == nil {
		return
	}
	if p.Repo.Detached {
		a.Notice("HEAD is detached: the run starts from commit %.12s", p.Repo.Head)
	}
	if p.Repo.Dirty > 0 {
		a.Notice("the checkout has %s: the run works on commit %.12s without them", words.Count(int64(p.Repo.Dirty), "uncommitted change"), p.Repo.Head)
	}
}

func isProblem(err error, kind workspace.Kind) bool {
	var p *workspace.Problem
	return errors.As(err, &p) && p.Kind == kind
}

// RepoProblem gives an error of the workspace its exit status.
func RepoProblem(err error) error {
	var p *workspace.Problem
	if errors.As(err, &p) {
		return cli.Usage(err, p.Hint)
	}
	var moved *workspace.MovedError
	if errors.As(err, &moved) {
		return cli.Usage(err, "look at the branch: pawl goes on only where the record says it stopped")
	}
	return cli.Host(err, cli.DiskHint(err))
}

// NewRunID names a run by its time, so that names sort, and by a few digits more,
// so that two runs of one second differ.
func NewRunID(now time.Time) event.RunID {
	tail := strconv.FormatInt(int64(now.Nanosecond())^int64(os.Getpid()), 36)
	return event.RunID(now.UTC().Format("20060102-150405-") + tail[max(0, len(tail)-4):])
}
