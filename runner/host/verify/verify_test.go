package verify

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/event"
)

// realShell runs commands with sh in a directory.
type realShell struct{ dir string }

func (s realShell) Run(ctx context.Context, c runner.ShellCommand) (runner.ShellResult, error) {
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Timeout)
		defer cancel()
	}
	start := time.Now()
	cmd := exec.CommandContext(ctx, "sh", "-c", "exec 2>&1\n"+c.Line)
	cmd.Dir = filepath.Join(s.dir, c.Dir)
	cmd.WaitDelay = time.Second
	cmd.Env = append(os.Environ(), "RUST_BACKTRACE=0")
	var out bytes.Buffer
	cmd.Stdout = &out
	err := cmd.Run()
	res := runner.ShellResult{Stdout: out.String(), Combined: out.String(), Took: time.Since(start), TimedOut: ctx.Err() != nil}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		res.Exit, err = exit.ExitCode(), nil
	}
	if res.TimedOut {
		res.Exit, err = 137, nil
	}
	return res, err
}

// project writes files into a directory and returns a Verifier for it.
func project(t *testing.T, files map[string]string) (string, *Verifier) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir, New(realShell{dir}, os.DirFS(dir), Options{Timeout: 2 * time.Minute})
}

func needs(t *testing.T, program string) {
	t.Helper()
	// A program that is there may still not work here: rustup's cargo without a
	// toolchain, for one.
	if err := exec.Command(program, versionArgument(program)).Run(); err != nil {
		t.Skip(program + " is not here")
	}
}

func verify(t *testing.T, v *Verifier, commands ...string) event.Evidence {
	t.Helper()
	ev, err := v.Verify(context.Background(), commands)
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

// Real projects with one bug: found, red with the right reason, and green once
// the bug is fixed.
func TestVerifyRealProjects(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, program    string
		files            map[string]string
		fixFile, fixText string
		line, red        string
	}{
		{"go", "go", map[string]string{
			"go.mod":       "module calc\n\ngo 1.22\n",
			"calc.go":      "package calc\n\nfunc Add(a, b int) int { return a - b }\n",
			"calc_test.go": "package calc\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Error(\"wrong\")\n\t}\n}\n",
		}, "calc.go", "package calc\n\nfunc Add(a, b int) int { return a + b }\n", "go test ./...", "go test ./...: exit 1, 1 failed (TestAdd)"},
		{"node", "npm", map[string]string{
			"package.json": `{"name":"calc","version":"1.0.0","scripts":{"test":"node --test"}}`,
			"calc.js":      "exports.add = (a, b) => a - b;\n",
			"calc.test.js": "const test = require('node:test');\nconst assert = require('node:assert');\ntest('adds', () => assert.equal(require('./calc').add(1, 2), 3));\n",
		}, "calc.js", "exports.add = (a, b) => a + b;\n", "CI=true npm test", "CI=true npm test: exit 1, 1 failed (adds)"},
		{"python", "python3", map[string]string{
			"pyproject.toml":     "[project]\nname = 'calc'\n",
			"calc.py":            "def add(a, b):\n    return a - b\n",
			"tests/test_calc.py": "import unittest\nfrom calc import add\n\nclass TestCalc(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n",
		}, "calc.py", "def add(a, b):\n    return a + b + 0\n", "python3 -m unittest discover -s tests", "exit 1, 1 failed (test_add (test_calc.TestCalc"},
		{"rust", "cargo", map[string]string{
			"Cargo.toml": "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
			"src/lib.rs": "pub fn add(a: i32, b: i32) -> i32 { a - b }\n#[test]\nfn adds() { assert_eq!(add(1, 2), 3); }\n",
		}, "src/lib.rs", "pub fn add(a: i32, b: i32) -> i32 { a + b }\n#[test]\nfn adds() { assert_eq!(add(1, 2), 3); }\n", "cargo test", "cargo test: exit 101, 1 failed (adds)"},
		{"make", "make", map[string]string{
			"Makefile": "test:\n\t@sh t.sh\n", "t.sh": "echo broken; exit 3\n",
		}, "t.sh", "echo fine\n", "make test", "make test: exit 2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			needs(t, tt.program)
			dir, v := project(t, tt.files)
			red := verify(t, v)
			if red.Passed || red.Mode != "auto" || len(red.Commands) != 1 || red.Commands[0].Command != tt.line ||
				red.Commands[0].Exit == 0 || !strings.Contains(red.Reason, tt.red) {
				t.Errorf("with the bug: %+v", red)
			}
			if err := os.WriteFile(filepath.Join(dir, tt.fixFile), []byte(tt.fixText), 0o644); err != nil {
				t.Fatal(err)
			}
			green := verify(t, v)
			if !green.Passed || green.Reason != "" || green.Commands[0].Tail == "" {
				t.Errorf("without the bug: %+v", green)
			}
			if c := green.Commands[0].Counts; tt.name != "make" && (c == nil || c.Passed == 0 || c.Failed != 0) {
				t.Errorf("counts %+v", c)
			}
		})
	}
}

