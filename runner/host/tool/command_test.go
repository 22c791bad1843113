//go:build unix

package tool

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pawl-ci/pawl/runner"
)

func TestRunCommand(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1\n"})
	for _, c := range []struct {
		line, text string
		failed     bool
	}{
		{"cat a", "exit 0\n1", false},
		{"true", "exit 0", false},
		{"echo out; echo err >&2; echo out again; exit 3", "exit 3\nout\nerr\nout again", true},
		{"kill -9 $$", "exit 137", true},
		{"printf 'a\\0b\\033[31mc'", "exit 0\na\uFFFDbc", false},
		{"# only a comment", "exit 0", false},
		{"cat; echo end", "exit 0\nend", false},
		{"pwd", "exit 0\n" + b.root, false},
	} {
		r := b.call("run_command", "command", c.line)
		if r.Text != c.text || r.Error != c.failed {
			t.Errorf("%s: %q (error %v); want %q (%v)", c.line, r.Text, r.Error, c.text, c.failed)
		}
	}
	r := b.call("run_command", "command", "go() { exit 1; }\ngo test ./...")
	if !regexp.MustCompile(`^run go\(\) \{ exit 1; \} go test \./\.\.\. \(exit 1, 0\.\d s\)$`).MatchString(r.Summary) {
		t.Errorf("summary is %q", r.Summary)
	}
	b.refuse(b.call("run_command", "command", ""), "the command is empty")
	r = b.call("run_command", "command", "if then")
	if !r.Error || !strings.Contains(r.Text, "exit 2") {
		t.Errorf("a syntax error: %q", r.Text)
	}
}

func TestRunCommandStopsInTime(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	r := b.call("run_command", "command", "echo begun; sleep 300", "timeout_seconds", 1)
	b.refuse(r, "stopped: it did not end in time; what it printed until then:\nbegun")
	if !strings.HasPrefix(r.Summary, "run echo begun; sleep 300 (timed out, 1.") {
		t.Errorf("summary is %q", r.Summary)
	}
	b.c.Longest = 300 * time.Millisecond
	b.refuse(b.call("run_command", "command", "sleep 300", "timeout_seconds", 86400), "stopped")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := b.Call(ctx, "run_command", json.RawMessage(`{"command":"sleep 300"}`)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a cancelled command: %v", err)
	}
}

func TestLongOutputIsCutAndKeepsFailures(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	r := b.call("run_command", "command", `echo the beginning; seq 1 400000; echo "--- FAIL: TestX (0.00s)"; seq 1 400000; echo the end; exit 1`)
	if len(r.Text) > maxCommand {
		t.Errorf("%d bytes", len(r.Text))
	}
	for _, want := range []string{"exit 1\nthe beginning\n1\n2\n", "\n--- FAIL: TestX (0.00s)\n", "\n400000\nthe end\n[", "bytes left out"} {
		if !strings.Contains(r.Text, want) {
			t.Errorf("%q is missing in %.300q … %q", want, r.Text, r.Text[len(r.Text)-300:])
		}
	}
}

func TestAMachineWithoutAShellIsNotTheModelsFault(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.c.Shell = NewShell(ShellConfig{Root: b.root, Program: "/no/such/sh"})
	if _, err := b.Call(t.Context(), "run_command", json.RawMessage(`{"command":"true"}`)); err == nil || !strings.Contains(err.Error(), "/no/such/sh") {
		t.Errorf("error %v", err)
	}
	b.c.Shell = nil
	b.refuse(b.call("run_command", "command", "true"), "commands cannot be run here")
}

func TestShell(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, dir := range []string{"sub", "../outside"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../outside", filepath.Join(root, "out")); err != nil {
		t.Fatal(err)
	}
	s := NewShell(ShellConfig{Root: root, Env: []string{"PATH=" + os.Getenv("PATH"), "A=b"}, RunID: "run-1", OutputCap: 100})
	r, err := s.Run(t.Context(), runner.ShellCommand{Line: `echo "$A $PAWL_RUN_ID"; pwd; echo err >&2; exit 4`, Dir: "sub"})
	real, _ := filepath.EvalSymlinks(root)
	if err != nil || r.Stdout != "b run-1\n"+real+"/sub\n" || r.Stderr != "err\n" || r.Exit != 4 || r.TimedOut || r.Took <= 0 {
		t.Errorf("got %+v, %v", r, err)
	}
	r, err = s.Run(t.Context(), runner.ShellCommand{Line: "seq 1 1000; echo calc.go:1:2: bad; seq 1 1000"})
	if err != nil || !strings.Contains(r.Stdout, "bytes left out; lines of note among them:]\ncalc.go:1:2: bad\n[…]\n") || len(r.Stdout) > 400 {
		t.Errorf("got %q, %v", r.Stdout, err)
	}
	r, err = s.Run(t.Context(), runner.ShellCommand{Line: "sleep 300", Timeout: 50 * time.Millisecond})
	if err != nil || !r.TimedOut || r.Exit != 143 {
		t.Errorf("got %+v, %v", r, err)
	}
	for dir, want := range map[string]string{"..": "outside of the worktree", "out": "outside of the worktree", "/": "outside of the worktree", "gone": "no such file"} {
		if _, err := s.Run(t.Context(), runner.ShellCommand{Line: "true", Dir: dir}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("in %s: %v, want %q", dir, err, want)
		}
	}
}
