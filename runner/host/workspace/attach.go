package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// RunTrailer is the key of the commit trailer that names the run a commit is by.
const RunTrailer = "Pawl-Run"

// Attach takes up a run's worktree again, for a resume. head is the commit in the
// run's record. The worktree at path is used as it is when it is still there, and
// made again from head when it is gone; a missing branch is made at head. Files
// and branch are not reset yet: the caller says with [Tree.Restore] to what.
//
// A branch that holds commits by others beyond head is a *[MovedError]; commits
// of the run itself are what a crash between commit and record leaves, and are
// accepted. A head that this repository does not have is a *[Problem].
func (r *Repo) Attach(ctx context.Context, branch, path, head string) (*Tree, error) {
	t, _, err := r.attach(ctx, attachment{branch: branch, path: path, head: head, run: runOf(branch), transports: online})
	return t, err
}

// attachment says which worktree is taken up, and by which run.
type attachment struct {
	branch, path, head string
	run                string
	transports         string // online or offline, when files are checked out
}

// attach reports beside the worktree whether it was made anew, with head's files.
func (r *Repo) attach(ctx context.Context, a attachment) (t *Tree, made bool, err error) {
	commit, tree, err := r.resolve(ctx, a.head)
	if err != nil {
		return nil, false, err
	}
	path, err := canonical(a.path)
	if err != nil {
		return nil, false, err
	}
	if err := r.free(ctx, a.branch, path); err != nil {
		return nil, false, err
	}
	if err := r.settleBranch(ctx, a, commit); err != nil {
		return nil, false, err
	}
	t, err = r.reuse(a.branch, path, commit, tree)
	if t != nil || err != nil {
		return t, false, err
	}
	if err := r.clear(ctx, path); err != nil {
		return nil, false, err
	}
	t, err = r.plant(ctx, a.branch, path, commit, tree, a.transports)
	if err != nil {
		_ = forceRemove(path)
		return nil, false, fmt.Errorf("check out branch %s again: %w", a.branch, err)
	}
	return t, true, nil
}

// canonical is the form of path that git records; parents may be missing.
func canonical(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find worktree: %w", err)
	}
	if parent, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(parent, filepath.Base(path))
	}
	return path, nil
}

// free makes sure that no other worktree, the user's own checkout above all, has
// the branch checked out: moving it would make their files look changed.
func (r *Repo) free(ctx context.Context, branch, path string) error {
	out, err := r.administer(ctx, "worktree", "list", "--porcelain")
	if err != nil {
		return fmt.Errorf("list worktrees: %w", err)
	}
	for _, block := range strings.Split(out, "\n\n") {
		first, rest, _ := strings.Cut(block, "\n")
		holder := filepath.FromSlash(strings.TrimPrefix(first, "worktree "))
		if !strings.Contains("\n"+rest+"\n", "\nbranch refs/heads/"+branch+"\n") || holder == path {
			continue
		}
		if _, err := os.Stat(holder); err == nil {
			return &Problem{Kind: BranchInUse, Text: "branch " + branch + " is checked out in " + holder, Hint: "switch to another branch there"}
		}
	}
	return nil
}

// settleBranch makes a missing branch at head, and refuses one that has moved.
func (r *Repo) settleBranch(ctx context.Context, a attachment, head string) error {
	branch := a.branch
	tip, err := r.do(ctx, "for-each-ref", "--format=%(objectname)", "refs/heads/"+branch)
	if err != nil {
		return fmt.Errorf("find branch %s: %w", branch, err)
	}
	tip = strings.TrimSpace(tip)
	if tip == "" {
		return r.createBranch(ctx, branch, head)
	}
	foreign, err := r.foreign(ctx, head, tip, a.run)
	if err != nil {
		return fmt.Errorf("compare branch %s with its record: %w", branch, err)
	}
	if len(foreign) > 0 {
		return &MovedError{Branch: branch, Want: head, Have: tip, Foreign: foreign}
	}
	return nil
}

// foreign lists the commits of tip beyond head that the run did not make.
func (r *Repo) foreign(ctx context.Context, head, tip, run string) ([]string, error) {
	if head == tip {
		return nil, nil
	}
	out, err := r.do(ctx, "log", "-z", "--format=%H %(trailers:key="+RunTrailer+",valueonly,separator=%x2C)", head+".."+tip, "--")
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, line := range strings.Split(out, "\x00") {
		if id, by, _ := strings.Cut(line, " "); id != "" && strings.TrimSpace(by) != run {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// reuse returns the Tree of a worktree that is still in order, or nil.
func (r *Repo) reuse(branch, path, commit, tree string) (*Tree, error) {
	entry := r.entryOf(path)
	if st, err := os.Lstat(path); err != nil || !st.IsDir() || entry == "" || !whole(entry) {
		return nil, nil
	}
	t, err := r.tree(branch, path, commit, tree)
	if err != nil {
		return nil, err
	}
	for _, lock := range []string{t.index(), filepath.Join(entry, "index"), filepath.Join(entry, "HEAD"),
		filepath.Join(r.CommonDir, "refs", "heads", filepath.FromSlash(branch)),
		filepath.Join(r.CommonDir, "refs", "pawl", runOf(branch))} {
		// The run's record is locked by its one process, so a lock on what only
		// the run writes was left by a machine that died.
		if err := os.Remove(lock + ".lock"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("use worktree %s: %w", path, err)
		}
	}
	return t, linkTree(path, entry)
}

// clear removes the remains of a worktree at path, but nothing that is not one.
func (r *Repo) clear(ctx context.Context, path string) error {
	entry := r.entryOf(path)
	if entry == "" && !vacant(path) && !r.leftover(path) {
		return &Problem{Kind: PathTaken, Text: path + " is not a worktree of " + r.Top, Hint: "remove it or choose another place for worktrees"}
	}
	if err := forceRemove(path); err != nil {
		return fmt.Errorf("clear %s: %w", path, err)
	}
	if entry != "" && !whole(entry) { // git would not take it for an entry
		if err := os.RemoveAll(entry); err != nil {
			return fmt.Errorf("clear %s: %w", path, err)
		}
	}
	if err := r.unregister(ctx, path); err != nil {
		return fmt.Errorf("clear %s: %w", path, err)
	}
	return os.MkdirAll(filepath.Dir(path), 0o777)
}

// leftover reports whether path was a worktree of this repository.
func (r *Repo) leftover(path string) bool {
	link, err := os.ReadFile(filepath.Join(path, ".git"))
	return err == nil && inside(filepath.Join(r.CommonDir, "worktrees"), resolveLink(path, string(link)))
}
