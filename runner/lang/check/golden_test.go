package check_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/syntax"
)

var update = flag.Bool("update", false, "write what the rules say about the files of testdata/err")

// outside are findings that depend on where a file is checked: what this version
// runs, and what is set in the environment.
func outside(d diag.Diagnostic) bool { return d.Code == "P169" || d.Code == "P164" }

func files(t *testing.T, pattern string) []string {
	t.Helper()
	list, err := filepath.Glob(pattern)
	if err != nil || len(list) == 0 {
		t.Fatalf("%s: %d files, %v", pattern, len(list), err)
	}
	return list
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestGoodFiles: nothing at all is said about them.
func TestGoodFiles(t *testing.T) {
	t.Parallel()
	list := files(t, "testdata/ok/*.iter")
	list = append(list, files(t, "../../../testdata/workflows/*.iter")...)
	list = append(list, files(t, "../../../testdata/workflows/*/*.iter")...)
	for _, file := range list {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			if found := slices.DeleteFunc(findings(read(t, file)), outside); len(found) > 0 && !strings.HasPrefix(filepath.Base(file), "P164") && !strings.HasPrefix(filepath.Base(file), "P169") {
				t.Errorf("%s", drawn(found))
			}
		})
	}
}

// TestBadFiles: what is said stands under the guilty characters, and the code that
// the file is named for is in it.
func TestBadFiles(t *testing.T) {
	t.Parallel()
	for _, file := range files(t, "testdata/err/*.iter") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			code, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".iter"), "_")
			found := findings(read(t, file))
			if !slices.Contains(codes(found), diag.Code(code)) {
				t.Errorf("%s is not shown", code)
			}
			golden := strings.TrimSuffix(file, ".iter") + ".out"
			if *update {
				if err := os.WriteFile(golden, []byte(drawn(found)), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want := read(t, golden); drawn(found) != want {
				t.Errorf("it says\n%s\nwant\n%s", drawn(found), want)
			}
		})
	}
}

// TestEveryRuleHasFiles: each code that is raised behind the parser has a file that
// breaks its rule and one that keeps it.
func TestEveryRuleHasFiles(t *testing.T) {
	t.Parallel()
	for _, rule := range diag.Rules() {
		if strings.HasPrefix(rule.Bad, "-- ") {
			continue // about recipes
		}
		if _, parsed := syntax.Parse(diag.NewFile("x", rule.Bad)); slices.Contains(codes(parsed), rule.Code) {
			continue // the parser's own
		}
		for _, folder := range []string{"ok", "err"} {
			if found, _ := filepath.Glob("testdata/" + folder + "/" + string(rule.Code) + "*.iter"); len(found) == 0 {
				t.Errorf("%s (%s) has no file in testdata/%s", rule.Code, rule.Title, folder)
			}
		}
	}
}

// TestTwelveRunsAgree: files with a line taken out, doubled or moved give the same
// bytes each time, and no panic.
func TestTwelveRunsAgree(t *testing.T) {
	t.Parallel()
	list := append(files(t, "testdata/err/*.iter"), files(t, "../../../testdata/workflows/*.iter")...)
	for i, file := range list {
		lines := strings.SplitAfter(read(t, file), "\n")
		for k := range 6 {
			at := (i*31 + k*17) % len(lines)
			mutant := slices.Clone(lines)
			switch k % 3 {
			case 0:
				mutant = slices.Delete(mutant, at, at+1)
			case 1:
				mutant = slices.Insert(mutant, at, lines[at])
			case 2:
				other := (at*7 + 3) % len(lines)
				mutant[at], mutant[other] = mutant[other], mutant[at]
			}
			text := strings.Join(mutant, "")
			want := drawn(findings(text))
			for range 11 {
				if got := drawn(findings(text)); got != want {
					t.Fatalf("%s with line %d changed: two runs differ\n%s\n%s", file, at+1, got, want)
				}
			}
		}
	}
}
