package main

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pawl-ci/pawl/runner/host/sandbox/confine"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"pawl":         main,
		"notes-server": notesServer,
		"claude":       fakeClaude,
	})
}

// TestScripts plays testdata/script: each file is a repository, commands as a
// user would type them, and what must then be true.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("..", "..", "testdata", "script"),
		Setup:               surroundings,
		RequireExplicitExec: true,
		Condition:           condition,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"status": exitStatusIs, "repo": makeRepo},
	})
}

// surroundings gives a script a home of its own, and Go's caches so that real
// test suites run without a network.
func surroundings(e *testscript.Env) error {
	e.Defer(func() { replayAll(e.T(), e.WorkDir) })
	home := filepath.Join(e.WorkDir, ".home")
	e.Setenv("HOME", home)
	e.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	e.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	e.Setenv("GOFLAGS", "-mod=mod")
	e.Setenv("GOPROXY", "off")
	for _, name := range []string{"GOCACHE", "GOMODCACHE"} {
		out, err := exec.Command("go", "env", name).Output()
		if err != nil {
			return err
		}
		e.Setenv(name, strings.TrimSpace(string(out)))
	}
	return os.MkdirAll(home, 0o755)
}

// replayAll decides every whole record that a script left behind again: whatever
// a scenario is about, its record must be what the machine decides.
func replayAll(t testscript.T, dir string) {
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		run := filepath.Dir(path)
		if err != nil || entry.Name() != "events.jsonl" || filepath.Base(filepath.Dir(run)) != "runs" {
			return nil
		}
		store := filepath.Dir(filepath.Dir(run))
		pawl := func(command string) (int, string) {
			var out bytes.Buffer
			args := []string{command, filepath.Base(run), "--store-dir", store, "-C", dir}
			return Main(context.Background(), args, strings.NewReader(""), &out, &out, nil), out.String()
		}
		if whole, _ := pawl("verify-record"); whole != 0 {
			return nil // the scenario is about a damaged record
		}
		if status, text := pawl("replay"); status != 0 && !strings.Contains(text, "the record is empty") {
			t.Log(path, "\n", text)
			t.FailNow()
		}
		return nil
	})
}

func condition(cond string) (bool, error) {
	if cond == "root" {
		return os.Geteuid() == 0, nil
	}
	if cond == "landlock" {
		enforced, _ := confine.System()
		return slices.Contains(enforced, confine.FilesOnly), nil
	}
	_, err := exec.LookPath(strings.TrimPrefix(cond, "has:"))
	return err == nil, nil
}

// exitStatusIs is `status N pawl ARGS…`: runs the command and demands its exit
// status; stdout and stderr are then those of the command.
func exitStatusIs(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND ARGS...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if exit, ok := err.(*exec.ExitError); ok {
		got = strconv.Itoa(exit.ExitCode())
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != args[0] {
		ts.Fatalf("exit status %s, want %s\nstdout:\n%s\nstderr:\n%s", got, args[0], ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

// makeRepo is `repo DIR`: commits everything in DIR as a repository's first
// commit on main.
func makeRepo(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: repo DIR")
	}
	dir := ts.MkAbs(args[0])
	for _, line := range [][]string{
		{"init", "-q", "-b", "main", dir}, {"-C", dir, "add", "-A"},
		{"-C", dir, "-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit", "-q", "-m", "start"},
	} {
		ts.Check(ts.Exec("git", line...))
	}
}
