package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func (p *place) attach(head string) (*Tree, error) {
	p.t.Helper()
	return p.open().Attach(context.Background(), testBranch, p.path(), head)
}

func TestAttachTakesUpTheWorktree(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		harm func(p *place, tree *Tree)
	}{
		{"as it was", func(*place, *Tree) {}},
		{"worktree gone", func(p *place, tree *Tree) { _ = os.RemoveAll(tree.Path) }},
		{"worktree and parent gone", func(p *place, tree *Tree) { _ = os.RemoveAll(filepath.Dir(tree.Path)) }},
		{"given back", func(p *place, tree *Tree) { _ = tree.repo.Remove(context.Background(), tree.Path) }},
		{"git forgot it", func(p *place, tree *Tree) { _ = os.RemoveAll(tree.entry) }},
		{"git made it halfway", func(p *place, tree *Tree) {
			_ = os.Remove(filepath.Join(tree.entry, "HEAD"))
			put(p.t, tree.entry, "locked", "initializing\n")
		}},
		{"no .git in it", func(p *place, tree *Tree) { _ = os.Remove(filepath.Join(tree.Path, ".git")) }},
		{"empty directory", func(p *place, tree *Tree) {
			_ = os.RemoveAll(tree.Path)
			_ = os.Mkdir(tree.Path, 0o755)
		}},
		{"own index gone", func(p *place, tree *Tree) { _ = os.Remove(tree.index()) }},
		{"branch gone", func(p *place, tree *Tree) {
			p.gitIn(tree.Path, "checkout", "-q", "--detach")
			p.git("branch", "-qD", testBranch)
		}},
		{"locks of a machine that died", func(p *place, tree *Tree) {
			for _, file := range []string{tree.index(), filepath.Join(tree.entry, "index"), filepath.Join(tree.entry, "HEAD"),
				filepath.Join(p.dir, ".git/refs/heads", testBranch), filepath.Join(p.dir, ".git/refs/pawl/run-1")} {
				put(p.t, filepath.Dir(file), filepath.Base(file)+".lock", "")
			}
		}},
		{"branch back at its base", func(p *place, tree *Tree) { p.gitIn(tree.Path, "reset", "-q", "--hard", "main") }},
		{"commit that was not recorded", func(p *place, tree *Tree) {
			put(p.t, tree.Path, "a.txt", "unrecorded\n")
			mustCommit(p.t, tree, "unrecorded")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := withCommit(t)
			tree := p.start()
			put(t, tree.Path, "a.txt", "fixed\n")
			head := mustCommit(t, tree, "fix")
			put(t, tree.Path, "later.txt", "half done\n")
			snap := mustSnapshot(t, tree)
			want := look(t, tree.Path)
			tt.harm(p, tree)
			before := p.state()

			again, err := p.attach(head)
			if err != nil {
				t.Fatal(err)
			}
			mustRestore(t, again, head, snap)
			same(t, "worktree", look(t, again.Path), want)
			if got := p.git("rev-parse", testBranch); got != head {
				t.Errorf("branch at %s, want %s", got, head)
			}
			if got := p.gitIn(again.Path, "status", "--porcelain"); got != "?? later.txt" {
				t.Errorf("status in the worktree: %q", got)
			}
			next := mustCommit(t, again, "next")
			if got := p.git("log", "--format=%s", testBranch); got != "next\nfix\nbase" || p.git("rev-parse", testBranch) != next {
				t.Errorf("log %q", got)
			}
			same(t, "checkout", p.state(), before)
		})
	}
}

// Another clone that has fetched the branch and the snapshots goes on as well.
func TestAttachOnAFreshMachine(t *testing.T) {
	t.Parallel()
	p := withCommit(t)
	tree := p.start()
	put(t, tree.Path, "a.txt", "fixed\n")
	head := mustCommit(t, tree, "fix")
	put(t, tree.Path, "n", "n\n")
	snap := mustSnapshot(t, tree)
	want := look(t, tree.Path)
	p.git("clone", "-q", "--single-branch", "file://"+p.dir, "../fresh")
	p.dir = filepath.Join(filepath.Dir(p.dir), "fresh")
	p.home = filepath.Join(p.home, "elsewhere")

	var problem *Problem
	fresh := filepath.Join(filepath.Dir(p.dir), "fresh-tree")
	_, err := p.open().Attach(context.Background(), testBranch, fresh, head)
	if !errors.As(err, &problem) || problem.Kind != UnknownCommit {
		t.Errorf("Attach before the fetch: %v", err)
	}
	p.git("fetch", "-q", "origin", testBranch, "refs/pawl/run-1:refs/pawl/run-1")
	again, err := p.open().Attach(context.Background(), testBranch, fresh, head)
	if err != nil {
		t.Fatal(err)
	}
	mustRestore(t, again, head, snap)
	same(t, "worktree", look(t, again.Path), want)
}

