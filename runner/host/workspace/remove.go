package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// trashPattern names directories that hold worktrees on their way out.
const trashPattern = ".pawl-trash-*"

// Remove gives a worktree back: it is gone from path and from git's list when
// Remove returns, and its files are deleted in the background. What an earlier
// process left half deleted next to it is deleted as well. The branch and the
// last snapshot stay. A path where nothing is, is no error.
func (r *Repo) Remove(ctx context.Context, path string) error {
	path, err := canonical(path)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		if r.entryOf(path) == "" {
			return &Problem{Kind: PathTaken, Text: path + " is not a worktree of " + r.Top + ": it is left alone"}
		}
		if err := setAside(path); err != nil {
			return fmt.Errorf("remove worktree %s: %w", path, err)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove worktree: %w", err)
	}
	r.sweep(filepath.Dir(path))
	if err := r.unregister(ctx, path); err != nil {
		return fmt.Errorf("remove worktree %s: %w", path, err)
	}
	return nil
}

// setAside renames path into a fresh directory next to it, which is quick. Another
// run that sweeps here may take the directory away while it is still empty; then
// there is another one.
func setAside(path string) error {
	for {
		trash, err := os.MkdirTemp(filepath.Dir(path), trashPattern)
		if err != nil {
			return err
		}
		err = os.Rename(path, filepath.Join(trash, filepath.Base(path)))
		if err == nil {
			return nil
		}
		_, swept := os.Lstat(trash)
		_, gone := os.Lstat(path)
		if !errors.Is(swept, fs.ErrNotExist) || gone != nil {
			_ = os.Remove(trash)
			return err
		}
	}
}

// sweep deletes what was set aside in dir, in the background.
func (r *Repo) sweep(dir string) {
	found, err := filepath.Glob(filepath.Join(globQuote(dir), trashPattern))
	if err != nil || len(found) == 0 {
		return
	}
	gone := make(chan struct{})
	r.mu.Lock()
	r.trash = append(r.trash, gone)
	r.mu.Unlock()
	go func() {
		defer close(gone)
		for _, trash := range found {
			_ = forceRemove(trash) // what stays is tried again by the next run
		}
	}()
}

// globQuote makes a path match only itself.
func globQuote(path string) string {
	var out []rune
	for _, c := range path {
		switch c {
		case '*', '?', '[':
			out = append(out, '[', c, ']')
		default:
			out = append(out, c)
		}
	}
	return string(out)
}

// Wait returns when the background deletions that have begun are done, or with
// ctx's error. Nobody has to wait: what a process leaves behind, the next Remove
// deletes.
func (r *Repo) Wait(ctx context.Context) error {
	r.mu.Lock()
	trash := slices.Clone(r.trash)
	r.mu.Unlock()
	for _, gone := range trash {
		select {
		case <-gone:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// DropSnapshots lets git collect the snapshots of a finished run's branch.
func (r *Repo) DropSnapshots(ctx context.Context, branch string) error {
	if _, err := r.do(ctx, "update-ref", "-d", "refs/pawl/"+runOf(branch)); err != nil {
		return fmt.Errorf("drop snapshots of %s: %w", branch, err)
	}
	return nil
}

// DeleteBranch deletes a run's branch and its snapshots. A branch that is checked
// out somewhere is refused by git.
func (r *Repo) DeleteBranch(ctx context.Context, branch string) error {
	if _, err := r.do(ctx, "branch", "--quiet", "-D", "--", branch); err != nil {
		return fmt.Errorf("delete branch %s: %w", branch, err)
	}
	return r.DropSnapshots(ctx, branch)
}
