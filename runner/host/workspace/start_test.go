package workspace

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/runner/host/workspace/git"
)

// state is everything of the user's that a run must not change.
func (p *place) state() map[string]string {
	p.t.Helper()
	seen := look(p.t, p.dir)
	for _, name := range []string{"index", "HEAD", "config", "packed-refs", "refs/stash", "logs/HEAD", "logs/refs/stash", "info/exclude", "refs/heads/main", "ORIG_HEAD"} {
		text, err := os.ReadFile(filepath.Join(p.dir, ".git", name))
		if err == nil {
			seen[".git/"+name] = string(text)
		}
	}
	return seen
}

func TestStartLeavesTheCheckoutAlone(t *testing.T) {
	t.Parallel()
	p := withCommit(t)
	p.write("a.txt", "stashed\n")
	p.git("stash")
	p.write("a.txt", "staged\n")
	p.git("add", "a.txt")
	p.write("a.txt", "and changed again\n")
	p.write("untracked.txt", "u\n")
	p.write("x.log", "ignored\n")
	// A git of the user's at work, or one that died, holds the index.
	put(t, p.dir, ".git/index.lock", "")
	before := p.state()

	tree := p.start()
	same(t, "worktree", look(t, tree.Path), map[string]string{
		"a.txt": "-rw-r--r-- alpha\n", "dir/b.txt": "-rw-r--r-- beta\n", ".gitignore": "-rw-r--r-- *.log\n"})
	put(t, tree.Path, "a.txt", "fixed\n")
	mustSnapshot(t, tree)
	head := mustCommit(t, tree, "fix")
	mustRestore(t, tree, head, "")
	if err := tree.repo.Remove(context.Background(), tree.Path); err != nil {
		t.Fatal(err)
	}
	same(t, "checkout", p.state(), before)
	if got := p.git("rev-parse", testBranch); got != head {
		t.Errorf("branch is at %s, want %s", got, head)
	}
}

func TestStartFromAnotherBase(t *testing.T) {
	t.Parallel()
	p := withCommit(t)
	first := p.git("rev-parse", "HEAD")
	p.write("a.txt", "two\n")
	p.git("commit", "-qam", "two")
	tree, err := p.open().Start(context.Background(), testBranch, p.path(), first)
	if err != nil {
		t.Fatal(err)
	}
	if got := look(t, tree.Path)["a.txt"]; got != "-rw-r--r-- alpha\n" || tree.Head() != first {
		t.Errorf("a.txt is %q at %s", got, tree.Head())
	}
	if got := p.gitIn(tree.Path, "status", "--porcelain"); got != "" {
		t.Errorf("fresh worktree is not clean: %s", got)
	}
}

// leftovers lists what a failed Start must not leave.
func (p *place) leftovers() []string {
	var found []string
	if out, _ := p.tryGit(p.dir, "for-each-ref", "refs/heads/pawl", "refs/pawl"); out != "" {
		found = append(found, "refs: "+out)
	}
	if out, _ := p.tryGit(p.dir, "worktree", "list", "--porcelain"); strings.Count(out, "worktree ") != 1 {
		found = append(found, out)
	}
	if exists(filepath.Dir(p.path())) {
		found = append(found, filepath.Dir(p.path()))
	}
	return found
}

func TestStartRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, branch, base string
		setup              func(p *place)
		kind               Kind
	}{
		{"branch exists", "pawl/w/r", "", func(p *place) { p.git("branch", "pawl/w/r") }, BranchExists},
		{"branch in the way", "pawl/w/r", "", func(p *place) { p.git("branch", "pawl") }, BranchExists},
		{"bad branch", "pawl/w/..", "", nil, BadBranch},
		{"branch with a line break", "pawl/w/a\nb", "", nil, BadBranch},
		{"unknown base", "pawl/w/r", "0123456789012345678901234567890123456789", nil, UnknownCommit},
		{"base that looks like a flag", "pawl/w/r", "--all", nil, UnknownCommit},
		{"path taken", "pawl/w/r", "", func(p *place) { put(p.t, p.path(), "mine", "x") }, PathTaken},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := withCommit(t)
			if tt.setup != nil {
				tt.setup(p)
			}
			r := p.open()
			before := p.git("for-each-ref")
			_, err := r.Start(context.Background(), tt.branch, p.path(), tt.base)
			var problem *Problem
			if !errors.As(err, &problem) || problem.Kind != tt.kind {
				t.Errorf("Start: %v, want %s", err, tt.kind)
			}
			if after := p.git("for-each-ref"); after != before {
				t.Errorf("refs changed: %s", after)
			}
			if tt.kind != PathTaken && exists(filepath.Dir(p.path())) {
				t.Errorf("%s was left", filepath.Dir(p.path()))
			}
		})
	}
}

