package workspace

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pawl-ci/pawl/runner"
	"pgregory.net/rapid"
)

func TestSnapshotIsCheapAndStable(t *testing.T) {
	t.Parallel()
	p := withCommit(t)
	tree := p.start()
	if got := mustSnapshot(t, tree); got != tree.Head() {
		t.Errorf("snapshot of an unchanged tree is %s, want head", got)
	}
	put(t, tree.Path, "new.txt", "n\n")
	put(t, tree.Path, "x.log", "ignored\n")
	spawns := tree.repo.git.Spawns()
	first := mustSnapshot(t, tree)
	if n := tree.repo.git.Spawns() - spawns; n > 5 {
		t.Errorf("a snapshot started git %d times", n)
	}
	spawns = tree.repo.git.Spawns()
	if again := mustSnapshot(t, tree); again != first {
		t.Errorf("unchanged tree: %s, then %s", first, again)
	}
	if n := tree.repo.git.Spawns() - spawns; n > 2 {
		t.Errorf("an unchanged snapshot started git %d times", n)
	}
	spawns = tree.repo.git.Spawns()
	head := mustCommit(t, tree, "new")
	if n := tree.repo.git.Spawns() - spawns; n > 4 {
		t.Errorf("a commit started git %d times", n)
	}
	if got := mustSnapshot(t, tree); got != head {
		t.Errorf("snapshot after the commit is %s, want head %s", got, head)
	}
	if files := p.git("ls-tree", "-r", "--name-only", head); files != ".gitignore\na.txt\ndir/b.txt\nnew.txt" {
		t.Errorf("commit holds %q", files)
	}
}

// Two machines that do the same get the same ids: nothing of the clock or the
// place is in them.
func TestIdsAreDeterministic(t *testing.T) {
	t.Parallel()
	p := withCommit(t)
	p.git("clone", "-q", ".", "../other")
	other := *p
	other.dir = filepath.Join(filepath.Dir(p.dir), "other")
	ids := func(p *place, path string) (out [3]string) {
		tree, err := p.open().Start(context.Background(), testBranch, path, "")
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range []string{"1", "2"} {
			put(t, tree.Path, "a.txt", text)
			out[i] = mustSnapshot(t, tree)
		}
		out[2] = mustCommit(t, tree, "same")
		return out
	}
	if a, b := ids(p, p.path()), ids(&other, p.path()+"-other"); a != b {
		t.Errorf("%v and %v", a, b)
	}
}

func TestSnapshotsSurviveGC(t *testing.T) {
	t.Parallel()
	p := withCommit(t)
	tree := p.start()
	put(t, tree.Path, "a.txt", "one\n")
	first := mustSnapshot(t, tree)
	put(t, tree.Path, "a.txt", "two\n")
	mustSnapshot(t, tree)
	p.git("gc", "-q", "--prune=now")
	mustRestore(t, tree, tree.Head(), first)
	if got := look(t, tree.Path)["a.txt"]; got != "-rw-r--r-- one\n" {
		t.Errorf("a.txt is %q", got)
	}
	if err := tree.repo.DropSnapshots(context.Background(), testBranch); err != nil {
		t.Fatal(err)
	}
	if out := p.git("for-each-ref", "refs/pawl"); out != "" {
		t.Errorf("snapshots stayed: %s", out)
	}
}

func TestCommitMessageAndIdentity(t *testing.T) {
	t.Parallel()
	p := withCommit(t)
	tree := p.start()
	put(t, tree.Path, "a.txt", "x\n")
	c := testCommit("fix the\nbug")
	c.Body = "Because.\n\nPawl-Run: forged\nPawl-Node: forged"
	head, changed, err := tree.Commit(context.Background(), c)
	if err != nil || !changed {
		t.Fatal(head, changed, err)
	}
	const format = "%an <%ae> %at|%cn <%ce> %ct|%s|%(trailers:only,unfold,separator=%x2C)|%P"
	want := "pawl <pawl@pawl-ci.invalid> 1700000000|pawl <pawl@pawl-ci.invalid> 1700000000|fix the bug|" +
		"Pawl-Run: run-1,Pawl-Node: fix,Pawl-Seq: 7|" + p.git("rev-parse", "main")
	if got := p.git("log", "-1", "--format="+format, head); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if again, changed, err := tree.Commit(context.Background(), testCommit("nothing")); err != nil || changed || again != head {
		t.Errorf("commit of nothing: %s, %v, %v", again, changed, err)
	}
	if got := p.gitIn(tree.Path, "status", "--porcelain"); got != "" {
		t.Errorf("the worktree looks changed after the commit: %s", got)
	}
	if _, err := p.tryGit(p.dir, "fsck", "--strict"); err != nil {
		t.Error("fsck:", err)
	}
}

