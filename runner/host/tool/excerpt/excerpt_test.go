package excerpt

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestFailingLines(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"--- FAIL: TestAdd (0.00s)", "    --- FAIL: TestAdd/x (0.00s)", "FAIL", "FAIL\tgithub.com/x/y\t0.1s", "panic: runtime error: index out of range",
		"calc.go:12:3: undefined: add", "    calc_test.go:7: Add(2,3) = -1, want 5", "src/app.ts:3:5 - error TS2304: Cannot find name",
		"error[E0425]: cannot find value `x`", "error: could not compile `x`", "E       assert 1 == 2", "FAILED test_calc.py::test_add - assert",
		"not ok 3 - adds", "npm ERR! code 1", "Traceback (most recent call last):", "ValueError: bad", "java.lang.IllegalStateException: x",
		"thread 'main' panicked at src/main.rs:2:5:", "make: *** [Makefile:3: test] Error 2", "Tests: 1 failed, 4 passed", "1 failed, 0 errors",
		"  ● adds numbers", "  ✖ adds", "fatal: not a git repository", "bash: x: command failed", "ERROR something", "Error: x", "Assertion `x' failed.",
		"2 errors generated.", "build failed",
	} {
		if !Failing([]byte(line)) {
			t.Errorf("not seen: %q", line)
		}
	}
	for _, line := range []string{
		"", "ok  \tgithub.com/x/errors\t0.1s", "=== RUN   TestAdd", "--- PASS: TestErrors (0.00s)", "5 passed, 0 failed", "0 errors, 0 warnings",
		"Found no errors", "compiling errors.go", "downloading failsafe-1.0.jar", "PASS", "2026-01-01T10:11:12: started", "http://x.y:80/z",
		"key: value", "a.b: c", "running 12 tests",
	} {
		if Failing([]byte(line)) {
			t.Errorf("seen: %q", line)
		}
	}
}

func TestOfCleans(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ out, want string }{
		"nothing":      {"", ""},
		"blank":        {"\n\n \n", ""},
		"plain":        {"a\n\nb\n", "a\n\nb"},
		"colours":      {"\x1b[31;1mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x1b\\ \x1b(B", "red link"},
		"progress":     {"10%\r50%\r100%\r\nnext\r\n", "100%\nnext"},
		"repeats":      {"x\nx\nx\nx\nx\ny\n", "x\nx\n[the same line 3 more times]\ny"},
		"three equal":  {"x\nx\nx\ny", "x\nx\nx\ny"},
		"repeats last": {strings.Repeat("x\n", 10), "x\nx\n[the same line 8 more times]"},
		"blank lines":  {"a\n\n\n\n\n\nb", "a\n\n\n\n\n\nb"},
		"a long line":  {strings.Repeat("ä", 300), strings.Repeat("ä", 200) + "… [200 more bytes]"},
	} {
		if got := Of(c.out, 1000); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestAMegabyteKeepsWhatMatters is the promise about logs: the beginning, the
// end and the failing line in the middle.
func TestAMegabyteKeepsWhatMatters(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("go test ./...\n")
	for i := range 15_000 {
		fmt.Fprintf(&b, "=== RUN   TestNumber%d with a name of some length for the sake of it\n", i)
		if i == 7_000 {
			b.WriteString("--- FAIL: TestSeven (0.00s)\n    seven_test.go:7: got 6, want 7\n")
		}
	}
	b.WriteString("exit status 1\n")
	got := Of(b.String(), 8<<10)
	if len(got) > 8<<10 || len(got) < 6<<10 {
		t.Errorf("%d bytes", len(got))
	}
	for _, want := range []string{"go test ./...\n", "--- FAIL: TestSeven (0.00s)\n    seven_test.go:7: got 6, want 7\n", "\nexit status 1\n[", "[… lines "} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if !strings.HasSuffix(got, fmt.Sprintf(" of %d bytes shown; run it again with a filter, such as | grep or | tail, to see others]", b.Len())) {
		t.Errorf("ends in %q", got[len(got)-150:])
	}
}

func TestWhatTheShellLeftOutIsNotHidden(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("word ", 10) + "\n"
	var b strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&b, "%d %s", i, line)
		if i == 2000 {
			b.WriteString("[… 1000000 bytes left out …]\n")
		}
	}
	if got := Of(b.String(), 4000); !strings.Contains(got, "[… 1000000 bytes left out …]") {
		t.Error("what the shell left out is not told")
	}
}

func TestOfFitsAndRepeatsItself(t *testing.T) {
	t.Parallel()
	line := rapid.OneOf(
		rapid.SampledFrom([]string{"", "x", "--- FAIL: x", "a.go:1:2: bad", "\x1b[1mbold\x1b[0m", "[… 9 bytes left out …]"}),
		rapid.StringN(0, 600, -1))
	rapid.Check(t, func(t *rapid.T) {
		out := strings.Join(rapid.SliceOfN(line, 0, 300).Draw(t, "lines"), "\n")
		limit := rapid.IntRange(600, 5000).Draw(t, "limit")
		got := Of(out, limit)
		if len(got) > limit {
			t.Fatalf("%d bytes, %d are the most", len(got), limit)
		}
		if Of(out, limit) != got {
			t.Fatal("it changes")
		}
	})
}

func BenchmarkFailing(b *testing.B) {
	line := []byte("=== RUN   TestNumber with a name of some length for the sake of it")
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		Failing(line)
	}
}
