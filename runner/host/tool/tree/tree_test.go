//go:build unix

package tree

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const secret = "the secret"

// world is a worktree with a secret beside it and one in its .git, and every
// kind of way that might lead there.
func world(t testing.TB) (*Tree, string) {
	t.Helper()
	top := t.TempDir()
	root := filepath.Join(top, "root")
	for _, dir := range []string{"root/.git/hooks", "root/dir/deep", "root/sub/.git", "outside", "root-other"} {
		must(t, os.MkdirAll(filepath.Join(top, dir), 0o755))
	}
	for name, content := range map[string]string{
		"outside/file": secret, "root-other/file": secret, "root/.git/config": secret, "root/.git/hooks/pre-commit": secret,
		"root/sub/.git/config": secret, "root/plain": "plain", "root/dir/deep/file": "deep", "root/run.sh": "#!/bin/sh\n",
	} {
		must(t, os.WriteFile(filepath.Join(top, name), []byte(content), 0o644))
	}
	must(t, os.Chmod(filepath.Join(root, "run.sh"), 0o755))
	for name, target := range map[string]string{
		"out-file": "../outside/file", "out-dir": "../outside", "out-absolute": filepath.Join(top, "outside/file"),
		"etc": "/etc", "proc": "/proc/self/environ", "git-dir": ".git", "git-file": ".git/config", "dir/git": "../.git",
		"twice": "git-dir", "in-file": "dir/deep/file", "in-dir": "dir/deep", "in-absolute": filepath.Join(root, "plain"),
		"dangling": "dir/new", "dangling-out": "../outside/new", "dangling-git": ".git/hooks/post-commit",
		"circle": "circle2", "circle2": "circle", "up": "dir/../plain", "far-up": "dir/../../outside/file", "self": ".",
	} {
		must(t, os.Symlink(target, filepath.Join(root, name)))
	}
	must(t, syscall.Mkfifo(filepath.Join(root, "fifo"), 0o644))
	tr, err := Open(root)
	must(t, err)
	t.Cleanup(func() { _ = tr.Close() })
	return tr, top
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// refused are names that lead to nothing that may be used, and why.
func refused(top string) map[string]string {
	return map[string]string{
		"": "is not a path", "a\x00b": "is not a path",
		"..": outside, "../outside/file": outside, "dir/../../outside/file": outside, "/etc/passwd": outside,
		"/": outside, top + "/root-other/file": outside, top: outside, top + "/root/../outside/file": outside,
		".git": insideGit, ".git/config": insideGit, ".GIT/config": insideGit, ".Git": insideGit, "./.git/config": insideGit,
		"dir/../.git/config": insideGit, "sub/.git/config": insideGit, "x/.git/hooks/y": insideGit, "GIT~1/config": insideGit,
		".git./config": insideGit, ".git /config": insideGit, ".git::$INDEX_ALLOCATION/config": insideGit, ".git\\config": insideGit,
		"dir\\.git\\config": insideGit, ".g\u200cit/config": insideGit, top + "/root/.git/config": insideGit,
		"out-file": "leads out of the worktree", "out-dir/file": "leads out of the worktree", "out-absolute": "leads out of the worktree",
		"etc/passwd": "leads out of the worktree", "proc": "leads out of the worktree", "far-up": "leads out of the worktree",
		"git-dir/config": "leads into a git directory", "git-file": "leads into a git directory", "dir/git/config": "leads into a git directory",
		"twice/config": "leads into a git directory", "self/git-file": "leads into a git directory",
		"circle": "in a circle", "circle/x": "in a circle",
		"plain/x": "is not a directory", strings.Repeat("x", 300): "too long a name",
	}
}

func TestWhatIsRefusedToEveryone(t *testing.T) {
	t.Parallel()
	tr, top := world(t)
	yes := true
	for name, why := range refused(top) {
		uses := map[string]func() error{
			"open":  func() error { _, _, err := tr.Open(name); return err },
			"read":  func() error { _, _, err := tr.Read(name, 1<<20); return err },
			"write": func() error { return tr.Write(name, []byte("mine"), &yes) },
			"dir":   func() error { _, err := tr.Dir(name); return err },
		}
		for use, try := range uses {
			err := try()
			var known *Error
			if !errors.As(err, &known) || !strings.Contains(err.Error(), why) || strings.ContainsAny(err.Error(), "\n\x00") {
				t.Errorf("%s %q: error %q, want %q in it", use, name, err, why)
			}
		}
		for use, try := range map[string]func() error{
			"move from": func() error { return tr.Move(name, "free") },
			"move to":   func() error { return tr.Move("plain", name) },
			"remove":    func() error { return tr.Remove(name) },
		} {
			if slices.Contains([]string{"out-file", "out-absolute", "proc", "far-up", "git-file", "self/git-file", "circle"}, name) {
				continue // a link itself may be moved and removed
			}
			if err := try(); err == nil {
				t.Errorf("%s %q: no error", use, name)
			}
		}
	}
	secretsAreWhole(t, top)
}

// secretsAreWhole checks that nothing outside of the worktree or in a git
// directory was changed.
func secretsAreWhole(t *testing.T, top string) {
	t.Helper()
	for _, name := range []string{"outside/file", "root-other/file", "root/.git/config", "root/.git/hooks/pre-commit", "root/sub/.git/config"} {
		if got, err := os.ReadFile(filepath.Join(top, name)); err != nil || string(got) != secret {
			t.Errorf("%s is now %q (%v)", name, got, err)
		}
	}
	for name, n := range map[string]int{"outside": 1, "root-other": 1, "root/.git": 2, "root/.git/hooks": 1, "root/sub/.git": 1} {
		if entries, err := os.ReadDir(filepath.Join(top, name)); err != nil || len(entries) != n {
			t.Errorf("%s holds %v (%v)", name, entries, err)
		}
	}
}

func TestWhatMayBeRead(t *testing.T) {
	t.Parallel()
	tr, top := world(t)
	for name, want := range map[string]string{
		"plain": "plain", "./plain": "plain", "dir/deep/file": "deep", "dir//deep/../deep/file": "deep", "in-file": "deep",
		"in-dir/file": "deep", "in-absolute": "plain", "up": "plain", "self/self/plain": "plain", top + "/root/plain": "plain",
	} {
		if got, _, err := tr.Read(name, 100); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
	for name, why := range map[string]string{
		"gone": "does not exist", "gone/gone": "does not exist", "dangling": "does not exist", "dir": "is a directory",
		".": "is a directory", "in-dir": "is a directory", "fifo": "is a named pipe, not a file",
	} {
		if _, _, err := tr.Read(name, 100); err == nil || err.Error() != name+" "+why && !strings.HasSuffix(err.Error(), " "+why) {
			t.Errorf("%s: error %v, want %q", name, err, why)
		}
	}
	if _, _, err := tr.Read("plain", 4); err == nil || !strings.Contains(err.Error(), "too large: 5 bytes, where 4 are the most") {
		t.Errorf("a file above the limit: %v", err)
	}
	if _, _, err := tr.Open("gone"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file is not fs.ErrNotExist: %v", err)
	}
}

func TestSocketsAndDevicesAreNoFiles(t *testing.T) {
	t.Parallel()
	tr, top := world(t)
	l, err := net.Listen("unix", filepath.Join(top, "root", "sock"))
	must(t, err)
	defer l.Close()
	names := map[string]string{"sock": "is a socket, not a file"}
	if syscall.Mknod(filepath.Join(top, "root", "null"), syscall.S_IFCHR|0o666, 1<<8|3) == nil {
		names["null"] = "is a device, not a file"
	}
	for name, why := range names {
		_, _, err := tr.Read(name, 100)
		wrote := tr.Write(name, []byte("x"), nil)
		if err == nil || !strings.HasSuffix(err.Error(), why) || wrote == nil || !strings.HasSuffix(wrote.Error(), why) {
			t.Errorf("%s: read %v, write %v; want %q", name, err, wrote, why)
		}
	}
}

func TestWriteReplacesInOneStepAndKeepsTheMode(t *testing.T) {
	t.Parallel()
	tr, top := world(t)
	yes, no := true, false
	at := func(name string) string { return filepath.Join(top, "root", name) }
	must(t, os.Chmod(at("plain"), 0o640))
	must(t, os.Link(at("plain"), filepath.Join(top, "outside-link")))
	for _, c := range []struct {
		name, content string
		exec          *bool
		really        string
		mode          fs.FileMode
	}{
		{"plain", "new", nil, "plain", 0o640},
		{"plain", "newer", &yes, "plain", 0o750},
		{"plain", "newest", &no, "plain", 0o640},
		{"run.sh", "x", nil, "run.sh", 0o755},
		{"new/a/b", "x", nil, "new/a/b", 0o644},
		{"new/run", "x", &yes, "new/run", 0o755},
		{"in-file", "through a link", nil, "dir/deep/file", 0o644},
		{"dangling", "through a link", nil, "dir/new", 0o644},
		{"empty", "", nil, "empty", 0o644},
	} {
		if err := tr.Write(c.name, []byte(c.content), c.exec); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got, err := os.ReadFile(at(c.really))
		info, statErr := os.Stat(at(c.really))
		if err != nil || statErr != nil || string(got) != c.content || info.Mode().Perm() != c.mode {
			t.Errorf("%s: %q with mode %v (%v); want %q with %v", c.name, got, info.Mode().Perm(), err, c.content, c.mode)
		}
	}
	if got, _ := os.ReadFile(filepath.Join(top, "outside-link")); string(got) != "plain" {
		t.Errorf("a hard link outside was written through: %q", got)
	}
	for name, why := range map[string]string{
		"dir": "is a directory", ".": "is a directory", "fifo": "is a named pipe, not a file", "plain/x": "is not a directory",
		"dangling-out": "leads out of the worktree", "dangling-git": "leads into a git directory",
	} {
		if err := tr.Write(name, []byte("x"), nil); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: error %v, want %q", name, err, why)
		}
	}
	if stray, _ := filepath.Glob(at(".pawl-*")); len(stray) > 0 {
		t.Errorf("drafts are left: %v", stray)
	}
	secretsAreWhole(t, top)
}

func TestRemoveAndMove(t *testing.T) {
	t.Parallel()
	tr, top := world(t)
	exists := func(name string) bool {
		_, err := os.Lstat(filepath.Join(top, "root", name))
		return err == nil
	}
	for _, name := range []string{"dir/deep/file", "out-file", "git-dir", "fifo"} {
		if err := tr.Remove(name); err != nil || exists(name) {
			t.Errorf("remove %s: %v", name, err)
		}
	}
	for name, why := range map[string]string{"dir": "is a directory", "gone": "does not exist", ".": "is a directory", "etc/passwd": "leads out"} {
		if err := tr.Remove(name); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("remove %s: error %v, want %q", name, err, why)
		}
	}
	for from, to := range map[string]string{"plain": "new/place", "dir": "elsewhere", "out-dir": "link"} {
		if err := tr.Move(from, to); err != nil || exists(from) || !exists(to) {
			t.Errorf("move %s to %s: %v", from, to, err)
		}
	}
	for _, c := range []struct{ from, to, why string }{
		{"gone", "x", "gone does not exist"}, {"run.sh", "new/place", "new/place exists already"}, {".", "x", "is the worktree itself"},
		{"new", "new/x", "inside of what is to be moved"}, {"run.sh", "run.sh", "exists already"}, {"run.sh", "link/x", "leads out"},
		{"run.sh", "../x", outside}, {"run.sh", ".git/x", insideGit}, {"run.sh", "elsewhere/.git", insideGit},
	} {
		if err := tr.Move(c.from, c.to); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("move %s to %s: error %v, want %q", c.from, c.to, err, c.why)
		}
	}
	secretsAreWhole(t, top)
}

