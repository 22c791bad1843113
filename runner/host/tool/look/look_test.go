package look

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/runner/host/tool/tree"
)

func world(t testing.TB, files map[string]string) (*tree.Tree, Listing) {
	t.Helper()
	root := t.TempDir()
	var l Listing
	for name, content := range files {
		at := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		l.Names = append(l.Names, name)
	}
	slices.Sort(l.Names)
	l.Complete = true
	tr, err := tree.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tr.Close() })
	return tr, l
}

func TestTracked(t *testing.T) {
	t.Parallel()
	got := Tracked("H b\x00? new\x00H a b\x00H gone\x00R gone\x00M conflict\x00M conflict\x00")
	if want := []string{"a b", "b", "conflict", "new"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOnly(t *testing.T) {
	t.Parallel()
	names := []string{"a.go", "b.ts", "src/c.go", "src/deep/d.go", "src/deep/e.tsx", ".dot/f.go"}
	for _, c := range []struct{ glob, dir, want string }{
		{"", ".", "a.go b.ts src/c.go src/deep/d.go src/deep/e.tsx .dot/f.go"},
		{"*.go", ".", "a.go src/c.go src/deep/d.go .dot/f.go"},
		{"**/*.go", ".", "a.go src/c.go src/deep/d.go .dot/f.go"},
		{"src/*.go", ".", "src/c.go"},
		{"./src/**", ".", "src/c.go src/deep/d.go src/deep/e.tsx"},
		{"deep/*.{go,tsx}", "src", "src/deep/d.go src/deep/e.tsx"},
		{"[a-b].*", ".", "a.go b.ts"},
		{"nothing", ".", ""},
	} {
		l := Listing{Names: slices.Clone(names)}
		if err := l.Only(c.glob, c.dir); err != nil || strings.Join(l.Names, " ") != c.want {
			t.Errorf("%s in %s: %q, %v; want %q", c.glob, c.dir, l.Names, err, c.want)
		}
	}
	if err := (&Listing{}).Only("[a", "."); err == nil || !strings.Contains(err.Error(), `"[a" is not a glob`) {
		t.Errorf("a bad glob: %v", err)
	}
}

func TestListingIsFoldedUntilItFits(t *testing.T) {
	t.Parallel()
	l := Listing{Names: []string{"a", "d/b", "d/e/c", "d/e/f", "g/h", "odd\nname"}}
	for _, c := range []struct {
		dir          string
		depth, limit int
		want         string
	}{
		{".", 0, 1000, "a\nd/b\nd/e/c\nd/e/f\ng/h\n\"odd\\nname\""},
		{".", 1, 1000, "a\nd/ (3 files)\ng/ (1 file)\n\"odd\\nname\""},
		{".", 2, 1000, "a\nd/b\nd/e/ (2 files)\ng/h\n\"odd\\nname\""},
		{".", 0, 33, "a\nd/ (3 files)\ng/ (1 file)\n[1 more; name a folder with path, or use glob]"},
	} {
		if got := l.Render(c.dir, c.depth, c.limit); got != c.want {
			t.Errorf("%s, depth %d, %d bytes: got %q, want %q", c.dir, c.depth, c.limit, got, c.want)
		}
	}
	deep := Listing{Names: []string{"d/b", "d/e/c", "d/e/f"}}
	if got := deep.Render("d", 1, 1000); got != "d/b\nd/e/ (2 files)" {
		t.Errorf("below a folder: %q", got)
	}
}

func found(t *testing.T, tr *tree.Tree, l Listing, pattern string, around int) (*Search, string) {
	t.Helper()
	s, err := NewSearch(pattern, around, 4000)
	if err != nil {
		t.Fatal(err)
	}
	s.Run(t.Context(), tr, l)
	return s, s.Render()
}

func TestSearch(t *testing.T) {
	t.Parallel()
	tr, l := world(t, map[string]string{
		"a.txt":     "one\ntwo\nthree\nfour\nfive\nsix two\n",
		"b/crlf":    "two\r\nend two\r\n",
		"b/binary":  "two\x00two\n",
		"c/long":    strings.Repeat("x", 500) + "two" + strings.Repeat("y", 500),
		"d/noend":   "two",
		"empty":     "",
		"e/unicode": "zwei ä two\n",
	})
	l.Names = append(l.Names, "gone", "gone/too", "sub/")
	for _, c := range []struct {
		pattern string
		around  int
		want    string
	}{
		{"^two$", 0, "a.txt\n2: two\n\nb/crlf\n1: two\n\nd/noend\n1: two"},
		{"six", 1, "a.txt\n5- five\n6: six two"},
		{"^t|six", 1, "a.txt\n1- one\n2: two\n3: three\n4- four\n5- five\n6: six two\n\nb/crlf\n1: two\n2- end two\n\nd/noend\n1: two"},
		{"one|six", 1, "a.txt\n1: one\n2- two\n--\n5- five\n6: six two"},
		{"(?i)ZWEI", 0, "e/unicode\n1: zwei ä two"},
		{"three\\s+four", 0, "a.txt\n3: three"},
		{"nowhere", 0, "[no match in 10 files]"},
	} {
		if _, got := found(t, tr, l, c.pattern, c.around); got != c.want {
			t.Errorf("%s: got %q, want %q", c.pattern, got, c.want)
		}
	}
	s, got := found(t, tr, l, "xtwo", 0)
	if len(got) > 300 || !strings.Contains(got, "…") || !strings.Contains(got, "xtwoy") || s.Summary() != "1 line in 1 file" {
		t.Errorf("a long line: %q, %s", got, s.Summary())
	}
	for pattern, want := range map[string]string{"": "empty", "(": "missing closing )", `(?<x>a`: "not a regular expression", `a\1`: `use a\\1`} {
		if _, err := NewSearch(pattern, 0, 100); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("pattern %q: %v, want %q", pattern, err, want)
		}
	}
}

func TestSearchStops(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 50 {
		files[fmt.Sprintf("f%02d", i)] = strings.Repeat("match this line\n", 50)
	}
	files["huge"] = strings.Repeat("match\n", searchedFile/6+1)
	tr, l := world(t, files)
	_, got := found(t, tr, l, "match", 0)
	if len(got) > 4500 || !strings.Contains(got, "[there may be more: stopped after ") || !strings.Contains(got, " of 51; narrow it with") {
		t.Errorf("%d bytes, ending in %q", len(got), got[max(0, len(got)-200):])
	}
	_, got = found(t, tr, Listing{Names: []string{"huge"}}, "match", 20)
	if got != "[no match in 1 file]\n[1 file larger than 4 MiB passed over]\n[there are more files than could be looked through; name a folder with path]" {
		t.Errorf("a huge file: %q", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s, _ := NewSearch("match", 0, 4000)
	if s.Run(ctx, tr, l); s.matches != 0 {
		t.Error("a cancelled search goes on")
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	out := "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@\n a\n-b\n+c\n++d\n--- e\n" +
		"diff --git a/a file b/a file\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/a file\t\n@@ -0,0 +1 @@\n+x\n" +
		"diff --git a/gone b/gone\ndeleted file mode 100644\nindex 1..0\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n" +
		"diff --git a/old b/new\nsimilarity index 100%\nrename from old\nrename to new\n" +
		"diff --git a/run b/run\nold mode 100644\nnew mode 100755\n" +
		"diff --git a/pic b/pic\nindex 1..2 100644\nBinary files a/pic and b/pic differ\n" +
		"diff --git \"a/q\\\"\" \"b/q\\\"\"\nindex 1..2 100644\n--- \"a/q\\\"\"\n+++ \"b/q\\\"\"\n@@ -1 +1 @@\n-a\n+b\n"
	changes := Changes(out)
	var titles []string
	whole := ""
	for _, c := range changes {
		titles = append(titles, c.Title)
		whole += c.Text
	}
	want := []string{"M x (+2 −2)", "A a file (+1 −0)", "D gone (+0 −1)", "R new (+0 −0)", "M run (+0 −0, mode 100755)", "M pic (+0 −0, binary)", `M "b/q\"" (+1 −1)`}
	if !slices.Equal(titles, want) || whole != out {
		t.Errorf("got %q\nwant %q", titles, want)
	}
	if Changes("") != nil {
		t.Error("nothing is a change")
	}
}

func TestAdded(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"":        "A x (empty)|diff --git a/x b/x\nnew file mode 100644\n",
		"a\nb\n":  "A x (+2 −0)|diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n+b\n",
		"a":       "A x (+1 −0)|diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1,1 @@\n+a\n\\ No newline at end of file\n",
		"\x00bin": "A x (binary)|diff --git a/x b/x\nnew file mode 100644\nBinary files /dev/null and b/x differ\n",
	} {
		if c := Added("x", []byte(content)); c.Title+"|"+c.Text != want {
			t.Errorf("%q: got %q, want %q", content, c.Title+"|"+c.Text, want)
		}
	}
}

func TestLongChangesAreCut(t *testing.T) {
	t.Parallel()
	var changes []Change
	for i := range 300 {
		changes = append(changes, Added(fmt.Sprintf("dir/file%03d", i), []byte(strings.Repeat("line\n", 100))))
	}
	const limit = 8000
	got := RenderChanges(changes, true, limit)
	if len(got) > limit+200 {
		t.Errorf("%d bytes", len(got))
	}
	for _, want := range []string{"[too long to show whole", "A dir/file000 (+100 −0)\n", " more files]\n", "diff --git a/dir/file000", "lines of this file's diff left out]"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in %q", want, got)
		}
	}
	if got := RenderChanges(changes[:1], true, limit); got != strings.TrimSuffix(changes[0].Text, "\n") {
		t.Errorf("a short one is cut: %q", got)
	}
	if got := RenderChanges(changes[:1], false, limit); !strings.Contains(got, "there are more files") {
		t.Errorf("an incomplete one: %q", got)
	}
}

func TestWalk(t *testing.T) {
	t.Parallel()
	tr, l := world(t, map[string]string{"b": "", "a/c": "", ".git/config": "", "a/.git/config": ""})
	got, err := Walk(tr, ".")
	if err != nil || !got.Complete || !slices.Equal(got.Names, []string{"a/c", "b"}) {
		t.Errorf("got %+v, %v, of %v", got, err, l.Names)
	}
	if got, err := Walk(tr, "b"); err != nil || !slices.Equal(got.Names, []string{"b"}) {
		t.Errorf("a file: %+v, %v", got, err)
	}
	if _, err := Walk(tr, "gone"); err == nil {
		t.Error("a missing folder is no error")
	}
}
