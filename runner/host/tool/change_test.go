//go:build unix

package tool

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestApplyPatch(t *testing.T) {
	t.Parallel()
	start := map[string]string{"a": "1\n2\n3\n", "b": "b\n", "crlf": "x\r\ny\r\n", "noend": "p\nq", "run": "#!/bin/sh\n", "gone": "g\n"}
	for name, c := range map[string]struct {
		patch, text, summary string
		want                 map[string]string
	}{
		"change":         {"--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n", "applied to 1 file:\nchanged a (+1 −1)", "patch a (+1 −1)", map[string]string{"a": "1\ntwo\n3\n"}},
		"create":         {"--- /dev/null\n+++ b/new/x\n@@ -0,0 +1 @@\n+x\n", "applied to 1 file:\ncreated new/x (+1 −0)", "", map[string]string{"new/x": "x\n"}},
		"delete":         {"--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-g\n", "applied to 1 file:\ndeleted gone (+0 −1)", "", map[string]string{"gone": "(none)"}},
		"rename":         {"diff --git a/b b/c/d\nrename from b\nrename to c/d\n", "applied to 1 file:\nmoved b to c/d (+0 −0)", "", map[string]string{"b": "(none)", "c/d": "b\n"}},
		"rename edit":    {"diff --git a/b b/c\nrename from b\nrename to c\n--- a/b\n+++ b/c\n@@ -1 +1 @@\n-b\n+B\n", "applied to 1 file:\nmoved b to c (+1 −1)", "", map[string]string{"b": "(none)", "c": "B\n"}},
		"CRLF":           {"--- a/crlf\n+++ b/crlf\n@@ -1,2 +1,2 @@\n x\n-y\n+Y\n", "applied to 1 file:\nchanged crlf (+1 −1)", "", map[string]string{"crlf": "x\r\nY\r\n"}},
		"no end":         {"--- a/noend\n+++ b/noend\n@@ -1,2 +1,2 @@\n-p\n+P\n q\n\\ No newline at end of file\n", "applied to 1 file:\nchanged noend (+1 −1)", "", map[string]string{"noend": "P\nq"}},
		"moved hunk":     {"--- a/a\n+++ b/a\n@@ -9 +9 @@\n-3\n+three\n", "applied to 1 file:\nchanged a (+1 −1)\n  hunk 1: its lines stand at line 3, not 9", "", map[string]string{"a": "1\n2\nthree\n"}},
		"many":           {"--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+one\n--- a/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+n\n", "applied to 3 files:\nchanged a (+1 −1)\ndeleted b (+0 −1)\ncreated n (+1 −0)", "patch 3 files (+2 −2)", map[string]string{"a": "one\n2\n3\n", "b": "(none)", "n": "n\n"}},
		"one twice":      {"--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+one\n--- a/a\n+++ b/a\n@@ -2 +2 @@\n-2\n+two\n", "applied to 2 files:\nchanged a (+1 −1)\nchanged a (+1 −1)", "", map[string]string{"a": "one\ntwo\n3\n"}},
		"swap":           {"diff --git a/a b/t\nrename from a\nrename to t\ndiff --git a/b b/a\nrename from b\nrename to a\n", "applied to 2 files:\nmoved a to t (+0 −0)\nmoved b to a (+0 −0)", "", map[string]string{"a": "b\n", "b": "(none)", "t": "1\n2\n3\n"}},
		"file to folder": {"--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-g\n--- /dev/null\n+++ b/gone/x\n@@ -0,0 +1 @@\n+x\n", "", "", map[string]string{"gone": "(none)", "gone/x": "x\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, start)
			r := b.call("apply_patch", "patch", c.patch)
			if r.Error || c.text != "" && r.Text != c.text || c.summary != "" && r.Summary != c.summary {
				t.Errorf("got %q, %q; want %q, %q", r.Text, r.Summary, c.text, c.summary)
			}
			for file, content := range start {
				if _, changes := c.want[file]; !changes && b.get(file) != content {
					t.Errorf("%s is now %q", file, b.get(file))
				}
			}
			for file, want := range c.want {
				if got := b.get(file); got != want {
					t.Errorf("%s is %q, want %q", file, got, want)
				}
			}
		})
	}
}

