package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestOpenReadsTheCheckout(t *testing.T) {
	t.Parallel()
	p := withCommit(t)
	head := p.git("rev-parse", "HEAD")
	p.write("a.txt", "changed\n")
	p.write("dir/new one\n.txt", "new\n")
	p.git("mv", "dir/b.txt", "dir/c.txt")
	r, err := Open(context.Background(), filepath.Join(p.dir, "dir"), Options{Env: p.env})
	if err != nil {
		t.Fatal(err)
	}
	got := []any{r.Top, r.CommonDir, r.Head, r.Branch, r.Detached, r.Dirty, r.Subdir}
	// The rename counts twice: a name went, a name came.
	want := []any{p.dir, filepath.Join(p.dir, ".git"), head, "main", false, 4, "dir"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Open saw %v, want %v", got, want)
	}
}

func TestOpenAllows(t *testing.T) {
	t.Parallel()
	t.Run("detached HEAD", func(t *testing.T) {
		t.Parallel()
		p := withCommit(t)
		p.git("checkout", "-q", "--detach")
		if r := p.open(); !r.Detached || r.Branch != "" || r.Head == "" {
			t.Errorf("got %+v", r)
		}
	})
	t.Run("linked worktree", func(t *testing.T) {
		t.Parallel()
		p := withCommit(t)
		main := p.dir
		p.git("worktree", "add", "-q", "-b", "side", "../side")
		p.dir = filepath.Join(filepath.Dir(main), "side")
		r := p.open()
		if r.Branch != "side" || r.Top != p.dir || r.CommonDir != filepath.Join(main, ".git") {
			t.Errorf("got %+v", r)
		}
		if _, err := r.Start(context.Background(), testBranch, p.path(), ""); err != nil {
			t.Error(err)
		}
	})
	t.Run("shallow clone", func(t *testing.T) {
		t.Parallel()
		p := withCommit(t)
		p.write("a.txt", "2\n")
		p.git("commit", "-qam", "two")
		p.git("clone", "-q", "--depth=1", "file://"+p.dir, "../shallow")
		p.dir = filepath.Join(filepath.Dir(p.dir), "shallow")
		tree := p.start()
		put(t, tree.Path, "a.txt", "3\n")
		mustCommit(t, tree, "three")
	})
	t.Run("blobless clone", func(t *testing.T) {
		t.Parallel()
		p := withCommit(t)
		p.git("config", "uploadpack.allowFilter", "true")
		p.git("clone", "-q", "--no-checkout", "--filter=blob:none", "file://"+p.dir, "../partial")
		p.dir = filepath.Join(filepath.Dir(p.dir), "partial")
		tree := p.start()
		same(t, "worktree", look(t, tree.Path), map[string]string{
			"a.txt": "-rw-r--r-- alpha\n", "dir/b.txt": "-rw-r--r-- beta\n", ".gitignore": "-rw-r--r-- *.log\n"})
	})
	t.Run("sha256", func(t *testing.T) {
		t.Parallel()
		p := newPlace(t)
		p.git("init", "-q", "-b", "main", "--object-format=sha256")
		p.write("a", "1\n")
		p.git("add", "a")
		p.git("commit", "-q", "-m", "x")
		tree := p.start()
		put(t, tree.Path, "a", "2\n")
		if id := mustCommit(t, tree, "two"); len(id) != 64 {
			t.Errorf("commit id %q", id)
		}
	})
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		setup func(p *place) Options
		kind  Kind
		says  string
	}{
		{"no repository", func(*place) Options { return Options{} }, NotRepository, "git init"},
		{"bare", func(p *place) Options { p.git("init", "-q", "--bare"); return Options{} }, Bare, "clone"},
		{"inside .git", func(p *place) Options {
			p.git("init", "-q")
			p.dir = filepath.Join(p.dir, ".git")
			return Options{}
		}, NotRepository, "inside a .git directory"},
		{"no commits", func(p *place) Options { p.git("init", "-q"); return Options{} }, NoCommits, "first commit"},
		{"no directory", func(p *place) Options { p.dir += "/nowhere"; return Options{} }, NoDirectory, "nowhere"},
		{"no git", func(p *place) Options { return Options{Git: "/nowhere/git"} }, NoGit, "install git"},
		{"old git", func(p *place) Options {
			put(p.t, p.home, "git", "#!/bin/sh\necho git version 2.17.1\n")
			file := filepath.Join(p.home, "git")
			if err := os.Chmod(file, 0o755); err != nil {
				p.t.Fatal(err)
			}
			return Options{Git: file}
		}, OldGit, "2.34"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			opt := tt.setup(p)
			opt.Env = append(p.env, "GIT_CEILING_DIRECTORIES="+filepath.Dir(p.dir))
			_, err := Open(context.Background(), p.dir, opt)
			var problem *Problem
			if !errors.As(err, &problem) || problem.Kind != tt.kind || !strings.Contains(problem.Text+"\n"+problem.Hint, tt.says) {
				t.Errorf("Open: %v, want kind %s and %q", err, tt.kind, tt.says)
			}
		})
	}
}

func TestOpenNamesGitsRemedyForOwnership(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("giving a directory to another user needs root")
	}
	p := withCommit(t)
	for _, dir := range []string{p.dir, filepath.Join(p.dir, ".git")} {
		if err := os.Chown(dir, 12345, 12345); err != nil {
			t.Fatal(err)
		}
	}
	_, err := Open(context.Background(), p.dir, Options{Env: p.env})
	var problem *Problem
	if !errors.As(err, &problem) || problem.Kind != Ownership || !strings.Contains(problem.Hint, "safe.directory "+p.dir) {
		t.Fatalf("Open: %v", err)
	}
	r, err := Open(context.Background(), p.dir, Options{Env: p.env, TrustOwner: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Start(context.Background(), testBranch, p.path(), ""); err != nil {
		t.Errorf("Start in a trusted repository: %v", err)
	}
}

// A git that called pawl, say by an alias or a hook, leaves variables behind that
// would send every command to its own repository.
func TestOpenIgnoresTheCallersGitVariables(t *testing.T) {
	t.Parallel()
	p, other := withCommit(t), withCommit(t)
	env := append(p.env, "GIT_DIR="+filepath.Join(other.dir, ".git"), "GIT_INDEX_FILE=/nowhere/index", "GIT_WORK_TREE="+other.dir,
		"GIT_NAMESPACE=x", "GIT_OBJECT_DIRECTORY=/nowhere", "GIT_EXTERNAL_DIFF=/nowhere/diff")
	r, err := Open(context.Background(), p.dir, Options{Env: env})
	if err != nil {
		t.Fatal(err)
	}
	if r.Top != p.dir {
		t.Errorf("opened %s, want %s", r.Top, p.dir)
	}
}

func FuzzParseStatus(f *testing.F) {
	f.Add("# branch.oid 1234\x00# branch.head main\x001 .M N... 100644 100644 100644 a b x\x00? y\x00")
	f.Add("# branch.oid (initial)\x00# branch.head (detached)\x00")
	f.Add("2 R. N... 100644 100644 100644 a b R100 new\x00? old\x00! i\x00u UU x\x00")
	f.Fuzz(func(t *testing.T, in string) {
		s := parseStatus(in)
		if s.dirty > strings.Count(in, "\x00")+1 {
			t.Errorf("%d dirty files in %q", s.dirty, in)
		}
	})
}
