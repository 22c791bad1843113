package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pawl-ci/pawl/runner/host/workspace/git"
)

// smallDisk mounts a file system of the given size at dir.
func smallDisk(t *testing.T, dir, size string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("mounting needs more rights than this test has: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
}

// fill takes all space that is left on the file system of dir.
func fill(t *testing.T, dir string) (filler string) {
	t.Helper()
	filler = filepath.Join(dir, "filler.log")
	f, err := os.Create(filler)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for chunk := 1 << 20; chunk > 0; chunk /= 2 {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, chunk))
		}
	}
	return filler
}

func oneClearError(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error on a full disk")
	}
	for _, w := range append(words, "no space left on the disk of") {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error lacks %q: %v", w, err)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("error has several lines: %q", err)
	}
}

func TestFullDiskUnderTheWorktree(t *testing.T) {
	t.Parallel()
	p := withCommit(t)
	for _, name := range []string{"x", "y", "z"} {
		p.write(name, strings.Repeat(name, 300<<10))
	}
	p.git("add", "-A")
	p.git("commit", "-qm", "large")
	trees := filepath.Join(filepath.Dir(p.dir), "trees")
	smallDisk(t, trees, "512k")
	_, err := p.open().Start(context.Background(), testBranch, p.path(), "")
	oneClearError(t, err, p.path())
	if exists(p.path()) || p.git("branch", "--list", "pawl/*") != "" || strings.Count(p.git("worktree", "list"), "\n") > 0 {
		t.Error("the failed Start left something behind")
	}
}

func TestFullDiskUnderTheRepository(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	smallDisk(t, p.dir, "2m")
	q := withCommit(t)
	p.git("clone", "-q", "file://"+q.dir, ".")
	p.env = append(p.env, "GIT_CONFIG_COUNT=0")
	r, err := Open(context.Background(), p.dir, Options{Env: p.env})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	tree, err := r.Start(ctx, testBranch, p.path(), "")
	if err != nil {
		t.Fatal(err)
	}
	put(t, tree.Path, "a.txt", "fixed\n")
	snap := mustSnapshot(t, tree)
	put(t, tree.Path, "b.txt", "more\n")
	filler := fill(t, p.dir)

	_, err = tree.Snapshot(ctx)
	oneClearError(t, err, tree.Path)
	_, _, err = tree.Commit(ctx, testCommit("full"))
	oneClearError(t, err, tree.Path)
	_, err = r.Start(ctx, "pawl/w/second", p.path()+"-second", "")
	oneClearError(t, err)
	if got := p.git("rev-parse", testBranch); got != tree.Head() {
		t.Error("the failed Commit moved the branch")
	}
	if exists(p.path() + "-second") {
		t.Error("the failed Start left its directory")
	}

	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	next := mustSnapshot(t, tree)
	if got := p.git("log", "--format=%H", "-2", next); got != next+"\n"+snap {
		t.Errorf("snapshots: %s", got)
	}
	mustCommit(t, tree, "there is space again")
	if out, err := p.tryGit(p.dir, "fsck", "--strict"); err != nil {
		t.Errorf("fsck: %s", out)
	}
	var g *git.Error
	if errors.As(err, &g) && g.Exit == 0 {
		t.Error("a failure with exit status 0")
	}
}