func TestCommitRefuses(t *testing.T) {
	t.Parallel()
	good := testCommit("x")
	noSubject, noTime, badTrailer := good, good, good
	noSubject.Subject = " \n\x00"
	noTime.Time = time.Time{}
	badTrailer.Trailers = []runner.Trailer{{Key: "No key", Value: "x"}}
	for _, c := range []struct {
		name string
		bad  bool
		msg  func() (string, error)
	}{
		{"good", false, func() (string, error) { return message(good) }},
		{"no subject", true, func() (string, error) { return message(noSubject) }},
		{"no time", true, func() (string, error) { return message(noTime) }},
		{"bad trailer", true, func() (string, error) { return message(badTrailer) }},
	} {
		if _, err := c.msg(); (err != nil) != c.bad {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Names and kinds of files that break careless programs.
func TestRoundTripOfStrangeFiles(t *testing.T) {
	t.Parallel()
	p := withCommit(t)
	p.write("script.sh", "#!/bin/sh\n")
	p.write("old/name.txt", strings.Repeat("line\n", 20))
	p.write("gone/dir/file", "x\n")
	p.write("becomes-dir", "x\n")
	p.write("becomes-file/x", "x\n")
	p.write("becomes-link/x", "x\n")
	p.git("add", "-A")
	p.git("commit", "-qm", "more")
	tree := p.start()
	base := tree.Head()
	for _, name := range []string{"new\nline", "quote\"'`$(touch x)", "-rf", "--all", "ünï¢ødé ☃", "tab\there", "back\\slash", " lead", ":(glob)**", "*", "latin1-\xe9", "dir/-x"} {
		put(t, tree.Path, name, name)
	}
	steps := []error{
		os.Chmod(filepath.Join(tree.Path, "script.sh"), 0o755),
		os.MkdirAll(filepath.Join(tree.Path, "new"), 0o755),
		os.Rename(filepath.Join(tree.Path, "old/name.txt"), filepath.Join(tree.Path, "new/name.txt")),
		os.Chmod(filepath.Join(tree.Path, "new/name.txt"), 0o755),
		os.RemoveAll(filepath.Join(tree.Path, "gone")),
		os.RemoveAll(filepath.Join(tree.Path, "becomes-dir")),
		os.RemoveAll(filepath.Join(tree.Path, "becomes-file")),
		os.RemoveAll(filepath.Join(tree.Path, "becomes-link")),
		os.Symlink("/etc", filepath.Join(tree.Path, "becomes-link")),
		os.Symlink("/etc/passwd", filepath.Join(tree.Path, "outside")),
		os.Symlink("nowhere", filepath.Join(tree.Path, "dangling")),
	}
	if err := errors.Join(steps...); err != nil {
		t.Fatal(err)
	}
	put(t, tree.Path, "becomes-dir/x", "x\n")
	put(t, tree.Path, "becomes-file", "x\n")
	put(t, tree.Path, "binary", "\x00\x01\x02")
	want := look(t, tree.Path)
	snap := mustSnapshot(t, tree)

	mustRestore(t, tree, base, "")
	if got := p.gitIn(tree.Path, "status", "--porcelain"); got != "" {
		t.Errorf("restored to base, but: %s", got)
	}
	same(t, "base", look(t, tree.Path), look(t, p.dir))
	mustRestore(t, tree, base, snap)
	same(t, "snapshot", look(t, tree.Path), want)
	if etc, _ := os.ReadDir("/etc"); len(etc) == 0 {
		t.Error("a symlink was followed")
	}

	d, err := tree.Diff(context.Background(), base)
	if err != nil {
		t.Fatal(err)
	}
	changes := map[string]FileChange{}
	for _, f := range d.Files {
		changes[f.Path] = f
	}
	if got, want := changes["new/name.txt"], (FileChange{"new/name.txt", "old/name.txt", Renamed, "100644", "100755", 0, 0, false}); got != want {
		t.Errorf("rename: %+v, want %+v", got, want)
	}
	if got, want := changes["new\nline"], (FileChange{"new\nline", "", Added, "000000", "100644", 2, 0, false}); got != want {
		t.Errorf("new line: %+v, want %+v", got, want)
	}
	if got := changes["binary"]; !got.Binary || got.Status != Added {
		t.Errorf("binary: %+v", got)
	}
	if got := changes["outside"]; got.NewMode != "120000" {
		t.Errorf("symlink: %+v", got)
	}
	if got := changes["script.sh"]; got.OldMode != "100644" || got.NewMode != "100755" || got.Status != Modified {
		t.Errorf("mode: %+v", got)
	}
	for _, name := range []string{"-rf", "--all", ":(glob)**", "*", "latin1-\xe9", "quote\"'`$(touch x)"} {
		if changes[name].Status != Added {
			t.Errorf("%q is missing from the diff", name)
		}
	}
}

func TestRestoreKeepsIgnoredAndRemovesTheRest(t *testing.T) {
	t.Parallel()
	p := withCommit(t)
	tree := p.start()
	base := tree.Head()
	put(t, tree.Path, "kept.log", "ignored\n")
	put(t, tree.Path, "sub/kept.log", "ignored\n")
	put(t, tree.Path, "sub/untracked", "x\n")
	put(t, tree.Path, "a.txt", "changed\n")
	// The agent ignores everything: that must not keep its files alive.
	put(t, tree.Path, ".gitignore", "*\n")
	put(t, tree.Path, "hidden", "x\n")
	if err := os.Mkdir(filepath.Join(tree.Path, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	mustRestore(t, tree, base, "")
	same(t, "restored", look(t, tree.Path), map[string]string{
		"a.txt": "-rw-r--r-- alpha\n", "dir/b.txt": "-rw-r--r-- beta\n", ".gitignore": "-rw-r--r-- *.log\n",
		"kept.log": "-rw-r--r-- ignored\n", "sub/kept.log": "-rw-r--r-- ignored\n"})
	if exists(filepath.Join(tree.Path, "empty")) {
		t.Error("an empty directory stayed")
	}
}

// The worktree's own index, HEAD, branch and .git belong to the agent as much as
// its files: whatever it does there, the run's state comes out right.
func TestAgentPlaysWithGit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		do   func(p *place, tree *Tree)
	}{
		{"commits", func(p *place, tree *Tree) { p.gitIn(tree.Path, "commit", "-qam", "mine") }},
		{"amends", func(p *place, tree *Tree) { p.gitIn(tree.Path, "commit", "-qa", "--amend", "-m", "mine") }},
		{"switches branch", func(p *place, tree *Tree) { p.gitIn(tree.Path, "checkout", "-qb", "other") }},
		{"detaches", func(p *place, tree *Tree) { p.gitIn(tree.Path, "checkout", "-q", "--detach") }},
		{"hides a change", func(p *place, tree *Tree) {
			p.gitIn(tree.Path, "update-index", "--assume-unchanged", "a.txt")
			p.gitIn(tree.Path, "update-index", "--skip-worktree", "a.txt")
		}},
		{"stages", func(p *place, tree *Tree) { p.gitIn(tree.Path, "add", "-A") }},
		{"locks the index", func(p *place, tree *Tree) { put(p.t, tree.entry, "index.lock", "") }},
		{"removes .git", func(p *place, tree *Tree) { _ = os.Remove(filepath.Join(tree.Path, ".git")) }},
		{"makes a repository of it", func(p *place, tree *Tree) {
			_ = os.Remove(filepath.Join(tree.Path, ".git"))
			p.gitIn(tree.Path, "init", "-q")
			p.gitIn(tree.Path, "add", "-A")
			p.gitIn(tree.Path, "commit", "-qm", "mine")
		}},
		{"points .git elsewhere", func(p *place, tree *Tree) {
			evil := filepath.Join(tree.Path, "evil.log")
			p.git("init", "-q", "--bare", evil)
			put(p.t, tree.Path, ".git", "gitdir: "+evil+"\n")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := withCommit(t)
			tree := p.start()
			base := tree.Head()
			put(t, tree.Path, "a.txt", "changed\n")
			tt.do(p, tree)
			snap := mustSnapshot(t, tree)
			head := mustCommit(t, tree, "by pawl")
			if got := p.git("log", "--format=%s", testBranch); got != "by pawl\nbase" {
				t.Errorf("log of the branch: %q", got)
			}
			if got := p.git("show", head+":a.txt"); got != "changed" {
				t.Errorf("a.txt in the commit: %q", got)
			}
			if got := p.gitIn(tree.Path, "rev-parse", "--abbrev-ref", "HEAD"); got != testBranch {
				t.Errorf("HEAD is at %s", got)
			}
			mustRestore(t, tree, base, snap)
			if got := p.git("rev-parse", testBranch); got != base {
				t.Errorf("branch at %s after Restore, want %s", got, base)
			}
			if got := p.gitIn(tree.Path, "diff", "--name-only"); got != "a.txt" && tt.name != "locks the index" {
				t.Errorf("git diff in the worktree shows %q", got)
			}
		})
	}
}

func TestRestoreMakesALostWorktreeAgain(t *testing.T) {
	t.Parallel()
	p := withCommit(t)
	tree := p.start()
	put(t, tree.Path, "n", "new\n")
	want := look(t, tree.Path)
	snap := mustSnapshot(t, tree)
	if err := os.RemoveAll(tree.Path); err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Snapshot(context.Background()); err != nil {
		t.Fatal(err) // an empty worktree is a state as good as any
	}
	mustRestore(t, tree, tree.Head(), snap)
	same(t, "worktree", look(t, tree.Path), want)
}

func TestRestoreMendsATornIndex(t *testing.T) {
	t.Parallel()
	p := withCommit(t)
	tree := p.start()
	put(t, tree.Path, "a.txt", "x\n")
	if err := os.WriteFile(tree.index(), []byte("DIRC torn"), 0o644); err != nil {
		t.Fatal(err)
	}
	mustRestore(t, tree, tree.Head(), "")
	if got := look(t, tree.Path)["a.txt"]; got != "-rw-r--r-- alpha\n" {
		t.Errorf("a.txt is %q", got)
	}
}

func TestRestoreOfAnUnknownSnapshot(t *testing.T) {
	t.Parallel()
	p := withCommit(t)
	tree := p.start()
	put(t, tree.Path, "a.txt", "x\n")
	err := tree.Restore(context.Background(), tree.Head(), strings.Repeat("ab", 20))
	var problem *Problem
	if !errors.As(err, &problem) || problem.Kind != UnknownCommit {
		t.Errorf("Restore: %v", err)
	}
	if got := look(t, tree.Path)["a.txt"]; got != "-rw-r--r-- x\n" {
		t.Errorf("a refused Restore changed a.txt to %q", got)
	}
}

func TestFiltersStayAsTheyWereAtOpening(t *testing.T) {
	t.Parallel()
	p := withCommit(t)
	trusted := script(t, filepath.Join(p.home, "trusted"))
	p.git("config", "filter.known.clean", filepath.Join(p.home, "trusted"))
	tree := p.start()
	evil := script(t, filepath.Join(p.home, "evil"))
	for _, name := range []string{"known", "new", "with=equals", "with.dot"} {
		for _, key := range []string{"clean", "smudge", "process"} {
			if key != "process" || name != "known" {
				p.git("config", "filter."+name+"."+key, filepath.Join(p.home, "evil"))
			}
		}
		p.git("config", "filter."+name+".required", "true")
	}
	put(t, tree.Path, ".gitattributes", "*.a filter=known\n*.b filter=new\n*.c filter=with=equals\n*.d filter=with.dot\n")
	for _, name := range []string{"x.a", "x.b", "x.c", "x.d"} {
		put(t, tree.Path, name, name)
	}
	snap := mustSnapshot(t, tree)
	mustRestore(t, tree, tree.Head(), "")
	mustRestore(t, tree, tree.Head(), snap)
	if exists(evil) {
		t.Error("a filter configured during the run was run")
	}
	if !exists(trusted) {
		t.Error("the filter configured before the run was not run")
	}
	p.git("config", "filter.known.process", filepath.Join(p.home, "evil"))
	put(t, tree.Path, "x.a", "again")
	if _, err := tree.Snapshot(context.Background()); err == nil || !strings.Contains(err.Error(), "filter.known.process") {
		t.Errorf("Snapshot with a new filter process: %v", err)
	}
	if exists(evil) {
		t.Error("a filter process configured during the run was run")
	}
}

func TestNestedRepositoriesAreFiles(t *testing.T) {
	t.Parallel()
	p := withCommit(t)
	p.write("was-file", "x\n")
	p.git("add", "-A")
	p.git("commit", "-qm", "more")
	tree := p.start()
	base := tree.Head()
	nest := func(dir string, commit bool, files ...string) {
		for _, f := range files {
			put(t, filepath.Join(tree.Path, dir), f, f)
		}
		_ = os.MkdirAll(filepath.Join(tree.Path, dir), 0o755)
		p.gitIn(filepath.Join(tree.Path, dir), "init", "-q")
		if commit {
			p.gitIn(filepath.Join(tree.Path, dir), "add", "-A")
			p.gitIn(filepath.Join(tree.Path, dir), "commit", "-q", "--allow-empty", "-m", "x")
		}
	}
	if err := os.Remove(filepath.Join(tree.Path, "was-file")); err != nil {
		t.Fatal(err)
	}
	nest("was-file", true, "inside")
	nest("committed", true, "x", "deep/y", "z.log")
	nest("fresh", false, "f")
	nest("hollow", false)
	nest("hollow-committed", true)
	nest("outer", true, "o")
	nest("outer/inner", true, "i")
	nest("dir", true) // a tracked directory becomes a repository
	p.git("worktree", "add", "-q", "--detach", filepath.Join(tree.Path, "wt"))
	put(t, tree.Path, "plain", "p")

	snap := mustSnapshot(t, tree)
	want := ".gitignore a.txt committed/deep/y committed/x dir/b.txt fresh/f outer/inner/i outer/o plain was-file/inside wt/.gitignore wt/a.txt wt/dir/b.txt wt/was-file"
	if got := strings.Join(strings.Fields(p.git("ls-tree", "-r", "--name-only", snap)), " "); got != want {
		t.Errorf("snapshot holds\n%s, want\n%s", got, want)
	}
	if got := p.git("ls-tree", "-r", snap); strings.Contains(got, modeLink) {
		t.Errorf("snapshot holds a submodule:\n%s", got)
	}
	if again := mustSnapshot(t, tree); again != snap {
		t.Errorf("snapshot changes without a change: %s, %s", snap, again)
	}
	put(t, tree.Path, "committed/later", "l")
	if got := p.git("ls-tree", "--name-only", mustSnapshot(t, tree), "committed/"); !strings.Contains(got, "committed/later") {
		t.Errorf("a file made later is missing: %s", got)
	}
	mustRestore(t, tree, base, snap)
	if got := mustSnapshot(t, tree); got != snap {
		t.Errorf("snapshot after Restore is %s, want %s", got, snap)
	}
	mustRestore(t, tree, base, "")
	same(t, "base", look(t, tree.Path), map[string]string{"a.txt": "-rw-r--r-- alpha\n", "dir/b.txt": "-rw-r--r-- beta\n",
		".gitignore": "-rw-r--r-- *.log\n", "was-file": "-rw-r--r-- x\n", "committed/z.log": "-rw-r--r-- z.log"})
	if exists(filepath.Join(tree.Path, "dir/.git")) {
		t.Error("a repository in a tracked directory stayed")
	}
}

func TestReadOnlyDirectories(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		asNobody(t)
		return
	}
	p := withCommit(t)
	tree := p.start()
	put(t, tree.Path, "ro/deep/x", "x\n")
	for _, dir := range []string{"ro/deep", "ro", "dir"} {
		if err := os.Chmod(filepath.Join(tree.Path, dir), 0o555); err != nil {
			t.Fatal(err)
		}
	}
	mustRestore(t, tree, tree.Head(), "")
	if exists(filepath.Join(tree.Path, "ro")) {
		t.Error("a read-only directory stayed")
	}
	put(t, tree.Path, "ro/deep/x", "x\n")
	if err := os.Chmod(filepath.Join(tree.Path, "ro/deep"), 0o555); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if err := errors.Join(tree.repo.Remove(ctx, tree.Path), tree.repo.Wait(ctx)); err != nil {
		t.Fatal(err)
	}
	if found, _ := filepath.Glob(filepath.Join(filepath.Dir(tree.Path), trashPattern)); len(found) > 0 {
		t.Errorf("left: %q", found)
	}

	sealed := filepath.Join(p.home, "sealed")
	if err := os.Mkdir(sealed, 0o555); err != nil {
		t.Fatal(err)
	}
	_, err := p.open().Start(ctx, "pawl/w/sealed", filepath.Join(sealed, "trees", "x"), "")
	if err == nil || !strings.Contains(err.Error(), sealed) || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("Start below a read-only directory: %v", err)
	}
	if err := os.Chmod(filepath.Join(p.dir, ".git", "objects"), 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(filepath.Join(p.dir, ".git", "objects"), 0o755)
	tree, err = p.open().Start(ctx, "pawl/w/objects", p.path(), "")
	if err != nil {
		t.Fatal(err)
	}
	put(t, tree.Path, "n", "unheard of\n")
	if _, err := tree.Snapshot(ctx); err == nil || !strings.Contains(err.Error(), "insufficient permission") || !strings.Contains(err.Error(), tree.Path) {
		t.Errorf("Snapshot into a read-only object store: %v", err)
	}
}

// asNobody runs the calling test again as an ordinary user, for whom modes mean
// something.
func asNobody(t *testing.T) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "pawl-nobody-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = forceRemove(dir) })
	bin := filepath.Join(dir, "test.bin")
	// Another process writes the copy: a file that this one has open for writing
	// would be inherited by whatever is being started meanwhile, and then be busy.
	if out, err := exec.Command("cp", exe, bin).CombinedOutput(); err != nil {
		t.Fatalf("copy the test: %v\n%s", err, out)
	}
	if err := errors.Join(os.Chmod(bin, 0o755), os.Chmod(dir, 0o777)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + dir}
	becomeNobody(cmd)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("as an ordinary user: %v\n%s", err, out)
	}
}

