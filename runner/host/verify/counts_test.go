package verify

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pawl-ci/pawl/runner/event"
	"pgregory.net/rapid"
)

func counts(passed, failed, skipped int, failing ...string) *event.Counts {
	return &event.Counts{Passed: passed, Failed: failed, Skipped: skipped, Failing: failing}
}

// packages is what `go test` without -v says: it counts packages, not tests.
func packages(c *event.Counts) *event.Counts {
	c.Unit = "package"
	return c
}

// The files in testdata are what go 1.26, node 20, Python 3.11 and cargo 1.95
// wrote for small projects.
func TestCountRealOutput(t *testing.T) {
	t.Parallel()
	tests := []struct {
		file, name string
		want       *event.Counts
	}{
		{"go-plain", "go", packages(counts(1, 1, 0, "TestAdd", "TestSub/bad_case"))},
		{"go-v", "go", counts(3, 3, 1, "TestAdd", "TestSub/bad_case")},
		{"go-json", "go", counts(3, 3, 1, "x.TestAdd", "x.TestSub/bad_case")},
		{"go-build", "go", packages(counts(0, 2, 0, "TestAdd", "TestSub/bad_case", "x/sub [build failed]"))},
		{"go-build-json", "go", counts(2, 4, 1, "x/sub", "x.TestAdd", "x.TestSub/bad_case")},
		{"go-none", "go", packages(counts(0, 0, 0))},
		{"go-panic", "go", packages(counts(0, 1, 0, "TestX"))},
		{"node-tap", "npm", counts(2, 2, 2, "subtracts", "inner bad")},
		{"node-spec", "npm", counts(2, 2, 2, "subtracts", "inner bad")},
		{"node-none", "npm", counts(0, 0, 0)},
		{"py", "python", counts(2, 3, 1, "test_err (test_a.T.test_err)", "test_bad (test_a.T.test_bad)", "test_sub (test_a.T.test_sub)")},
		{"py-none", "python", counts(0, 0, 0)},
		{"cargo", "cargo", counts(2, 1, 1, "tests::bad")},
		{"cargo-ok", "cargo", counts(3, 0, 1)},
		{"cargo-build", "cargo", nil},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			b, err := os.ReadFile(filepath.Join("testdata", tt.file+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{tt.name, "make"} {
				got := countTests(name, string(b))
				if got != nil && len(got.Failing) == 0 {
					got.Failing = nil
				}
				if !reflect.DeepEqual(got, tt.want) {
					t.Errorf("as %s: got %+v, want %+v", name, got, tt.want)
				}
			}
		})
	}
}