// A filter that fails makes the checkout fail when the branch and the worktree
// are there already.
func TestStartLeavesNothingWhenItFailsHalfWay(t *testing.T) {
	t.Parallel()
	p := withCommit(t)
	p.write(".gitattributes", "a.txt filter=broken\n")
	p.git("add", "-A")
	p.git("commit", "-qm", "attributes")
	p.git("config", "filter.broken.smudge", "false")
	p.git("config", "filter.broken.clean", "cat")
	p.git("config", "filter.broken.required", "true")
	_, err := p.open().Start(context.Background(), testBranch, p.path(), "")
	var g *git.Error
	if !errors.As(err, &g) || !strings.Contains(err.Error(), "broken") {
		t.Errorf("Start: %v", err)
	}
	if found := p.leftovers(); len(found) > 0 {
		t.Errorf("left behind: %q", found)
	}
}

func TestStartLeavesNothingWhenCancelled(t *testing.T) {
	t.Parallel()
	p := withCommit(t)
	p.write(".gitattributes", "a.txt filter=slow\n")
	p.git("add", "-A")
	p.git("commit", "-qm", "attributes")
	started := filepath.Join(p.home, "started")
	if err := exec.Command("mkfifo", started).Run(); err != nil {
		t.Skip("no named pipes here")
	}
	put(t, p.home, "slow", "#!/bin/sh\necho go >"+started+"\nexec sleep 60\n")
	if err := os.Chmod(filepath.Join(p.home, "slow"), 0o755); err != nil {
		t.Fatal(err)
	}
	p.git("config", "filter.slow.smudge", filepath.Join(p.home, "slow"))
	r := p.open()
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer cancel()
		_, _ = os.ReadFile(started) // returns once the filter runs
	}()
	_, err := r.Start(ctx, testBranch, p.path(), "")
	cancel()
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Start: %v", err)
	}
	if found := p.leftovers(); len(found) > 0 {
		t.Errorf("left behind: %q", found)
	}
}

func TestStartRunsNothingOfTheRepository(t *testing.T) {
	t.Parallel()
	p := withCommit(t)
	var traps []string
	for _, hook := range []string{"post-checkout", "pre-commit", "commit-msg", "post-commit", "post-index-change", "reference-transaction", "prepare-commit-msg"} {
		traps = append(traps, script(t, filepath.Join(p.dir, ".git", "hooks", hook)))
	}
	for _, key := range []string{"core.fsmonitor", "diff.external", "core.pager", "core.editor", "gpg.program", "core.alternateRefsCommand", "diff.trap.textconv", "diff.trap.command"} {
		file := filepath.Join(p.home, key)
		traps = append(traps, script(t, file))
		p.git("config", key, file)
	}
	p.git("config", "commit.gpgsign", "true")
	p.git("config", "core.hooksPath", filepath.Join(p.dir, ".git", "hooks"))
	put(t, filepath.Join(p.dir, ".git", "info"), "attributes", "* diff=trap\n")

	ctx := context.Background()
	tree := p.start()
	put(t, tree.Path, "a.txt", "changed\n")
	snap := mustSnapshot(t, tree)
	if _, err := tree.Diff(ctx, tree.Head()); err != nil {
		t.Error(err)
	}
	if patch, _, err := tree.Patch(ctx, tree.Head(), 0); err != nil || !strings.Contains(patch, "+changed") {
		t.Errorf("patch %q, %v", patch, err)
	}
	head := mustCommit(t, tree, "change")
	mustRestore(t, tree, head, snap)
	again, err := p.open().Attach(ctx, testBranch, tree.Path, head)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.repo.Remove(ctx, again.Path); err != nil {
		t.Error(err)
	}
	for _, ran := range traps {
		if exists(ran) {
			t.Errorf("%s ran", strings.TrimSuffix(ran, ".ran"))
		}
	}
}

func TestStartLeavesSubmodulesEmpty(t *testing.T) {
	t.Parallel()
	lib, p := withCommit(t), withCommit(t)
	p.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", lib.dir, "vendor/lib")
	p.git("commit", "-qm", "submodule")
	p.git("config", "submodule.recurse", "true")
	before := p.state()
	tree := p.start()
	if len(tree.Submodules) != 1 || tree.Submodules[0] != "vendor/lib" {
		t.Errorf("submodules %q", tree.Submodules)
	}
	put(t, tree.Path, "a.txt", "x\n")
	head := mustCommit(t, tree, "x")
	if got := p.git("diff", "--name-only", "main", head); got != "a.txt" {
		t.Errorf("commit changes %q", got)
	}
	same(t, "checkout", p.state(), before)
}

func TestStartSparseCheckout(t *testing.T) {
	t.Parallel()
	p := withCommit(t)
	p.write("big/blob.bin", "large\n")
	p.git("add", "-A")
	p.git("commit", "-qm", "big")
	p.git("sparse-checkout", "set", "dir")
	tree := p.start()
	put(t, tree.Path, "dir/b.txt", "changed\n")
	head := mustCommit(t, tree, "sparse")
	if got := p.git("diff", "--name-only", "main", head); got != "dir/b.txt" {
		t.Errorf("commit changes %q", got)
	}
}