// What git makes of any sequence of writes, it makes again after a Restore.
func TestSnapshotRestoreProperty(t *testing.T) {
	t.Parallel()
	p := withCommit(t)
	tree := p.start()
	base := tree.Head()
	names := []string{"a.txt", "dir/b.txt", "dir", "n", "n/x", "n/y", "-v", "é"}
	type saved struct {
		id    string
		files map[string]string
	}
	rapid.Check(t, func(rt *rapid.T) {
		mustRestore(t, tree, base, "")
		var all []saved
		for range rapid.IntRange(1, 3).Draw(rt, "snapshots") {
			for range rapid.IntRange(1, 3).Draw(rt, "writes") {
				file := filepath.Join(tree.Path, rapid.SampledFrom(names).Draw(rt, "name"))
				switch rapid.IntRange(0, 3).Draw(rt, "what") {
				case 0:
					_ = os.RemoveAll(file)
				case 1:
					_ = os.Symlink("../"+strconv.Itoa(len(all)), file)
				default:
					_ = os.MkdirAll(filepath.Dir(file), 0o755)
					_ = os.WriteFile(file, []byte(rapid.StringOfN(rapid.RuneFrom([]rune("ab\n")), 0, 4, -1).Draw(rt, "text")), 0o644)
				}
			}
			all = append(all, saved{mustSnapshot(t, tree), look(t, tree.Path)})
		}
		s := all[rapid.IntRange(0, len(all)-1).Draw(rt, "back to")]
		mustRestore(t, tree, base, s.id)
		got := look(t, tree.Path)
		for name := range s.files {
			if got[name] != s.files[name] {
				rt.Fatalf("%q is %q, was %q", name, got[name], s.files[name])
			}
		}
		if len(got) != len(s.files) {
			rt.Fatalf("%d files, were %d: %v", len(got), len(s.files), got)
		}
	})
}
