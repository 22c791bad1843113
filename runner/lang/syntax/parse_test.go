package syntax_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/syntax"
)

var update = flag.Bool("update", false, "write the .out files of testdata/err anew")

func TestSilent(t *testing.T) {
	t.Parallel()
	for _, f := range testFiles(t, "ok") {
		t.Run(filepath.Base(f.Name), func(t *testing.T) {
			t.Parallel()
			if _, list := syntax.Parse(f); len(list) > 0 {
				t.Errorf("want silence, got\n%s", drawn(t, list))
			}
		})
	}
}

// Each line of an err file that is wrong says so in a comment: ## want: "REGEXP".
// Where the line has no place for a comment, one above says ## want +1: "REGEXP".
// What is found and not wanted fails, and the other way round; how it is drawn
// stands in the .out file.
func TestErrors(t *testing.T) {
	t.Parallel()
	for _, f := range testFiles(t, "err") {
		t.Run(filepath.Base(f.Name), func(t *testing.T) {
			t.Parallel()
			_, list := syntax.Parse(f)
			want := wants(t, f)
			for _, d := range list {
				line := d.Span.Position().Line
				said := string(d.Code) + ": " + d.Message + " | " + d.Hint
				i := slices.IndexFunc(want[line], func(re *regexp.Regexp) bool { return re.MatchString(said) })
				if i < 0 {
					t.Errorf("%s: not wanted: %s", d.Span, said)
					continue
				}
				want[line] = slices.Delete(want[line], i, i+1)
			}
			for line, missing := range want {
				for _, re := range missing {
					t.Errorf("%s:%d: no diagnostic matches %s", f.Name, line, re)
				}
			}
			golden(t, strings.TrimSuffix(f.Name, ".iter")+".out", drawn(t, list))
		})
	}
}

var (
	wantComment = regexp.MustCompile(`## want( \+\d+)?: (.*)$`)
	wantPattern = regexp.MustCompile("\"((?:[^\"\\\\]|\\\\.)*)\"")
)

func wants(t *testing.T, f *diag.File) map[int][]*regexp.Regexp {
	t.Helper()
	want := make(map[int][]*regexp.Regexp)
	for i, line := range strings.Split(f.Text, "\n") {
		m := wantComment.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		offset, _ := strconv.Atoi(strings.TrimPrefix(m[1], " +"))
		patterns := wantPattern.FindAllStringSubmatch(m[2], -1)
		if len(patterns) == 0 {
			t.Fatalf("%s:%d: no pattern in quotes", f.Name, i+1)
		}
		for _, p := range patterns {
			re, err := regexp.Compile(p[1])
			if err != nil {
				t.Fatalf("%s:%d: %v", f.Name, i+1, err)
			}
			want[i+1+offset] = append(want[i+1+offset], re)
		}
	}
	return want
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (-update writes it anew):\n%s", name, got)
	}
}

func testFiles(t *testing.T, dir string) []*diag.File {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", dir, "*.iter"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no files in testdata/%s: %v", dir, err)
	}
	files := make([]*diag.File, len(names))
	for i, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[i] = diag.NewFile(filepath.ToSlash(name), string(text))
	}
	return files
}

func parse(t *testing.T, text string) (*syntax.File, diag.List) {
	t.Helper()
	return syntax.Parse(diag.NewFile("test.iter", text))
}

// silent parses a text that must be right.
func silent(t *testing.T, text string) *syntax.File {
	t.Helper()
	file, list := parse(t, text)
	if len(list) > 0 {
		t.Fatalf("want silence, got\n%s", drawn(t, list))
	}
	return file
}
