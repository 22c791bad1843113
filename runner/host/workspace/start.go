package workspace

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-ci/pawl/runner/host/workspace/git"
)

// tidyTime bounds the cleaning up after a failure, which goes on when the
// caller's context has ended.
const tidyTime = 30 * time.Second

// Start makes a new branch at base and checks it out in a new worktree at path.
// branch is a full name such as pawl/<workflow>/<run-id>; its last part names the
// run. base is a commit or a branch, and "" is the repository's Head. Submodules
// are not initialised. After an error no branch, directory or worktree entry is
// left behind; what the caller can mend is a *[Problem].
func (r *Repo) Start(ctx context.Context, branch, path, base string) (*Tree, error) {
	if base == "" {
		base = r.Head
	}
	commit, tree, err := r.resolve(ctx, base)
	if err != nil {
		return nil, err
	}
	path, undo, err := claim(path)
	if err != nil {
		return nil, err
	}
	if err := r.createBranch(ctx, branch, commit); err != nil {
		undo()
		return nil, err
	}
	t, err := r.plant(ctx, branch, path, commit, tree, online)
	if err != nil {
		r.uproot(ctx, branch, path, commit)
		undo()
		return nil, fmt.Errorf("start branch %s: %w", branch, err)
	}
	return t, nil
}

// resolve returns the ids of the commit that name stands for, and of its tree.
func (r *Repo) resolve(ctx context.Context, name string) (commit, tree string, err error) {
	unknown := &Problem{Kind: UnknownCommit, Text: fmt.Sprintf("%q is no commit of %s", name, r.Top),
		Hint: "fetch it first, or deepen a shallow clone"}
	if name == "" || strings.HasPrefix(name, "-") {
		return "", "", unknown
	}
	out, err := r.do(ctx, "rev-parse", name+"^{commit}", name+"^{tree}", "--")
	ids := strings.Fields(out)
	switch {
	case git.Said(err, "unknown revision", "bad revision", "expected commit type", "bad object"):
		unknown.Err = err
		return "", "", unknown
	case err != nil:
		return "", "", fmt.Errorf("find commit %s: %w", name, err)
	case len(ids) < 2:
		return "", "", unknown
	}
	return ids[0], ids[1], nil
}

func (r *Repo) createBranch(ctx context.Context, branch, commit string) error {
	_, err := r.feed(ctx, "create refs/heads/"+branch+"\x00"+commit+"\x00", "update-ref", "-z", "--stdin")
	switch {
	case err == nil:
		return nil
	case strings.ContainsRune(branch, 0), git.Said(err, "invalid ref format", "bad name"):
		return &Problem{Kind: BadBranch, Text: fmt.Sprintf("%q is no valid name for a branch", branch), Err: err}
	case git.Said(err, "reference already exists"):
		return &Problem{Kind: BranchExists, Text: "branch " + branch + " exists already", Hint: "delete it with `git branch -D " + branch + "`, or resume its run", Err: err}
	case git.Said(err, "cannot create"):
		return &Problem{Kind: BranchExists, Text: "branch " + branch + " cannot be made next to a branch whose name is a part of it, or goes on from it", Hint: "rename the other branch", Err: err}
	default:
		return fmt.Errorf("create branch %s: %w", branch, err)
	}
}

// plant makes the worktree of an existing branch and fills it with commit.
func (r *Repo) plant(ctx context.Context, branch, path, commit, tree, transports string) (*Tree, error) {
	if _, err := r.administer(ctx, "worktree", "add", "--quiet", "--force", "--no-checkout", "--", path, branch); err != nil {
		return nil, err
	}
	t, err := r.tree(branch, path, commit, tree)
	if err != nil {
		return nil, err
	}
	return t, t.populate(ctx, transports)
}

// How often, and how far apart, a git command is tried that met another process at
// the same work.
const (
	adminTries = 20
	adminPause = 25 * time.Millisecond
)

// administer runs a git command about worktrees. git reads the entries of all of
// them and gives up at one that is just being made or removed: within the process
// one waits for the other, and what another process does is over in a moment.
func (r *Repo) administer(ctx context.Context, args ...string) (string, error) {
	r.admin.Lock()
	defer r.admin.Unlock()
	for try := 1; ; try++ {
		out, err := r.do(ctx, args...)
		if err == nil || try == adminTries || !git.Said(err, "/commondir") {
			return out, err
		}
		select {
		case <-ctx.Done():
			return out, err
		case <-time.After(adminPause):
		}
	}
}

// tree makes the Tree of a worktree that git knows.
func (r *Repo) tree(branch, dir, commit, tree string) (*Tree, error) {
	entry := r.entryOf(dir)
	if entry == "" {
		return nil, fmt.Errorf("use worktree %s: git has no entry for it", dir)
	}
	return &Tree{Path: dir, Branch: branch, repo: r, entry: entry, run: runOf(branch),
		head: commit, headTree: tree, tree: tree}, nil
}

// runOf is the run that a branch belongs to: the last part of its name.
func runOf(branch string) string { return branch[strings.LastIndexByte(branch, '/')+1:] }

// uproot removes what plant and createBranch have made.
func (r *Repo) uproot(ctx context.Context, branch, path, commit string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyTime)
	defer cancel()
	_ = forceRemove(path)
	_ = r.unregister(ctx, path)
	_, _ = r.do(ctx, "update-ref", "-d", "refs/heads/"+branch, commit)
}

// unregister removes git's entry of a worktree whose directory is gone.
func (r *Repo) unregister(ctx context.Context, path string) error {
	_, err := r.administer(ctx, "worktree", "remove", "--force", "--force", "--", path)
	if git.Said(err, "is not a working tree") {
		return nil
	}
	return err
}
