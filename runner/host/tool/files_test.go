//go:build unix

package tool

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
)

func TestReadFile(t *testing.T) {
	t.Parallel()
	lines := ""
	for i := 1; i <= 3000; i++ {
		lines += fmt.Sprintf("this is line number %d\n", i)
	}
	b := newBench(t, map[string]string{
		"whole": "a\n\tb\n", "noend": "a\nb", "empty": "", "crlf": "a\r\nb\r\n", "mixed": "a\r\nb\n", "binary": "\x89PNG\x00\x01",
		"long": strings.Repeat("x", 100_000) + "\nnext\n", "lines": lines, "dir/deep/whole": "other\n", "latin": "caf\xe9\n", "wide": strings.Repeat("ä", 20_000) + "\n",
	})
	b.want(b.call("read_file", "path", "whole"), "a\n\tb\n", "read whole")
	b.want(b.call("read_file", "path", b.root+"/whole"), "a\n\tb\n", "")
	b.want(b.call("read_file", "path", "noend"), "a\nb", "read noend")
	b.want(b.call("read_file", "path", "empty"), "[empty is empty]", "read empty (empty)")
	b.want(b.call("read_file", "path", "binary"), "[binary is binary, 6 bytes]", "read binary (binary)")
	b.want(b.call("read_file", "path", "crlf"), "a\nb\n[line ends are CRLF; write plain ones, they are kept as CRLF]", "")
	b.want(b.call("read_file", "path", "mixed"), "a\r\nb\n", "")
	b.want(b.call("read_file", "path", "latin"), "caf\uFFFD\n", "")
	b.want(b.call("read_file", "path", "lines", "offset", 2999), lines[strings.Index(lines, "this is line number 2999\n"):], "read lines (lines 2999–3000 of 3000)")
	b.want(b.call("read_file", "path", "lines", "offset", 2, "limit", 1),
		"this is line number 2\n[lines 2–2 of 3000; go on with offset 3]", "read lines (lines 2–2 of 3000)")
	b.want(b.call("read_file", "path", "long", "offset", 2), "next\n", "")
	b.refuse(b.call("read_file", "path", "whole", "offset", 3), "whole has only 2 lines, and offset is 3")
	b.refuse(b.call("read_file", "path", "deep"), "deep does not exist")
	b.refuse(b.call("read_file", "path", "src/whole"), "src/whole does not exist; files of that name: dir/deep/whole, whole")
	b.refuse(b.call("read_file", "path", "dir"), "dir is a directory; list_files shows what is in it")
	r := b.call("read_file", "path", "long")
	if !strings.HasPrefix(r.Text, "xxx") || !strings.HasSuffix(r.Text, "x\n[line 1 is cut: 67233 more bytes]\n[lines 1–1 of 2; go on with offset 2]") {
		t.Errorf("a long line: %d bytes ending in %q", len(r.Text), r.Text[len(r.Text)-100:])
	}
	if r := b.call("read_file", "path", "wide"); !strings.Contains(r.Text, "is cut: 7233 more bytes]") {
		t.Errorf("wide characters end in %q", r.Text[len(r.Text)-100:])
	}
}

// TestReadingOnGivesTheWholeFile follows the notes to the end.
func TestReadingOnGivesTheWholeFile(t *testing.T) {
	t.Parallel()
	var want strings.Builder
	for i := range 9000 {
		fmt.Fprintf(&want, "%d %s\n", i, strings.Repeat("w", i%97))
	}
	b := newBench(t, map[string]string{"big": want.String()})
	var got strings.Builder
	offset, calls := 1, 0
	for ; calls < 100; calls++ {
		text := b.call("read_file", "path", "big", "offset", offset).Text
		note := strings.LastIndex(text, "\n[lines ")
		if note < 0 {
			got.WriteString(text)
			break
		}
		got.WriteString(text[:note+1])
		if _, err := fmt.Sscanf(text[strings.LastIndex(text, "offset "):], "offset %d]", &offset); err != nil {
			t.Fatal(err)
		}
	}
	if got.String() != want.String() || calls < 10 {
		t.Errorf("%d bytes in %d calls, want %d", got.Len(), calls, want.Len())
	}
}