func TestVerifyDoesNotPass(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		files    map[string]string
		commands []string
		reason   string
	}{
		{"nothing to run", map[string]string{"README": ""}, nil, "no tests were found"},
		{"0 Go tests", map[string]string{"go.mod": "module x\n", "x.go": "package x\n"}, nil, "0 tests ran: go test ./..."},
		{"0 Python tests", nil, []string{"echo Ran 0 tests in 0.000s; echo OK"}, "0 tests ran"},
		{"only skipped tests", nil, []string{"echo 3 skipped in 0.1s"}, "0 tests ran"},
		{"missing program", nil, []string{"pawl-no-such-tool --all"}, "pawl-no-such-tool was not found (exit 127): the toolchain is missing here"},
		{"missing pytest", nil, []string{"python3 -c 'import sys; sys.exit(\"/usr/bin/python3: No module named pytest\")' -m pytest"}, "python3 has no pytest here"},
		{"missing dependencies", map[string]string{"package.json": `{"scripts":{"test":"pawl-no-such-runner"}}`}, nil, "the dependencies are not installed in the worktree"},
		{"one of two fails", nil, []string{"exit 4", "echo 2 passed in 0.1s"}, "exit 4: exit 4"},
		{"both fail", nil, []string{"exit 4", "false"}, "exit 4: exit 4; false: exit 1"},
		{"many failures", nil, []string{`printf 'test a ... FAILED\ntest b ... FAILED\ntest c ... FAILED\ntest d ... FAILED\ntest result: FAILED. 1 passed; 4 failed; 0 ignored; 0\n'; exit 101`},
			"4 failed (a, b, c, and 1 more)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, v := project(t, tt.files)
			ev := verify(t, v, tt.commands...)
			if ev.Passed || !strings.Contains(ev.Reason, tt.reason) {
				t.Errorf("passed %v, reason %q, want %q", ev.Passed, ev.Reason, tt.reason)
			}
			if len(ev.Commands) != len(tt.commands) && tt.commands != nil {
				t.Errorf("%d commands ran, want %d", len(ev.Commands), len(tt.commands))
			}
		})
	}
}

func TestVerifyPasses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		commands []string
	}{
		{"unknown output", []string{"true"}},
		{"one suite is empty, another is not", []string{"echo no tests ran in 0.01s", "echo 2 passed in 0.01s"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, v := project(t, nil)
			if ev := verify(t, v, tt.commands...); !ev.Passed || ev.Reason != "" || ev.Mode != "commands" {
				t.Errorf("%+v", ev)
			}
		})
	}
}

func TestVerifyTimeout(t *testing.T) {
	t.Parallel()
	dir, _ := project(t, nil)
	v := New(realShell{dir}, os.DirFS(dir), Options{Timeout: 50 * time.Millisecond})
	ev := verify(t, v, "exec sleep 60", "echo 1 passed in 0.1s")
	if ev.Passed || !strings.Contains(ev.Reason, "not finished after") || !ev.Commands[0].TimedOut || len(ev.Commands) != 2 {
		t.Errorf("%+v", ev)
	}
}

type brokenShell struct{ err error }

func (s brokenShell) Run(context.Context, runner.ShellCommand) (runner.ShellResult, error) {
	return runner.ShellResult{}, s.err
}

func TestVerifyReportsAHostFailure(t *testing.T) {
	t.Parallel()
	cause := errors.New("no processes left")
	_, err := New(brokenShell{cause}, repo(nil), Options{}).Verify(context.Background(), []string{"go test"})
	if !errors.Is(err, cause) || !strings.Contains(err.Error(), "go test") {
		t.Error(err)
	}
}

func TestVerifyKeepsABoundedTail(t *testing.T) {
	t.Parallel()
	_, v := project(t, nil)
	ev := verify(t, v, "yes 'a line of output' | head -c 1000000; echo; echo last words; exit 1")
	tail := ev.Commands[0].Tail
	if len(tail) > tailLimit || !strings.HasSuffix(tail, "last words") {
		t.Errorf("%d bytes, ending in %q", len(tail), tail[max(0, len(tail)-40):])
	}
}

func TestProgram(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"go test ./...":         "go",
		"CI=1 X=y npm test":     "npm",
		"/usr/bin/python3.11 x": "python",
		"pytest -q":             "python",
		"cd a && go test":       "sh",
		"":                      "sh",
		"A=b":                   "sh",
		"./run-tests.sh":        "run-tests.sh",
	} {
		if got := program(line); got != want {
			t.Errorf("program(%q) = %q, want %q", line, got, want)
		}
	}
}

func versionArgument(program string) string {
	if program == "go" {
		return "version"
	}
	return "--version"
}
