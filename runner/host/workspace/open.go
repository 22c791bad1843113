package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/pawl-ci/pawl/runner/host/workspace/git"
)

// Identity is who a commit is by.
type Identity struct{ Name, Email string }

// Options set up a repository. The zero value works, without any environment.
type Options struct {
	Git    string   // the git binary; "" looks it up in the process's PATH
	Env    []string // the caller's environment; git sees an allow-listed part of it
	Author Identity // author and committer of the run's commits; "" is pawl <pawl@pawl-ci.invalid>
	// TrustOwner says that the caller vouches for a repository that belongs to
	// another user, as in a container whose checkout was made outside.
	TrustOwner bool
}

// Repo is the user's repository. It is safe for use by several goroutines.
type Repo struct {
	Top       string // root of the user's checkout
	CommonDir string // the git directory shared by all worktrees
	Head      string // commit the checkout is at
	Branch    string // its branch, "" when Detached
	Detached  bool
	Dirty     int    // changed and untracked files in the checkout; they are not part of a run
	Subdir    string // where Open was called, relative to Top with slashes; "" is Top

	git    *git.Git
	gitDir string
	author Identity
	pins   *git.Pins
	// mergeTree: this git merges commits without a worktree.
	mergeTree bool
	admin     sync.Mutex      // held while git reads or changes its entries of worktrees
	mu        sync.Mutex      // guards trash
	trash     []chan struct{} // one for each background deletion; closed at its end
}

// The oldest git whose `read-tree --reset -u` overwrites untracked files.
const oldestMajor, oldestMinor = 2, 34

// mergeTreeMinor is the first git 2 whose merge-tree writes the merged tree.
const mergeTreeMinor = 38

// Open finds the repository that dir lies in. It writes nothing. An error that
// the user can mend is a *[Problem].
func Open(ctx context.Context, dir string, opt Options) (*Repo, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open repository %s: %w", dir, err)
	}
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return nil, &Problem{Kind: NoDirectory, Text: dir + " is not a directory", Err: err}
	}
	g, mergeTree, err := findGit(ctx, dir, opt)
	if err != nil {
		return nil, err
	}
	r := &Repo{git: g, author: opt.Author, mergeTree: mergeTree}
	if r.author.Name == "" || r.author.Email == "" {
		r.author = Identity{"pawl", "pawl@pawl-ci.invalid"}
	}
	if err := r.discover(ctx, dir, opt.TrustOwner); err != nil {
		return nil, err
	}
	if err := r.readStatus(ctx); err != nil {
		return nil, err
	}
	r.pins, err = g.Pin(ctx, git.Call{Dir: r.Top, Env: r.gitEnv()}, r.Top, r.CommonDir)
	return r, err
}

// findGit also reports whether that git can merge commits without a worktree.
func findGit(ctx context.Context, dir string, opt Options) (g *git.Git, mergeTree bool, err error) {
	g, err = git.Find(opt.Git, opt.Env)
	if err != nil {
		return nil, false, &Problem{Kind: NoGit, Text: "git was not found (" + err.Error() + ")", Hint: "install git 2.34 or newer", Err: err}
	}
	major, minor, text, err := g.Version(ctx, dir)
	if err != nil {
		return nil, false, &Problem{Kind: NoGit, Text: g.Path() + " does not work: " + err.Error(), Err: err}
	}
	if major < oldestMajor || major == oldestMajor && minor < oldestMinor {
		return nil, false, &Problem{Kind: OldGit, Text: fmt.Sprintf("%s is %q", g.Path(), text), Hint: "pawl needs git 2.34 or newer"}
	}
	return g, major > oldestMajor || minor >= mergeTreeMinor, nil
}