func TestAttachRefuses(t *testing.T) {
	t.Parallel()
	t.Run("a branch that others moved", func(t *testing.T) {
		t.Parallel()
		p := withCommit(t)
		tree := p.start()
		head := tree.Head()
		put(t, tree.Path, "a.txt", "own\n")
		mustCommit(t, tree, "own")
		p.gitIn(tree.Path, "commit", "-q", "--allow-empty", "-m", "by a person\n\nPawl-Run: run-11")
		foreign := p.git("rev-parse", testBranch)
		_, err := p.attach(head)
		var moved *MovedError
		if !errors.As(err, &moved) || len(moved.Foreign) != 1 || moved.Foreign[0] != foreign || moved.Want != head || moved.Have != foreign {
			t.Errorf("Attach: %v", err)
		}
		if got := p.git("rev-parse", testBranch); got != foreign {
			t.Error("the refused branch was moved")
		}
	})
	t.Run("a branch in the user's checkout", func(t *testing.T) {
		t.Parallel()
		p := withCommit(t)
		tree := p.start()
		if err := tree.repo.Remove(context.Background(), tree.Path); err != nil {
			t.Fatal(err)
		}
		p.git("checkout", "-q", testBranch)
		_, err := p.attach(tree.Head())
		var problem *Problem
		if !errors.As(err, &problem) || problem.Kind != BranchInUse || !strings.Contains(err.Error(), p.dir) {
			t.Errorf("Attach: %v", err)
		}
	})
	t.Run("a directory of somebody else", func(t *testing.T) {
		t.Parallel()
		p := withCommit(t)
		tree := p.start()
		if err := tree.repo.Remove(context.Background(), tree.Path); err != nil {
			t.Fatal(err)
		}
		put(t, p.path(), "precious", "x")
		_, err := p.attach(tree.Head())
		var problem *Problem
		if !errors.As(err, &problem) || problem.Kind != PathTaken || !exists(filepath.Join(p.path(), "precious")) {
			t.Errorf("Attach: %v", err)
		}
	})
}

func TestRemove(t *testing.T) {
	t.Parallel()
	p := withCommit(t)
	other := filepath.Join(filepath.Dir(p.dir), "other")
	p.git("worktree", "add", "-q", "--detach", other)
	if err := os.Rename(other, other+"-unplugged"); err != nil {
		t.Fatal(err) // the user's, on a drive that is not mounted now: stays known
	}
	tree := p.start()
	left := filepath.Join(filepath.Dir(tree.Path), ".pawl-trash-1", "old")
	put(t, left, "file", "x")
	ctx, r := context.Background(), tree.repo
	for range 2 { // giving back twice is no error
		if err := errors.Join(r.Remove(ctx, tree.Path), r.Wait(ctx)); err != nil {
			t.Fatal(err)
		}
	}
	if names, _ := os.ReadDir(filepath.Dir(tree.Path)); len(names) > 0 {
		t.Errorf("left: %v", names)
	}
	list := p.git("worktree", "list", "--porcelain")
	if strings.Contains(list, tree.Path) || !strings.Contains(list, other) {
		t.Errorf("worktrees: %s", list)
	}
	if got := p.git("rev-parse", testBranch); got != tree.Head() {
		t.Error("the branch went, too")
	}
	if err := r.DeleteBranch(ctx, testBranch); err != nil {
		t.Error(err)
	}
	if out := p.git("for-each-ref", "refs/heads/pawl", "refs/pawl"); out != "" {
		t.Errorf("refs left: %s", out)
	}

	precious := filepath.Join(p.home, "precious")
	put(t, precious, "file", "x")
	for _, dir := range []string{precious, p.dir} {
		var problem *Problem
		if err := r.Remove(ctx, dir); !errors.As(err, &problem) || !exists(dir) {
			t.Errorf("Remove(%s): %v", dir, err)
		}
	}
}