func TestCountOtherRunners(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		want     *event.Counts
	}{
		{"pytest quiet", `.F.s                                                    [100%]
=================================== FAILURES ===================================
____________________________________ test_b ____________________________________
>       assert 1 == 2
E       assert 1 == 2
test_a.py:4: AssertionError
=========================== short test summary info ============================
FAILED test_a.py::test_b - assert 1 == 2
FAILED tests/test_c.py::TestC::test_d[a b - c] - ValueError
ERROR test_e.py
2 failed, 2 passed, 1 skipped, 1 error, 3 warnings in 0.12s
`, counts(2, 3, 1, "test_a.py::test_b", "tests/test_c.py::TestC::test_d[a b", "test_e.py")},
		{"pytest with bars and colours", "\x1b[32m\x1b[32m\x1b[1m======= 3 passed\x1b[0m, 1 xfailed, 1 xpassed, 2 deselected in 61.20s (0:01:01)\x1b[0m =======\n", counts(4, 0, 1)},
		{"pytest without tests", "\nno tests ran in 0.01s\n", counts(0, 0, 0)},
		{"unittest of a newer Python", "Ran 0 tests in 0.000s\n\nNO TESTS RAN\n", counts(0, 0, 0)},
		{"unittest whose class fails", "ERROR: setUpClass (test_a.T)\nRan 0 tests in 0.000s\n\nFAILED (errors=1)\n", counts(0, 1, 0, "setUpClass (test_a.T)")},
		{"unexpected success", "Ran 2 tests in 0.001s\n\nFAILED (unexpected successes=1)\n", counts(1, 1, 0)},
		{"jest", `FAIL src/sum.test.js
  ● math › adds

    expect(received).toBe(expected)
  ● Console

Test Suites: 1 failed, 1 passed, 2 total
Tests:       1 failed, 1 skipped, 1 todo, 2 passed, 5 total
Snapshots:   0 total
Time:        0.5 s
`, counts(2, 1, 2, "math › adds")},
		{"jest without tests", "No tests found, exiting with code 1\nRun with `--passWithNoTests`\n", counts(0, 0, 0)},
		{"vitest", ` ❯ src/a.test.ts (3 tests | 1 failed)
 FAIL  src/a.test.ts > math > adds
AssertionError: expected 3 to be 4

 Test Files  1 failed (1)
      Tests  1 failed | 1 passed | 1 skipped (3)
   Start at  10:00:00
`, counts(1, 1, 1, "src/a.test.ts > math > adds")},
		{"vitest without tests", "No test files found, exiting with code 1\n", counts(0, 0, 0)},
		{"mocha", `  math
    ✔ adds
    1) subtracts
    - later


  1 passing (5ms)
  1 pending
  2 failing

  1) math
       subtracts:
     AssertionError: 1 == 2
      at Context.<anonymous> (test.js:4:5)

  2) top level:
     Error: x
`, counts(1, 2, 1, "math › subtracts", "top level")},
		{"plain TAP", "TAP version 13\nok 1 - a\nnot ok 2 - b \\# c\n  ---\n  x: 1\n  ...\nok 3 # SKIP no d\nnot ok 4 - e # TODO later\n1..4\n", counts(1, 1, 2, "b # c")},
		{"tape", "TAP version 13\n# sums\nok 1 should be equal\nnot ok 2 should be 4\n1..2\n# tests 2\n# pass  1\n# fail  1\n", counts(1, 1, 0, "should be 4")},
		{"two suites of npm workspaces", "TAP version 13\nok 1 - a\n1..1\n# tests 1\n# pass 1\n# fail 0\nTAP version 13\nok 1 - a\n1..1\n# tests 1\n# pass 1\n# fail 0\n", counts(2, 0, 0)},
		{"make with Go and pytest", "ok  \tx/sub\t0.003s\n5 passed in 0.10s\n", counts(6, 0, 0)},
		{"go with nothing to run", "ok  \tx\t0.002s [no tests to run]\n", packages(counts(0, 0, 0))},
		{"something else", "compiling…\nall good, 3 passed\n", nil},
		{"empty", "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := countTests("make", tt.in)
			if got != nil && len(got.Failing) == 0 {
				got.Failing = nil
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestCountsReadOnlyTheirOwnRunner(t *testing.T) {
	t.Parallel()
	if got := countTests("go", "5 passed in 0.10s\nok  \tx\t0.1s\n"); got == nil || got.Passed != 1 {
		t.Errorf("go: %+v", got)
	}
}

func TestFailingNamesAreBounded(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 1000 {
		b.WriteString("test t" + strings.Repeat("x", i) + " ... FAILED\n")
	}
	b.WriteString("test result: FAILED. 0 passed; 1000 failed; 0 ignored; 0 measured\n")
	got := countTests("cargo", b.String())
	if got.Failed != 1000 || len(got.Failing) != maxFailing {
		t.Errorf("%d failed, %d named", got.Failed, len(got.Failing))
	}
}

func FuzzCountTests(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		f.Fatal("no samples", err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add("make", string(b))
	}
	f.Add("python", "=== 99999999999999999999 passed, -1 failed in 0.1s ===")
	f.Add("npm", "1) :\n  1 failing\n  2) a\n:\n")
	f.Add("go", "{\"Action\":\"fail\",\"Package\":\"x\"}\n{\"Action\":")
	f.Fuzz(func(t *testing.T, name, output string) {
		c := countTests(name, output)
		if c == nil {
			return
		}
		if c.Passed < 0 || c.Failed < 0 || c.Skipped < 0 || len(c.Failing) > maxFailing {
			t.Errorf("%+v of %q", c, output)
		}
		for _, n := range c.Failing {
			if !utf8.ValidString(n) || strings.ContainsAny(n, "\n\x1b") {
				t.Errorf("name %q", n)
			}
		}
	})
}

func TestExcerptProperty(t *testing.T) {
	t.Parallel()
	line := rapid.OneOf(rapid.SampledFrom([]string{"--- FAIL: TestX (0.00s)", "ok", "", strings.Repeat("long ", 100), "é☃\x1b[31mred\x1b[0m", "error: x"}), rapid.String())
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(line, 0, 40).Draw(rt, "lines"), "\n")
		limit := rapid.IntRange(200, 1000).Draw(rt, "limit")
		got := excerpt(text, limit)
		if len(got) > limit || !utf8.ValidString(got) || strings.Contains(got, "\x1b") {
			rt.Fatalf("%d bytes of %d: %q", len(got), limit, got)
		}
	})
}

func TestExcerptKeepsTheFirstFailure(t *testing.T) {
	t.Parallel()
	ok := strings.Repeat("ok  \tsome/package\t0.001s\n", 1000)
	got := excerpt(ok+"--- FAIL: TestX (0.00s)\n    x_test.go:7: want 1\n"+ok+"the end\n", 4096)
	for _, want := range []string{"--- FAIL: TestX", "x_test.go:7: want 1", "the end", "bytes left out"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if len(got) > 4096 || len(got) < 3500 {
		t.Errorf("%d bytes", len(got))
	}
	near := excerpt(ok+"--- FAIL: TestX (0.00s)\nFAIL\n", 4096)
	if strings.Count(near, "left out") != 1 || !strings.HasSuffix(near, "FAIL") || !strings.HasPrefix(near, "[… ") {
		t.Errorf("got %.200q", near)
	}
	if got := excerpt("short\n", 4096); got != "short" {
		t.Errorf("got %q", got)
	}
}