func TestPatchesKeepAndSetModes(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"run": "x\n", "plain": "y\n", "moved": "z\n"})
	for _, name := range []string{"run", "moved"} {
		if err := os.Chmod(b.at(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r := b.call("apply_patch", "patch", "--- a/run\n+++ b/run\n@@ -1 +1 @@\n-x\n+X\n"+
		"diff --git a/plain b/plain\nold mode 100644\nnew mode 100755\n"+
		"diff --git a/moved b/to\nrename from moved\nrename to to\n"+
		"diff --git a/new b/new\nnew file mode 100755\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+n\n")
	if r.Error {
		t.Fatal(r.Text)
	}
	for _, name := range []string{"run", "plain", "to", "new"} {
		if info, err := os.Stat(b.at(name)); err != nil || info.Mode().Perm() != 0o755 {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
}

// TestAPatchThatDoesNotFitChangesNothing compares the whole worktree.
func TestAPatchThatDoesNotFitChangesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1\n2\n3\n", "b": "b\n", "bin": "x\x00y\n"})
	if err := os.Symlink("a", b.at("link")); err != nil {
		t.Fatal(err)
	}
	b.gitRun("add", "-A")
	const good = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+one\n--- /dev/null\n+++ b/n/m\n@@ -0,0 +1 @@\n+n\n--- a/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n"
	for name, c := range map[string]struct{ patch, want string }{
		"second hunk":    {"--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+one\n@@ -3 +3 @@\n-x\n+y\n", "a, hunk 2 (line 6 of the patch): none of the lines it keeps or removes is in the file"},
		"last file":      {good + "--- a/gone\n+++ b/gone\n@@ -1 +1 @@\n-1\n+one\n", "gone does not exist"},
		"exists":         {good + "--- /dev/null\n+++ b/bin\n@@ -0,0 +1 @@\n+n\n", "bin exists already"},
		"created twice":  {good + "--- /dev/null\n+++ b/n/m\n@@ -0,0 +1 @@\n+n\n", "n/m exists already"},
		"deleted before": {good + "--- a/b\n+++ b/b\n@@ -1 +1 @@\n-b\n+B\n", "b does not exist"},
		"leaves lines":   {"--- a/a\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-1\n-2\n", "deletes a, but its hunks leave 1 line"},
		"binary":         {"--- a/bin\n+++ b/bin\n@@ -1 +1 @@\n-x\n+y\n", "bin is binary"},
		"link":           {"--- a/link\n+++ b/link\n@@ -1 +1 @@\n-1\n+y\n", "link is a symbolic link"},
		"rename onto":    {"diff --git a/a b/b\nrename from a\nrename to b\n", "b exists already"},
		"below a file":   {good + "--- /dev/null\n+++ b/a/x\n@@ -0,0 +1 @@\n+n\n", "a is not a directory"},
		"found late":     {"--- /dev/null\n+++ b/m\n@@ -0,0 +1 @@\n+n\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+one\n--- a/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n--- /dev/null\n+++ b/m/x\n@@ -0,0 +1 @@\n+n\n", "m is not a directory"},
		"not a patch":    {"hello", "no file header"},
		"too long":       {strings.Repeat("x", maxPatch+1), "are the most"},
	} {
		r := b.call("apply_patch", "patch", c.patch)
		b.refuse(r, c.want)
		if name != "too long" {
			b.refuse(r, "nothing was changed: ")
		}
		if got := b.gitRun("status", "--porcelain", "--untracked-files=all"); got != "A  link\n" {
			t.Errorf("%s: changed\n%s", name, got)
		}
	}
}

func TestGitDiff(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1\n2\n3\n", "gone": "g\n", "old": "the same\ntext in\nboth of them\n", "dir/x": "x\n", ".gitignore": "ignored\n"})
	b.want(b.call("git_diff"), "[nothing has changed]", "diff everything (0 files)")
	b.c.Base = strings.TrimSpace(b.gitRun("rev-parse", "HEAD"))
	b.put("a", "1\ntwo\n3\n")
	b.gitRun("commit", "-qam", "of the run")
	b.put("dir/x", "X\n")
	b.put("new/file", "n\n")
	b.put("ignored", "i\n")
	b.put("ü b", "u\n")
	if err := os.Remove(b.at("gone")); err != nil {
		t.Fatal(err)
	}
	b.gitRun("mv", "old", "renamed")
	r := b.call("git_diff")
	for _, want := range []string{"--- a/a\n+++ b/a\n", "-2\n+two\n", "-x\n+X\n", "deleted file mode", "rename from old\nrename to renamed",
		"+++ b/new/file\n@@ -0,0 +1,1 @@\n+n\n", "+++ b/ü b\n"} {
		if r.Error || !strings.Contains(r.Text, want) {
			t.Errorf("%q is missing in %q", want, r.Text)
		}
	}
	if strings.Contains(r.Text, "ignored") || r.Summary != "diff everything (6 files)" {
		t.Errorf("summary %q, text %q", r.Summary, r.Text)
	}
	if r := b.call("git_diff", "path", "new"); r.Summary != "diff new (1 file)" || strings.Contains(r.Text, "two") {
		t.Errorf("one folder: %q, %q", r.Summary, r.Text)
	}
	if r := b.call("git_diff", "path", "gone"); !strings.HasSuffix(r.Text, "\n-g") {
		t.Errorf("a file that is gone: %q", r.Text)
	}
	b.want(b.call("git_diff", "path", "nowhere"), "[nothing has changed]", "")
	b.c.Base = "0000000000000000000000000000000000000000"
	b.refuse(b.call("git_diff"), "git diff: ")
}

// TestGitRunsNothingForeign plants every program that git could be made to run
// by a repository's files and configuration.
func TestGitRunsNothingForeign(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1\n", ".gitattributes": "* diff=evil\n"})
	evil := b.at("evil.sh")
	b.put("evil.sh", "#!/bin/sh\necho ran \"$0\" >>\""+b.root+"/../ran\"\ncat \"$@\" 2>/dev/null\n")
	if err := os.Chmod(evil, 0o755); err != nil {
		t.Fatal(err)
	}
	b.put(".git/config", b.get(".git/config")+fmt.Sprintf(`[core]
	fsmonitor = %[1]s
	pager = %[1]s
	editor = %[1]s
	sshCommand = %[1]s
	hooksPath = %[2]s
[pager]
	diff = %[1]s
[diff]
	external = %[1]s
[diff "evil"]
	command = %[1]s
	textconv = %[1]s
`, evil, b.at("hooks")))
	b.mkdir("hooks")
	for _, hook := range []string{"post-index-change", "fsmonitor-watchman", "post-checkout", "pre-commit"} {
		b.put("hooks/"+hook, b.get("evil.sh"))
		if err := os.Chmod(b.at("hooks/"+hook), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	_ = os.Remove(b.at("../ran"))
	b.put("a", "2\n")
	for _, name := range []string{"git_diff", "list_files"} {
		if r := b.call(name); r.Error {
			t.Errorf("%s: %s", name, r.Text)
		}
	}
	if r := b.call("search", "pattern", "2"); r.Error {
		t.Error(r.Text)
	}
	if got := b.get("../ran"); got != "(none)" {
		t.Errorf("foreign programs ran: %s", got)
	}
}

func TestAGivenGitDirectoryCannotBeSwapped(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1\n"})
	if err := os.Rename(b.at(".git"), b.at("../real.git")); err != nil {
		t.Fatal(err)
	}
	b.put(".git", "gitdir: /nowhere\n")
	b.put("a", "2\n")
	b.refuse(b.call("git_diff"), "git diff: ")
	b.c.GitDir = b.at("../real.git")
	if r := b.call("git_diff"); r.Error || !strings.Contains(r.Text, "-1\n+2") || strings.Contains(r.Text, "nowhere") {
		t.Errorf("got %q", r.Text)
	}
	b.want(b.call("list_files"), "a", "")
}

func TestWithoutGit(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1\n"})
	b.c.Git = "no-such-git"
	b.want(b.call("list_files"), "a", "")
	b.want(b.call("search", "pattern", "1"), "a\n1: 1", "")
	b.refuse(b.call("git_diff"), "there is no git here")
}