func TestWalkFindsFilesOnly(t *testing.T) {
	t.Parallel()
	tr, _ := world(t)
	d, err := tr.Dir(".")
	must(t, err)
	defer d.Close()
	names, err := d.Walk(1000)
	must(t, err)
	for _, n := range names {
		if namesGit(n) || strings.HasPrefix(n, "in-dir/") || strings.HasPrefix(n, "out-dir/") {
			t.Errorf("walked into %s", n)
		}
	}
	for _, want := range []string{"plain", "dir/deep/file", "in-dir", "fifo"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is missing in %v", want, names)
		}
	}
	if few, _ := d.Walk(3); len(few) != 3 {
		t.Errorf("3 at most: %v", few)
	}
}

// TestLinksThatMoveWhileTheyAreFollowed flips a directory and a link into the
// git directory as fast as it can while files are used through it. Now and then
// the flipping rests until a file was read: on a busy machine it would win always.
func TestLinksThatMoveWhileTheyAreFollowed(t *testing.T) {
	t.Parallel()
	tr, top := world(t)
	at := func(name string) string { return filepath.Join(top, "root", name) }
	must(t, os.WriteFile(at("dir/config"), []byte("plain"), 0o644))
	must(t, os.Symlink("../outside", at("flip-out")))
	must(t, os.Symlink(".git", at("flip-git")))
	var stop atomic.Bool
	var read atomic.Int64
	done := make(chan struct{})
	go func() {
		defer close(done)
		for turn := 0; !stop.Load(); turn++ {
			for before := read.Load(); turn%64 == 0 && read.Load() == before && !stop.Load(); {
				runtime.Gosched()
			}
			for _, link := range []string{"flip-git", "flip-out"} {
				_ = os.Rename(at("dir"), at("away"))
				_ = os.Rename(at(link), at("dir"))
				_ = os.Rename(at("dir"), at(link))
				_ = os.Rename(at("away"), at("dir"))
			}
		}
	}()
	for i := range 3000 {
		if got, _, err := tr.Read("dir/config", 100); err == nil {
			read.Add(1)
			if string(got) != "plain" {
				t.Errorf("read %q", got)
			}
		}
		if i%10 == 0 {
			_ = tr.Write("dir/new", []byte("mine"), nil)
		}
	}
	stop.Store(true)
	<-done
	secretsAreWhole(t, top)
	if read.Load() == 0 {
		t.Error("nothing was ever read")
	}
}

