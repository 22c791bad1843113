package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/host/workspace/git"
)

// Tree is a run's worktree; it implements [runner.Workspace]. Its methods are
// called one at a time, and while no command runs in the worktree.
type Tree struct {
	Path       string   // root of the worktree, absolute
	Branch     string   // the run's branch
	Submodules []string // paths that are submodules and stay empty in the worktree

	repo     *Repo
	entry    string // git's entry of the worktree, which is its git directory
	run      string
	head     string // commit the branch is at, as far as the run is concerned
	headTree string
	tree     string // last tree that was taken from the files
	snap     string // last snapshot commit, "" when there is none since head
	snapTree string
}

var _ runner.Workspace = (*Tree)(nil)

// GitDir is the worktree's git directory, absolute. What the file .git in the
// worktree says is not to be believed once an agent could have changed it.
func (t *Tree) GitDir() string { return t.entry }

// Head is the commit that the run's branch is at.
func (t *Tree) Head() string { return t.head }

// index is the run's own index, kept between calls so that unchanged files need
// no reading. The worktree's usual index is left to whoever works in it: flags
// set there (assume-unchanged, skip-worktree) must not hide changes from us.
func (t *Tree) index() string { return filepath.Join(t.entry, "pawl-index") }

func (t *Tree) do(ctx context.Context, args ...string) (string, error) {
	return t.call(ctx, git.Call{Args: args})
}

func (t *Tree) call(ctx context.Context, c git.Call) (string, error) {
	c, err := t.repo.pins.Apply(ctx, t.located(c), t.entry)
	if err != nil {
		return "", err
	}
	return t.repo.git.Run(ctx, c)
}

// located is c in the worktree.
func (t *Tree) located(c git.Call) git.Call {
	c.Dir = t.Path
	c.Env = append([]string{"GIT_DIR=" + t.entry, "GIT_WORK_TREE=" + t.Path, "GIT_INDEX_FILE=" + t.index(), offline}, c.Env...)
	return c
}

// populate fills a new worktree with the files of head.
func (t *Tree) populate(ctx context.Context, transports string) error {
	if _, err := t.call(ctx, git.Call{Env: []string{transports}, Args: []string{"read-tree", "--reset", "-u", t.head}}); err != nil {
		return err
	}
	if err := t.shareIndex(ctx); err != nil {
		return err
	}
	return t.listSubmodules(ctx)
}

func (t *Tree) listSubmodules(ctx context.Context) error {
	if _, err := os.Lstat(filepath.Join(t.Path, ".gitmodules")); err != nil {
		return nil
	}
	out, err := t.do(ctx, "ls-files", "--stage", "-z")
	if err != nil {
		return err
	}
	for _, line := range strings.Split(out, "\x00") {
		if meta, name, ok := strings.Cut(line, "\t"); ok && strings.HasPrefix(meta, "160000 ") {
			t.Submodules = append(t.Submodules, name)
		}
	}
	return nil
}

// shareIndex shows whoever works in the worktree the index of head, so that
// their `git status` and `git diff` tell what changed since. A lock that somebody
// holds on that index does not matter: it is replaced as a whole.
func (t *Tree) shareIndex(ctx context.Context) error {
	draft := filepath.Join(t.entry, "pawl-shared")
	err := copyFile(t.index(), draft)
	if err == nil && t.tree != t.headTree {
		_, err = t.call(ctx, git.Call{Env: []string{"GIT_INDEX_FILE=" + draft}, Args: []string{"read-tree", "--reset", t.headTree}})
	}
	if err == nil {
		err = os.Rename(draft, filepath.Join(t.entry, "index"))
	}
	if err != nil {
		return fmt.Errorf("update index of %s: %w", t.Path, err)
	}
	return nil
}

// Snapshot implements [runner.Workspace]. The snapshot is a commit that
// refs/pawl/<run> keeps from being collected, with the snapshot before it as its
// parent; content equal to the branch's is the branch's own commit. The same
// content in the same place of a run always has the same id.
func (t *Tree) Snapshot(ctx context.Context) (string, error) {
	tree, err := t.stage(ctx)
	switch {
	case err != nil:
		return "", fmt.Errorf("snapshot of %s: %w", t.Path, err)
	case tree == t.headTree:
		return t.head, nil
	case t.snap != "" && tree == t.snapTree:
		return t.snap, nil
	}
	parent := t.snap
	if parent == "" {
		parent = t.head
	}
	id, err := t.commitTree(ctx, tree, []string{parent}, "snapshot of "+t.run+"\n", time.Unix(0, 0))
	if err == nil {
		err = t.updateRefs(ctx, "refs/pawl/"+t.run, id)
	}
	if err != nil {
		return "", fmt.Errorf("snapshot of %s: %w", t.Path, err)
	}
	t.snap, t.snapTree = id, tree
	return id, nil
}

// Commit implements [runner.Workspace]. What the agent itself has committed is
// taken as content; its commits are not kept.
func (t *Tree) Commit(ctx context.Context, c runner.Commit) (head string, changed bool, err error) {
	msg, err := message(c)
	if err != nil {
		return "", false, err
	}
	tree, err := t.stage(ctx)
	if err != nil {
		return "", false, fmt.Errorf("commit %s: %w", t.Path, err)
	}
	id, parents := t.head, []string{t.head}
	if c.Merges != "" {
		parents = append(parents, c.Merges)
		marked, err := t.marked(ctx, c.Marked)
		if err == nil && len(marked) > 0 {
			err = &runner.MarkedError{Files: marked}
		}
		if err != nil {
			return "", false, fmt.Errorf("commit %s: %w", t.Path, err)
		}
	}
	if changed = tree != t.headTree || c.Merges != ""; changed {
		if id, err = t.commitTree(ctx, tree, parents, msg, c.Time); err != nil {
			return "", false, fmt.Errorf("commit %s: %w", t.Path, err)
		}
	}
	if err := t.moveBranch(ctx, id, ""); err != nil {
		return "", false, fmt.Errorf("commit %s: %w", t.Path, err)
	}
	if !changed {
		return id, false, nil
	}
	t.head, t.headTree, t.snap, t.snapTree = id, tree, "", ""
	return id, true, t.shareIndex(ctx)
}