func TestReadingAHugeFileTakesNoMemory(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	f, err := os.Create(b.at("sparse"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(strings.Repeat("text\n", 2000)); err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(1 << 40); err != nil {
		t.Skip("the file system has no files of this size")
	}
	r := b.call("read_file", "path", "sparse", "limit", 2)
	if !strings.HasPrefix(r.Text, "text\ntext\n[lines 1–2 of more than ") {
		t.Errorf("got %q", r.Text)
	}
	b.refuse(b.call("edit_file", "path", "sparse", "old_text", "text", "new_text", "x"), "sparse is too large: 1099511627776 bytes, where 8388608 are the most")
}

func TestListFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a.go": "", "src/b.go": "", "src/deep/c.ts": "", ".gitignore": "ignored\n*.log\n", "gone": ""})
	b.put("ignored/x", "")
	b.put("new.log", "")
	b.put("new file", "")
	if err := os.Remove(b.at("gone")); err != nil {
		t.Fatal(err)
	}
	b.want(b.call("list_files"), ".gitignore\na.go\nnew file\nsrc/b.go\nsrc/deep/c.ts", "list . (5 files)")
	b.want(b.call("list_files", "path", "src"), "src/b.go\nsrc/deep/c.ts", "")
	b.want(b.call("list_files", "path", "src/", "depth", 1), "src/b.go\nsrc/deep/ (1 file)", "")
	b.want(b.call("list_files", "glob", "*.go"), "a.go\nsrc/b.go", "")
	b.want(b.call("list_files", "path", "a.go"), "a.go", "")
	b.want(b.call("list_files", "glob", "*.rs"), "[no files]", "list . (0 files)")
	b.refuse(b.call("list_files", "path", "nowhere"), "nowhere does not exist")
	b.refuse(b.call("list_files", "glob", "[a"), "is not a glob")
	// Names that mean something to git are names.
	b.put(":(glob)x/y", "")
	b.want(b.call("list_files", "path", ":(glob)x"), ":(glob)x/y", "")
	if err := os.RemoveAll(b.at(".git")); err != nil {
		t.Fatal(err)
	}
	b.want(b.call("list_files"), ".gitignore\n:(glob)x/y\na.go\nignored/x\nnew file\nnew.log\nsrc/b.go\nsrc/deep/c.ts", "")
}

func TestAListOfAnySizeFits(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	for i := range 400 {
		b.put(fmt.Sprintf("dir%d/sub/a file with a long name %d", i%20, i), "")
	}
	r := b.call("list_files")
	if len(r.Text) > maxList+200 || !strings.Contains(r.Text, "dir0/sub/ (20 files)") {
		t.Errorf("%d bytes: %.200q", len(r.Text), r.Text)
	}
}

func TestSearchTool(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a.go": "func Add() {}\nfunc Sub() {}\n", "b/c.go": "x := Add()\n", "d.md": "Add\n", ".gitignore": "out\n"})
	b.put("out/a.go", "Add\n")
	b.want(b.call("search", "pattern", "Add\\("), "a.go\n1: func Add() {}\n\nb/c.go\n1: x := Add()", `search Add\( (2 lines in 2 files)`)
	b.want(b.call("search", "pattern", "Add", "glob", "*.md"), "d.md\n1: Add", "")
	b.want(b.call("search", "pattern", "Sub", "context", 1, "path", "a.go"), "a.go\n1- func Add() {}\n2: func Sub() {}", "")
	b.want(b.call("search", "pattern", "Mul"), "[no match in 4 files]", "search Mul (0 lines in 0 files)")
	b.refuse(b.call("search", "pattern", "("), "missing closing )")
}

func TestWriteFile(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "one\ntwo\nthree\n", "crlf": "a\r\nb\r\n", "run": "x\n"})
	if err := os.Chmod(b.at("run"), 0o755); err != nil {
		t.Fatal(err)
	}
	b.want(b.call("write_file", "path", "new/b", "content", "x\ny"), "created new/b (2 lines)", "write new/b (new, +2 −0)")
	b.want(b.call("write_file", "path", "a", "content", "one\nTWO\nthree\nfour\n"), "replaced the content of a (+2 −1 lines)", "write a (+2 −1)")
	b.want(b.call("write_file", "path", "a", "content", "one\nTWO\nthree\nfour\n"), "a had this content already", "write a (unchanged)")
	b.want(b.call("write_file", "path", "crlf", "content", "a\nB\n"), "replaced the content of crlf (+1 −1 lines); its CRLF line ends were kept", "")
	b.want(b.call("write_file", "path", "run", "content", ""), "replaced the content of run (+0 −1 lines)", "")
	if info, _ := os.Stat(b.at("run")); info.Mode().Perm() != 0o755 {
		t.Errorf("mode is %v", info.Mode())
	}
	for name, want := range map[string]string{"new/b": "x\ny", "a": "one\nTWO\nthree\nfour\n", "crlf": "a\r\nB\r\n", "run": ""} {
		if got := b.get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	b.refuse(b.call("write_file", "path", "new", "content", "x"), "new is a directory")
	b.refuse(b.call("write_file", "path", "a/b", "content", "x"), "a is not a directory")
	b.refuse(b.call("write_file", "path", "big", "content", strings.Repeat("x", maxFile+1)), "are the most")
}

