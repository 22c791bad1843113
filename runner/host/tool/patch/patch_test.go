package patch

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// one parses a patch of a single file.
func one(t *testing.T, text string) *File {
	t.Helper()
	files, err := Parse(text)
	if err != nil || len(files) != 1 {
		t.Fatalf("Parse: %d files, %v", len(files), err)
	}
	return &files[0]
}

func TestParseReadsHeaders(t *testing.T) {
	t.Parallel()
	const hunk = "@@ -1 +1 @@\n-a\n+b\n"
	yes, no := true, false
	for name, c := range map[string]struct {
		text     string
		old, new string
		exec     *bool
		hunks    int
	}{
		"plain":           {"--- x\n+++ x\n" + hunk, "x", "x", nil, 1},
		"prefixes":        {"--- a/x\n+++ b/x\n" + hunk, "x", "x", nil, 1},
		"a directory a":   {"--- a/x\n+++ a/x\n" + hunk, "a/x", "a/x", nil, 1},
		"time stamps":     {"--- a/x\t2026-01-01 00:00:00\n+++ b/x\t2026-01-01\n" + hunk, "x", "x", nil, 1},
		"spaces":          {"--- a/a file\n+++ b/a file\n" + hunk, "a file", "a file", nil, 1},
		"quoted":          {"--- \"a/\\303\\244\\t\"\n+++ \"b/\\303\\244\\t\"\n" + hunk, "ä\t", "ä\t", nil, 1},
		"git":             {"diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n" + hunk, "x", "x", nil, 1},
		"created":         {"diff --git a/x b/x\nnew file mode 100755\nindex 0..2\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+b\n", "", "x", &yes, 1},
		"created empty":   {"diff --git a/x y b/x y\nnew file mode 100644\nindex 0..0\n", "", "x y", &no, 0},
		"created, plain":  {"--- /dev/null\n+++ src/x\n@@ -0,0 +1 @@\n+b\n", "", "src/x", nil, 1},
		"deleted":         {"diff --git a/x b/x\ndeleted file mode 100644\nindex 1..0\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", "x", "", nil, 1},
		"deleted empty":   {"diff --git \"a/\\\"x\" \"b/\\\"x\"\ndeleted file mode 100644\n", "\"x", "", nil, 0},
		"renamed":         {"diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n", "x", "y", nil, 0},
		"renamed, edited": {"diff --git a/x b/y\nsimilarity index 90%\nrename from x\nrename to y\n--- a/x\n+++ b/y\n" + hunk, "x", "y", nil, 1},
		"mode":            {"diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", "x", "x", &yes, 0},
		"preamble":        {"From: me\nSubject: x\n\n---\n x | 2 +-\n\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n" + hunk + "-- \n2.39\n", "x", "x", nil, 1},
		"fenced":          {"```diff\n--- a/x\n+++ b/x\n" + hunk + "```\n", "x", "x", nil, 1},
		"CRLF all over":   {strings.ReplaceAll("--- a/x\n+++ b/x\n"+hunk, "\n", "\r\n"), "x", "x", nil, 1},
		"two hunks":       {"--- a/x\n+++ b/x\n" + hunk + "\n@@ -5,2 +5 @@ func f() {\n-c\n d\n", "x", "x", nil, 2},
		"dashes removed":  {"--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- c\n+++ d\n e\n", "x", "x", nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := one(t, c.text)
			if f.Old != c.old || f.New != c.new || len(f.Hunks) != c.hunks {
				t.Errorf("got %q → %q with %d hunks; want %q → %q with %d", f.Old, f.New, len(f.Hunks), c.old, c.new, c.hunks)
			}
			if (f.Exec == nil) != (c.exec == nil) || f.Exec != nil && *f.Exec != *c.exec {
				t.Errorf("executable: got %v, want %v", f.Exec, c.exec)
			}
			for _, h := range f.Hunks {
				if h.Note != "" {
					t.Errorf("note: %s", h.Note)
				}
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"nothing":           {"", "line 1 of the patch: there is no file header"},
		"prose":             {"please change x", "there is no file header"},
		"another format":    {"*** Begin Patch\n*** Update File: x\n@@\n-a\n+b\n*** End Patch", "another patch format"},
		"no hunks":          {"--- a/x\n+++ b/x\n", "x (line 1 of the patch): it changes nothing"},
		"two without hunks": {"--- a/x\n+++ b/x\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n", "x (line 1 of the patch): it changes nothing"},
		"bare hunk header":  {"--- a/x\n+++ b/x\n@@\n-a\n+b\n", "x, hunk 1 (line 3 of the patch): \"@@\" is not a hunk header"},
		"empty hunk":        {"--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n", "the hunk has no lines"},
		"stray line":        {"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\nhello\n", "\"hello\" belongs to no hunk"},
		"different names":   {"--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n", "names two files, x and y"},
		"no names":          {"--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n", "names no file"},
		"binary":            {"diff --git a/x b/x\nindex 1..2\nGIT binary patch\nliteral 3\n", "binary patches"},
		"binary differs":    {"diff --git a/x b/x\nBinary files a/x and b/x differ\n", "binary patches"},
		"symlink":           {"diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+/etc/passwd\n", "symbolic links"},
		"submodule":         {"diff --git a/x b/x\nnew file mode 160000\n", "submodules"},
		"odd mode":          {"diff --git a/x b/x\nold mode 100644\nnew mode 104755\n", "mode \"104755\""},
		"copy":              {"diff --git a/x b/y\ncopy from x\ncopy to y\n", "copies"},
		"bad quoting":       {"--- \"a/\\q\"\n+++ \"b/\\q\"\n@@ -1 +1 @@\n-a\n+b\n", "not quoted rightly"},
		"rename disagrees":  {"diff --git a/x b/y\nrename from x\nrename to z\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n", "rename is from x to z"},
		"line break":        {"--- \"a/x\\ny\"\n+++ \"b/x\\ny\"\n", "\"x\\ny\" (line 1 of the patch): it changes nothing"},
		"huge numbers":      {"--- a/x\n+++ b/x\n@@ -99999999999999999999 +1 @@\n-a\n+b\n", "is not a hunk header"},
	} {
		_, err := Parse(c.text)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q in it", name, err, c.want)
		}
	}
}

const file = "--- a/x\n+++ b/x\n"

func TestApply(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ old, hunks, want, note string }{
		"replace":             {"a\nb\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "a\nB\nc\n", ""},
		"two hunks":           {"a\nb\nc\nd\ne\n", "@@ -1,1 +1,2 @@\n a\n+x\n@@ -5 +6 @@\n-e\n+E\n", "a\nx\nb\nc\nd\nE\n", ""},
		"insert, no context":  {"a\nb\n", "@@ -1,0 +2 @@\n+x\n", "a\nx\nb\n", ""},
		"insert at start":     {"a\n", "@@ -0,0 +1 @@\n+x\n", "x\na\n", ""},
		"into nothing":        {"", "@@ -0,0 +1,2 @@\n+x\n+y\n", "x\ny\n", ""},
		"to nothing":          {"a\nb\n", "@@ -1,2 +0,0 @@\n-a\n-b\n", "", ""},
		"blank context":       {"a\n\nb\n", "@@ -1,3 +1,3 @@\n a\n\n-b\n+B\n", "a\n\nB\n", ""},
		"no end stays":        {"a\nb", "@@ -1,2 +1,2 @@\n-a\n+A\n b\n\\ No newline at end of file\n", "A\nb", ""},
		"no end, not said":    {"a\nb", "@@ -1,2 +1,2 @@\n-a\n+A\n b\n", "A\nb", ""},
		"end is added":        {"a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n", "a\nb\n", ""},
		"end is taken":        {"a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n", "a\nb", ""},
		"line behind no end":  {"a", "@@ -1 +1,2 @@\n-a\n\\ No newline at end of file\n+a\n+b\n", "a\nb\n", ""},
		"append to no end":    {"a", "@@ -1 +1,2 @@\n a\n+b\n", "a\nb\n", ""},
		"last goes":           {"a\nb", "@@ -1,2 +1 @@\n a\n-b\n\\ No newline at end of file\n", "a\n", ""},
		"CRLF stays":          {"a\r\nb\r\nc\r\n", "@@ -1,3 +1,4 @@\n a\n-b\n+B\n+x\n c\n", "a\r\nB\r\nx\r\nc\r\n", ""},
		"CRLF said":           {"a\r\nb\r\n", "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+B\r\n", "a\r\nB\r\n", ""},
		"CRLF away":           {"a\r\nb\r\n", "@@ -1,2 +1,2 @@\n-a\r\n-b\r\n+a\n+b\n", "a\nb\n", ""},
		"CRLF, no end":        {"a\r\nb", "@@ -1,2 +1,2 @@\n-a\n+A\n b\n", "A\r\nb", ""},
		"moved":               {"0\n1\n2\na\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+B\n", "0\n1\n2\na\nB\n", "hunk 1: its lines stand at line 4, not 1"},
		"moved, then not":     {"0\na\nb\nc\n", "@@ -1,1 +1,2 @@\n a\n+x\n@@ -3 +4 @@\n-c\n+C\n", "0\na\nx\nb\nC\n", "hunk 1: its lines stand at line 2, not 1"},
		"stated place wins":   {"a\na\na\n", "@@ -2 +2 @@\n-a\n+A\n", "a\nA\na\n", ""},
		"wrong counts":        {"a\nb\nc\n", "@@ -1,9 +1,1 @@\n a\n-b\n+B\n c\n", "a\nB\nc\n", "hunk 1: its header says -1,9 +1,1, but its lines amount to -1,3 +1,3"},
		"wrong counts, two":   {"a\nb\nc\nd\n", "@@ -1,3 +1,3 @@\n-a\n+A\n@@ -4,3 +4,3 @@\n-d\n+D\n", "A\nb\nc\nD\n", "amount to -1,1 +1,1"},
		"wrong counts, blank": {"a\nb\n", "@@ -1,3 +1,3 @@\n-a\n+A\n\n", "A\nb\n", "amount to -1,1 +1,1"},
		"unicode":             {"ä\nö\n", "@@ -1,2 +1,2 @@\n ä\n-ö\n+Ö\n", "ä\nÖ\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, notes, err := one(t, file+c.hunks).Apply(c.old)
			if err != nil || got != c.want {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
			if note := strings.Join(notes, "\n"); !strings.Contains(note, c.note) || (c.note == "") != (note == "") {
				t.Errorf("notes %q, want %q", note, c.note)
			}
		})
	}
}

func TestApplyRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ old, hunks, want string }{
		"another line":    {"a\nb\nc\n", "@@ -1,3 +1,3 @@\n a\n-x\n+y\n c\n", "x, hunk 1 (line 3 of the patch): it fits best at line 1, but line 2 of the file is \"b\" where the patch has \"x\""},
		"white space":     {"a\n\tb\nc\n", "@@ -1,3 +1,3 @@\n a\n-    b\n+    B\n c\n", "(only white space differs)"},
		"second hunk":     {"a\nb\nc\n", "@@ -1 +1 @@\n-a\n+A\n@@ -3 +3 @@\n-z\n+Z\n", "x, hunk 2 (line 6 of the patch): none of the lines"},
		"ambiguous":       {"q\na\nb\na\n", "@@ -9 +9 @@\n-a\n+A\n", "its lines stand at lines 2, 4, and none of these is line 9"},
		"very ambiguous":  {"q\na\na\na\na\na\na\na\n", "@@ -90 +90 @@\n-a\n+A\n", "lines 2, 3, 4, 5, 6 and 2 more"},
		"applied already": {"a\nB\n", "@@ -1,2 +1,2 @@\n a\n-b\n+B\n", "already reads as the hunk would make it, at line 1"},
		"out of order":    {"a\nb\nc\n", "@@ -3 +3 @@\n-c\n+C\n@@ -1 +1 @@\n-a\n+A\n", "put hunks in the order of the file"},
		"past the end":    {"a\n", "@@ -7,0 +8 @@\n+x\n", "adds lines after line 7, but the file has 1"},
		"file too short":  {"a\n", "@@ -1,2 +1,2 @@\n a\n-b\n+B\n", "it fits best at line 1, but there the file ends after line 1, where the patch has \"b\""},
		"empty file":      {"", "@@ -1 +1 @@\n-a\n+b\n", "the file is empty"},
		"end that is not": {"a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n", "ends without a line end, which it does not"},
	} {
		_, _, err := one(t, file+c.hunks).Apply(c.old)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q in it", name, err, c.want)
		}
	}
}

