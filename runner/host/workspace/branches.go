package workspace

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/pawl-ci/pawl/runner/host/workspace/git"
)

// Branches are the worktrees of a run's parallel branches. Each has a branch of
// its own beside the run's, pawl/<workflow>/<run-id>.<name>, and a directory
// beside the run's worktree. They may be used by several goroutines.
type Branches struct {
	root *Tree
	mu   sync.Mutex // git makes one worktree at a time
}

// Branches returns the worktrees of branches beside t, which is the run's own.
func (t *Tree) Branches() *Branches { return &Branches{root: t} }

func (b *Branches) branch(name string) string { return b.root.Branch + "." + name }
func (b *Branches) path(name string) string   { return b.root.Path + "." + name }

// Open returns the worktree of that name, with the branch at head and the files of
// snapshot, or of head when that is "". One that is there is taken up again; else
// it is made. A commit that this repository does not have is a *[Problem].
func (b *Branches) Open(ctx context.Context, name, head, snapshot string) (*Tree, error) {
	t, made, err := b.take(ctx, name, head)
	if err != nil {
		return nil, fmt.Errorf("open the worktree of branch %s: %w", name, err)
	}
	if made && (snapshot == "" || snapshot == head) {
		return t, nil
	}
	return t, t.Restore(ctx, head, snapshot)
}

func (b *Branches) take(ctx context.Context, name, head string) (*Tree, bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.root.repo.attach(ctx, attachment{
		branch: b.branch(name), path: b.path(name), head: head, run: b.root.run, transports: offline,
	})
}

// Drop gives worktrees back, with their branches and snapshots: what they hold has
// been merged, or is not wanted. Their files are deleted in the background. One
// that is not there is no error.
func (b *Branches) Drop(ctx context.Context, names []string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.root.repo
	out, err := r.do(ctx, "for-each-ref", "--format=%(refname)", "refs/heads/"+b.root.Branch+".*", "refs/pawl/"+b.root.run+".*")
	if err != nil {
		return fmt.Errorf("list branches of %s: %w", b.root.Branch, err)
	}
	there := make(map[string]bool)
	for _, ref := range strings.Fields(out) {
		there[ref] = true
	}
	var gone strings.Builder
	for _, name := range names {
		if _, err := os.Lstat(b.path(name)); err == nil {
			if err := r.Remove(ctx, b.path(name)); err != nil {
				return err
			}
		}
		for _, ref := range []string{"refs/heads/" + b.branch(name), "refs/pawl/" + b.root.run + "." + name} {
			if there[ref] {
				gone.WriteString("delete " + ref + "\x00\x00")
			}
		}
	}
	if gone.Len() == 0 {
		return nil
	}
	if _, err := r.feed(ctx, gone.String(), "update-ref", "-z", "--stdin"); err != nil {
		return fmt.Errorf("delete branches of %s: %w", b.root.Branch, err)
	}
	return nil
}

// marked lists the files, of those named, in which the index holds the marks of a
// conflict.
func (t *Tree) marked(ctx context.Context, paths []string) ([]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	out, err := t.call(ctx, git.Call{
		Env:  []string{"GIT_LITERAL_PATHSPECS=1"},
		Args: append([]string{"grep", "--cached", "-l", "-z", "-I", "-E", "^(<{7}|>{7})( |$)", "--"}, paths...),
	})
	if git.Exit(err) == 1 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(out, "\x00"), "\x00"), nil
}