// TestWhatWasSwappedIsNotUsed gives the last steps what a race would give them:
// the description of one thing under the name of another.
func TestWhatWasSwappedIsNotUsed(t *testing.T) {
	t.Parallel()
	tr, _ := world(t)
	plain, err := tr.Stat("plain")
	must(t, err)
	dir, err := tr.Stat("dir")
	must(t, err)
	for _, name := range []string{"git-dir", "sub", ".git"} {
		if below, err := enter(tr.root, name, dir); err != errMoved {
			t.Errorf("entered %s as dir: %v, %v", name, below, err)
		}
	}
	for _, name := range []string{"git-file", "run.sh", "fifo", "in-file"} {
		p := &place{dir: tr.root, base: name, info: plain, name: "plain"}
		opened := make(chan error, 1)
		go func() { _, _, err := p.open(); opened <- err }()
		select {
		case err := <-opened:
			if err != errMoved {
				t.Errorf("opened %s as plain: %v", name, err)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("opening %s waits for ever", name)
		}
	}
}

// TestNoNameLeadsToASecret tries names made of everything that is there.
func TestNoNameLeadsToASecret(t *testing.T) {
	t.Parallel()
	tr, top := world(t)
	part := rapid.SampledFrom([]string{
		"..", ".", "", ".git", ".GIT", "config", "file", "dir", "deep", "outside", "root", "git-dir", "git-file", "out-dir", "out-file",
		"in-dir", "in-file", "dir/git", "self", "twice", "sub", "hooks", "pre-commit", "up", "far-up", "/", top, "plain", "git~1", ".git\\config",
	})
	rapid.Check(t, func(r *rapid.T) {
		name := strings.Join(rapid.SliceOfN(part, 1, 6).Draw(r, "parts"), "/")
		f, _, err := tr.Open(name)
		if err != nil {
			return
		}
		defer f.Close()
		if got, err := io.ReadAll(f); err != nil || string(got) == secret {
			r.Fatalf("%q led to %q (%v)", name, got, err)
		}
	})
}

func FuzzRel(f *testing.F) {
	for name := range refused("/top") {
		f.Add(name)
	}
	f.Add("dir/file")
	tr := &Tree{path: "/top/root"}
	f.Fuzz(func(t *testing.T, name string) {
		rel, err := tr.Rel(name)
		if err != nil {
			return
		}
		if !filepath.IsLocal(rel) || namesGit(rel) || filepath.Clean(rel) != rel {
			t.Fatalf("%q became %q", name, rel)
		}
		for part := range strings.SplitSeq(rel, "/") {
			if strings.EqualFold(part, ".git") {
				t.Fatalf("%q became %q", name, rel)
			}
		}
		if again, err := tr.Rel(rel); err != nil || again != rel {
			t.Fatalf("%q became %q, which becomes %q (%v)", name, rel, again, err)
		}
	})
}

func TestHostFailuresAreTold(t *testing.T) {
	t.Parallel()
	full := (&Tree{}).explain("x", &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC})
	if !Host(full) || full.Error() != "x cannot be used: no space left on device" {
		t.Errorf("a full disk: %v", full)
	}
	if Host(refuse("x", "does not exist")) {
		t.Error("a missing file is the machine's failure")
	}
	if _, err := Open("relative"); err == nil {
		t.Error("a relative root is taken")
	}
	if _, err := Open("/no/such/place"); err == nil {
		t.Error("a missing root is taken")
	}
}

func BenchmarkRead(b *testing.B) {
	tr, _ := world(b)
	for b.Loop() {
		if _, _, err := tr.Read("dir/deep/file", 100); err != nil {
			b.Fatal(err)
		}
	}
}