func TestCounts(t *testing.T) {
	t.Parallel()
	f := one(t, file+"@@ -1,2 +1,3 @@\n-a\n+b\n+c\n d\n@@ -9 +10,0 @@\n-e\n")
	if added, removed := f.Counts(); added != 2 || removed != 2 {
		t.Errorf("+%d −%d, want +2 −2", added, removed)
	}
}

// TestApplyUndoesDiff makes patches with git and applies them here.
func TestApplyUndoesDiff(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	content := rapid.Custom(func(t *rapid.T) string {
		end := rapid.SampledFrom([]string{"\n", "\n", "\r\n"}).Draw(t, "end")
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "", "-", "+", "-- x", "++ y", "@@ -1 +1 @@", "\\ no"}), 0, 30).Draw(t, "lines")
		s := strings.Join(lines, end)
		if rapid.Bool().Draw(t, "ended") && s != "" {
			s += end
		}
		return s
	})
	rapid.Check(t, func(r *rapid.T) {
		before, after := content.Draw(r, "before"), content.Draw(r, "after")
		if before == after {
			return
		}
		write("before", before)
		write("after", after)
		context := rapid.SampledFrom([]string{"-U0", "-U1", "-U3"}).Draw(r, "context")
		cmd := exec.Command("git", "-c", "core.autocrlf=false", "diff", "--no-index", "--no-color", context, "before", "after")
		cmd.Dir, cmd.Env = dir, []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
		text, _ := cmd.Output() // exits 1 when there is a difference
		patch := strings.NewReplacer("a/before", "a/x", "b/after", "b/x").Replace(string(text))
		files, err := Parse(patch)
		if err != nil || len(files) != 1 {
			r.Fatalf("parse: %v\n%s", err, patch)
		}
		got, notes, err := files[0].Apply(before)
		if err != nil || got != after || len(notes) > 0 {
			r.Fatalf("apply: %v, notes %q\n%s\nbefore %q\ngot    %q\nwant   %q", err, notes, patch, before, got, after)
		}
	})
}