// discover asks git, which also checks who owns the repository. Later calls name
// the git directory and look for nothing.
func (r *Repo) discover(ctx context.Context, dir string, trustOwner bool) error {
	c := git.Call{Dir: dir, Args: []string{"rev-parse", "--is-bare-repository", "--is-inside-git-dir",
		"--path-format=absolute", "--git-common-dir", "--git-dir", "--show-prefix", "--show-toplevel"}}
	if trustOwner {
		c.Conf = []string{"-c", "safe.directory=*"}
	}
	out, err := r.git.Run(ctx, c)
	lines := strings.Split(out, "\n")
	switch {
	case git.Said(err, "not a git repository"):
		return &Problem{Kind: NotRepository, Text: dir + " is not inside a git repository", Hint: "run pawl in one, or make one with `git init`", Err: err}
	case git.Said(err, "dubious ownership", "unsafe repository"):
		return ownership(dir, err)
	case strings.HasPrefix(out, "true\n"):
		return &Problem{Kind: Bare, Text: dir + " is a bare repository, which has no files", Hint: "run pawl in a clone of it", Err: err}
	case len(lines) > 1 && lines[1] == "true":
		return &Problem{Kind: NotRepository, Text: dir + " is inside a .git directory", Hint: "run pawl in the checkout", Err: err}
	case err != nil:
		return fmt.Errorf("open repository: %w", err)
	case len(lines) != 7:
		return fmt.Errorf("open repository %s: a directory name on the way holds a line break", dir)
	}
	r.CommonDir, r.gitDir, r.Top = filepath.FromSlash(lines[2]), filepath.FromSlash(lines[3]), filepath.FromSlash(lines[5])
	r.Subdir = strings.TrimSuffix(lines[4], "/")
	return nil
}

// ownership turns git's refusal into a problem with git's own remedy.
func ownership(dir string, err error) error {
	hint := "if you trust it: git config --global --add safe.directory " + dir
	var e *git.Error
	if errors.As(err, &e) {
		if i := strings.Index(e.Message, "git config --global"); i >= 0 {
			remedy, _, _ := strings.Cut(e.Message[i:], "; ")
			hint = "if you trust it: " + remedy
		}
	}
	return &Problem{Kind: Ownership, Text: dir + " belongs to another user, so git refuses to work in it", Hint: hint, Err: err}
}

func (r *Repo) readStatus(ctx context.Context) error {
	out, err := r.do(ctx, "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal", "--ignore-submodules=dirty", "--no-renames")
	if err != nil {
		return fmt.Errorf("read status of %s: %w", r.Top, err)
	}
	s := parseStatus(out)
	if s.head == "" {
		return &Problem{Kind: NoCommits, Text: r.Top + " has no commits yet", Hint: "make a first commit: a run needs something to start from"}
	}
	r.Head, r.Branch, r.Detached, r.Dirty = s.head, s.branch, s.branch == "", s.dirty
	return nil
}

type status struct {
	head, branch string // "" when there is none
	dirty        int
}

// parseStatus reads `git status --porcelain=v2 --branch -z`.
func parseStatus(out string) status {
	var s status
	fields := strings.Split(out, "\x00")
	for i := 0; i < len(fields); i++ {
		f := fields[i]
		switch {
		case strings.HasPrefix(f, "# branch.oid "):
			s.head = strings.TrimPrefix(strings.TrimPrefix(f, "# branch.oid "), "(initial)")
		case strings.HasPrefix(f, "# branch.head "):
			s.branch = strings.TrimPrefix(strings.TrimPrefix(f, "# branch.head "), "(detached)")
		case strings.HasPrefix(f, "1 "), strings.HasPrefix(f, "u "), strings.HasPrefix(f, "? "):
			s.dirty++
		case strings.HasPrefix(f, "2 "): // a rename: its old name is the next field
			s.dirty++
			i++
		}
	}
	return s
}

// online lets git fetch what a partial clone left out, by transports that git
// ships; offline is for everything after an agent may have written.
const (
	online  = "GIT_ALLOW_PROTOCOL=https:http:ssh:git:file"
	offline = "GIT_ALLOW_PROTOCOL=none"
)

// do runs git on the user's repository.
func (r *Repo) do(ctx context.Context, args ...string) (string, error) {
	return r.feed(ctx, "", args...)
}

// feed is do with standard input.
func (r *Repo) feed(ctx context.Context, stdin string, args ...string) (string, error) {
	return r.git.Run(ctx, git.Call{Dir: r.Top, Stdin: stdin, Args: args, Env: r.gitEnv()})
}

func (r *Repo) gitEnv() []string {
	return []string{"GIT_DIR=" + r.gitDir, "GIT_WORK_TREE=" + r.Top, online}
}