// commitTree writes a commit object; nothing refers to it yet.
func (t *Tree) commitTree(ctx context.Context, tree string, parents []string, msg string, at time.Time) (string, error) {
	args := []string{"commit-tree", tree, "-F", "-"}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	who, date := t.repo.author, "@"+strconv.FormatInt(at.Unix(), 10)+" +0000"
	out, err := t.call(ctx, git.Call{Stdin: msg, Args: args, Env: []string{
		"GIT_AUTHOR_NAME=" + who.Name, "GIT_AUTHOR_EMAIL=" + who.Email, "GIT_AUTHOR_DATE=" + date,
		"GIT_COMMITTER_NAME=" + who.Name, "GIT_COMMITTER_EMAIL=" + who.Email, "GIT_COMMITTER_DATE=" + date}})
	return strings.TrimSpace(out), err
}

// moveBranch puts the branch at head, wherever it was, and HEAD on the branch.
// The snapshot ref follows when snapshot is set.
func (t *Tree) moveBranch(ctx context.Context, head, snapshot string) error {
	refs := []string{"refs/heads/" + t.Branch, head}
	if snapshot != "" {
		refs = append(refs, "refs/pawl/"+t.run, snapshot)
	}
	if err := t.updateRefs(ctx, refs...); err != nil {
		return err
	}
	want := "ref: refs/heads/" + t.Branch
	if have, err := os.ReadFile(filepath.Join(t.entry, "HEAD")); err == nil && strings.TrimSpace(string(have)) == want {
		return nil
	}
	_, err := t.do(ctx, "symbolic-ref", "HEAD", "refs/heads/"+t.Branch)
	return err
}

// updateRefs sets refs, given as name, id, name, id, …, all or none.
func (t *Tree) updateRefs(ctx context.Context, pairs ...string) error {
	var in strings.Builder
	for i := 0; i+1 < len(pairs); i += 2 {
		in.WriteString("update " + pairs[i] + "\x00" + pairs[i+1] + "\x00\x00")
	}
	_, err := t.call(ctx, git.Call{Stdin: in.String(), Args: []string{"update-ref", "-m", "pawl", "-z", "--stdin"}})
	return err
}

// Restore implements [runner.Workspace]. Files that git ignores stay; everything
// else that is not in the target goes, nested repositories included.
func (t *Tree) Restore(ctx context.Context, head, snapshot string) error {
	headTree, target, err := t.targets(ctx, head, snapshot)
	if err != nil {
		return err
	}
	if err := linkTree(t.Path, t.entry); err != nil {
		return err
	}
	if err := t.moveBranch(ctx, head, snapshot); err != nil {
		return fmt.Errorf("restore %s: %w", t.Path, err)
	}
	if err := t.reset(ctx, target); err != nil {
		// Directories an agent made read-only and an index that a dying machine
		// tore are put right, then it is tried once more.
		if ctx.Err() != nil {
			return fmt.Errorf("restore %s: %w", t.Path, err)
		}
		makeWritable(t.Path)
		_ = os.Remove(t.index())
		if err := t.reset(ctx, target); err != nil {
			return fmt.Errorf("restore %s: %w", t.Path, err)
		}
	}
	t.head, t.headTree, t.tree, t.snap, t.snapTree = head, headTree, target, "", ""
	if snapshot != "" && snapshot != head {
		t.snap, t.snapTree = snapshot, target
	}
	return t.shareIndex(ctx)
}

// targets finds the trees of head and of what the files shall be.
func (t *Tree) targets(ctx context.Context, head, snapshot string) (headTree, target string, err error) {
	_, headTree, err = t.repo.resolve(ctx, head)
	if err != nil || snapshot == "" || snapshot == head {
		return headTree, headTree, err
	}
	_, target, err = t.repo.resolve(ctx, snapshot)
	return headTree, target, err
}

// reset makes the files those of tree.
func (t *Tree) reset(ctx context.Context, tree string) error {
	if _, err := t.do(ctx, "read-tree", "--reset", "-u", tree); err != nil {
		return err
	}
	if _, err := t.do(ctx, "clean", "-ffdq"); err != nil {
		return err
	}
	return t.dropNested(ctx)
}

// stage takes all files into the run's index and returns their tree.
func (t *Tree) stage(ctx context.Context) (string, error) {
	if err := linkTree(t.Path, t.entry); err != nil {
		return "", err
	}
	if _, err := t.do(ctx, "add", "--all", "--", "."); err != nil {
		// A nested repository without commits makes git refuse.
		if absorbed, errAbsorb := t.absorb(ctx, nil); errAbsorb != nil {
			return "", errors.Join(err, errAbsorb)
		} else if !absorbed {
			return "", err
		}
	}
	tree, err := t.writeTree(ctx)
	if err == nil && tree != t.tree {
		tree, err = t.withoutLinks(ctx, tree)
	}
	if err != nil {
		return "", err
	}
	t.tree = tree
	return tree, nil
}

func (t *Tree) writeTree(ctx context.Context) (string, error) {
	out, err := t.do(ctx, "write-tree")
	return strings.TrimSpace(out), err
}