func FuzzParseAndApply(f *testing.F) {
	for _, seed := range []string{
		file + "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n",
		"diff --git a/x b/x\nnew file mode 100755\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+b\n\\ No newline at end of file\n",
		"diff --git a/x b/y\nsimilarity index 90%\nrename from x\nrename to y\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n",
		file + "@@ -1,9 +1,9 @@\n a\n\n@@ -0,0 +0,0 @@\n+x\n",
		"--- \"a/\\303\\244\"\r\n+++ \"b/\\303\\244\"\r\n@@ -1 +1 @@\r\n-a\r\n+b\r\n",
	} {
		f.Add(seed, "a\nb\nc\n")
		f.Add(seed, "a\r\nb")
	}
	f.Fuzz(func(t *testing.T, text, old string) {
		files, err := Parse(text)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.At < 1 || strings.Contains(err.Error(), "\n") {
				t.Fatalf("a bad error: %q", err)
			}
			return
		}
		for i := range files {
			fl := &files[i]
			if fl.Old == "" && fl.New == "" {
				t.Fatal("no name")
			}
			got, _, err := fl.Apply(old)
			if err != nil {
				continue
			}
			added, removed := fl.Counts()
			if lines(got)-lines(old) != added-removed {
				t.Fatalf("%d lines became %d with +%d −%d\n%q\n%q\n%q", lines(old), lines(got), added, removed, text, old, got)
			}
		}
	})
}

// lines counts lines, the last of which may have no end.
func lines(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}