func TestEditFile(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"calc.go": "package calc\n\nfunc Add(a, b int) int {\n\treturn a - b\n}\n", "bin": "a\x00b", "twice": "x\nx\n"})
	b.want(b.call("edit_file", "path", "calc.go", "old_text", "return a - b", "new_text", "return a + b"), "edited calc.go at line 4", "edit calc.go (+1 −1)")
	b.want(b.call("edit_file", "path", "twice", "old_text", "x", "new_text", "y", "replace_all", true),
		"edited twice in 2 places, the first at line 1", "edit twice (+2 −2)")
	b.refuse(b.call("edit_file", "path", "calc.go", "old_text", "return a - b", "new_text", "x"), "calc.go is unchanged", "come closest", "4: \treturn a + b")
	b.refuse(b.call("edit_file", "path", "bin", "old_text", "a", "new_text", "b"), "bin is binary")
	b.refuse(b.call("edit_file", "path", "none", "old_text", "a", "new_text", "b"), "none does not exist; write_file creates files")
	b.refuse(b.call("edit_file", "path", "twice", "old_text", "y\n", "new_text", strings.Repeat("z", maxFile/2+1), "replace_all", true), "are the most")
	if b.get("calc.go") != "package calc\n\nfunc Add(a, b int) int {\n\treturn a + b\n}\n" || b.get("twice") != "y\ny\n" {
		t.Errorf("calc.go is %q, twice is %.20q", b.get("calc.go"), b.get("twice"))
	}
}

func TestEditsAtOnceAreAllKept(t *testing.T) {
	t.Parallel()
	content := ""
	for i := range 40 {
		content += fmt.Sprintf("line %02d\n", i)
	}
	b := newBench(t, map[string]string{"a": content})
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			b.call("edit_file", "path", "a", "old_text", fmt.Sprintf("line %02d", i), "new_text", fmt.Sprintf("LINE %02d", i))
		})
	}
	all.Wait()
	if got := b.get("a"); got != strings.ToUpper(content) {
		t.Errorf("some edits are lost: %q", got)
	}
}

func TestDeleteAndMove(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "a\n", "b": "b\n", "dir/c": "c\n"})
	b.want(b.call("delete_file", "path", "a"), "deleted a", "delete a")
	b.want(b.call("move_file", "from", "b", "to", "new/b"), "moved b to new/b", "move b to new/b")
	b.want(b.call("move_file", "from", "dir", "to", "folder"), "moved dir to folder", "")
	b.refuse(b.call("delete_file", "path", "a"), "a does not exist")
	b.refuse(b.call("delete_file", "path", "folder"), "folder is a directory")
	b.refuse(b.call("move_file", "from", "new/b", "to", "folder/c"), "folder/c exists already")
	if b.get("a") != "(none)" || b.get("new/b") != "b\n" || b.get("folder/c") != "c\n" {
		t.Error("not as asked")
	}
}
