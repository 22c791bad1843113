package workspace

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/pawl-ci/pawl/runner"
)

// place is a user's repository in a temporary directory, with git's own
// configuration shut out.
type place struct {
	t    *testing.T
	dir  string // the checkout
	home string
	env  []string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, dir: filepath.Join(root, "repo"), home: filepath.Join(root, "home")}
	p.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.home, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull}
	for _, dir := range []string{p.dir, p.home} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// withCommit is a place with a few files committed on main.
func withCommit(t *testing.T) *place {
	t.Helper()
	p := newPlace(t)
	p.git("init", "-q", "-b", "main")
	p.git("config", "user.name", "user")
	p.git("config", "user.email", "user@example.com")
	p.write("a.txt", "alpha\n")
	p.write("dir/b.txt", "beta\n")
	p.write(".gitignore", "*.log\n")
	p.git("add", "-A")
	p.git("commit", "-q", "-m", "base")
	return p
}

func (p *place) git(args ...string) string {
	p.t.Helper()
	return p.gitIn(p.dir, args...)
}

func (p *place) gitIn(dir string, args ...string) string {
	p.t.Helper()
	out, err := p.tryGit(dir, args...)
	if err != nil {
		p.t.Fatalf("git %q in %s: %v\n%s", args, dir, err, out)
	}
	return out
}

func (p *place) tryGit(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, append(p.env[:len(p.env):len(p.env)], "GIT_AUTHOR_NAME=u", "GIT_AUTHOR_EMAIL=u@e", "GIT_COMMITTER_NAME=u", "GIT_COMMITTER_EMAIL=u@e")
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (p *place) write(name, text string) { p.t.Helper(); put(p.t, p.dir, name, text) }

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (p *place) open() *Repo {
	p.t.Helper()
	r, err := Open(context.Background(), p.dir, Options{Env: p.env})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = r.Wait(context.Background()) })
	return r
}

const testBranch = "pawl/ci-fix/run-1"

func (p *place) path() string { return filepath.Join(filepath.Dir(p.dir), "trees", "run-1") }

func (p *place) start() *Tree {
	p.t.Helper()
	t, err := p.open().Start(context.Background(), testBranch, p.path(), "")
	if err != nil {
		p.t.Fatal(err)
	}
	return t
}

// look describes all files below dir except .git: name, kind, mode, content.
func look(t *testing.T, dir string) map[string]string {
	t.Helper()
	seen := map[string]string{}
	err := filepath.Walk(dir, func(p string, st os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, p)
		switch {
		case st.Name() == ".git" && name == ".git":
			if st.IsDir() {
				return filepath.SkipDir
			}
		case st.Mode()&os.ModeSymlink != 0:
			to, _ := os.Readlink(p)
			seen[name] = "-> " + to
		case st.Mode().IsRegular():
			text, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			seen[name] = st.Mode().Perm().String() + " " + string(text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return seen
}

func same(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	names := map[string]bool{}
	for n := range got {
		names[n] = true
	}
	for n := range want {
		names[n] = true
	}
	var sorted []string
	for n := range names {
		sorted = append(sorted, n)
	}
	sort.Strings(sorted)
	for _, n := range sorted {
		if got[n] != want[n] {
			t.Errorf("%s: %q is %.80q, want %.80q", what, n, got[n], want[n])
		}
	}
}

func mustSnapshot(t *testing.T, tree *Tree) string {
	t.Helper()
	id, err := tree.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

var testTime = time.Unix(1_700_000_000, 0)

func testCommit(subject string) runner.Commit {
	return runner.Commit{Subject: subject, Body: "why", Time: testTime,
		Trailers: []runner.Trailer{{Key: RunTrailer, Value: "run-1"}, {Key: "Pawl-Node", Value: "fix"}, {Key: "Pawl-Seq", Value: "7"}}}
}

func mustCommit(t *testing.T, tree *Tree, subject string) string {
	t.Helper()
	id, _, err := tree.Commit(context.Background(), testCommit(subject))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func mustRestore(t *testing.T, tree *Tree, head, snapshot string) {
	t.Helper()
	if err := tree.Restore(context.Background(), head, snapshot); err != nil {
		t.Fatal(err)
	}
}

// script writes a program that creates the file it is named after with ".ran".
func script(t *testing.T, file string) (ran string) {
	t.Helper()
	ran = file + ".ran"
	put(t, filepath.Dir(file), filepath.Base(file), "#!/bin/sh\ntouch '"+ran+"'\ncat\n")
	if err := os.Chmod(file, 0o755); err != nil {
		t.Fatal(err)
	}
	return ran
}

func exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}
