//go:build unix

package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain lets the test binary play the programs that the tests run.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "play" {
		play(os.Args[2], os.Args[3:])
	}
	os.Exit(m.Run())
}

// play is one of the programs.
func play(part string, args []string) {
	switch part {
	case "print": // a gigabyte, the word in the middle of it, and an end
		block := []byte(strings.Repeat(strings.Repeat("x", 63)+"\n", 1024))
		for i := range 1 << 14 {
			if i == 100 {
				_, _ = os.Stdout.WriteString("needle: it failed here\n")
			}
			_, _ = os.Stdout.Write(block)
		}
		_, _ = os.Stdout.WriteString("the end\n")
	case "reap":
		n, err := Reap(args[0])
		if err != nil {
			fmt.Println(err)
		}
		fmt.Println("reaped", n)
	case "pawl": // runs a command until it is killed itself
		_, _ = Run(context.Background(), Spec{Line: args[1], Dir: "/", Env: os.Environ(), RunID: args[0]})
	}
	os.Exit(0)
}

// self is the test binary.
func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func env() []string { return []string{"PATH=" + os.Getenv("PATH"), "HOME=/nowhere"} }

// sh runs a line in a fresh directory and expects it to be run.
func sh(t *testing.T, line string) Result {
	t.Helper()
	r, err := Run(t.Context(), Spec{Line: line, Dir: t.TempDir(), Env: env(), Timeout: time.Minute})
	if err != nil {
		t.Fatalf("Run(%q): %v", line, err)
	}
	return r
}

func TestRunReportsHowACommandEnded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line, out, err string
		exit           int
	}{
		{"true", "", "", 0},
		{"exit 7", "", "", 7},
		{"echo a; echo b >&2; exit 3", "a\n", "b\n", 3},
		{"kill -9 $$", "", "", 137},
		{"kill -TERM $$", "", "", 143},
		{"printf 'no newline'", "no newline", "", 0},
		{"cat; echo read", "read\n", "", 0}, // standard input is empty
		{"echo \"$PAWL_RUN_ID.\"", ".\n", "", 0},
		{"# nothing", "", "", 0},
	} {
		r := sh(t, c.line)
		if r.Exit != c.exit || r.Stdout.String() != c.out || r.Stderr.String() != c.err || r.TimedOut {
			t.Errorf("%q: exit %d, out %q, err %q, timed out %v; want %d, %q, %q, false",
				c.line, r.Exit, r.Stdout.String(), r.Stderr.String(), r.TimedOut, c.exit, c.out, c.err)
		}
	}
}

func TestCombinedKeepsTheOrderInWhichThePipesWereRead(t *testing.T) {
	t.Parallel()
	c, err := newCapture(&Spec{}, new(exec.Cmd))
	if err != nil {
		t.Fatal(err)
	}
	var ends [2]*os.File
	for i, w := range c.write {
		fd, err := syscall.Dup(int(w.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		ends[i] = os.NewFile(uintptr(fd), "")
	}
	c.begin()
	written := int64(0)
	for i, text := range []string{"one\n", "two\n", "three\n", "four\n"} {
		if _, err := ends[i%2].WriteString(text); err != nil {
			t.Fatal(err)
		}
		written += int64(len(text))
		for read := int64(0); read < written; runtime.Gosched() {
			c.mu.Lock()
			read = c.both.total
			c.mu.Unlock()
		}
	}
	_, _ = ends[0].Close(), ends[1].Close()
	stdout, stderr, both := c.finish()
	if both.String() != "one\ntwo\nthree\nfour\n" || stdout.String() != "one\nthree\n" || stderr.String() != "two\nfour\n" {
		t.Errorf("got %q, %q, combined %q", stdout.String(), stderr.String(), both.String())
	}
}

func TestRunRefusesWhatCannotRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		spec Spec
		want string
	}{
		"nothing":           {Spec{Dir: dir}, "either a command line or a program"},
		"both":              {Spec{Dir: dir, Line: "true", Argv: []string{"true"}}, "either a command line or a program"},
		"no directory":      {Spec{Dir: filepath.Join(dir, "gone"), Line: "true"}, "gone\" is not an absolute path of a directory"},
		"a file":            {Spec{Dir: file, Line: "true"}, "is not an absolute path of a directory"},
		"relative":          {Spec{Dir: ".", Line: "true"}, "is not an absolute path of a directory"},
		"no shell":          {Spec{Dir: dir, Line: "true", Shell: "/gone/sh"}, "/gone/sh"},
		"no program":        {Spec{Dir: dir, Argv: []string{"no-such-program"}, Env: env()}, `no program "no-such-program" in PATH`},
		"no PATH":           {Spec{Dir: dir, Argv: []string{"true"}}, `no program "true" in PATH ()`},
		"relative PATH":     {Spec{Dir: dir, Argv: []string{"file"}, Env: []string{"PATH=.:"}}, `no program "file" in PATH`},
		"not executable":    {Spec{Dir: dir, Argv: []string{"./file"}}, "permission denied"},
		"NUL":               {Spec{Dir: dir, Line: "echo \x00"}, "NUL byte"},
		"not a program":     {Spec{Dir: dir, Argv: []string{filepath.Dir(file)}}, dir},
		"directory missing": {Spec{Line: "true"}, "working directory \"\""},
	} {
		_, err := Run(t.Context(), c.spec)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q in it", name, err, c.want)
		}
	}
	_, err := Run(t.Context(), Spec{Dir: dir, Argv: []string{"no-such-program"}})
	if !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("a missing program is not exec.ErrNotFound: %v", err)
	}
}

// commandID is the variable that Linux processes are found by.
var commandID = regexp.MustCompile(`PAWL_COMMAND_ID=[0-9a-f]+\n`)

func TestRunPassesOnNothingButTheGivenEnvironment(t *testing.T) {
	t.Setenv("PAWL_TEST_LEAK", "secret")
	path, err := exec.LookPath("env")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		env  []string
		run  string
		want string
	}{
		{nil, "", ""},
		{nil, "r1", "PAWL_RUN_ID=r1\n"},
		{[]string{"A=1", "PAWL_RUN_ID=old"}, "r1", "A=1\nPAWL_RUN_ID=r1\n"},
	} {
		r, err := Run(t.Context(), Spec{Argv: []string{path}, Dir: "/", Env: c.env, RunID: c.run})
		got := commandID.ReplaceAllString(r.Stdout.String(), "")
		if err != nil || got != c.want {
			t.Errorf("env %q, run %q: got %q (%v), want %q", c.env, c.run, got, err, c.want)
		}
	}
}

func TestRunLeavesTheCallersEnvironmentAlone(t *testing.T) {
	t.Parallel()
	given := append(make([]string, 0, 8), env()...)
	spare := given[:cap(given)]
	if _, err := Run(t.Context(), Spec{Line: "true", Dir: "/", Env: given, RunID: "r"}); err != nil {
		t.Fatal(err)
	}
	if spare[len(given)] != "" {
		t.Errorf("wrote %q behind the caller's slice", spare[len(given)])
	}
}

func TestALineLongerThanAnArgumentRuns(t *testing.T) {
	t.Parallel()
	tmp, dir := t.TempDir(), t.TempDir()
	line := "cat <<'END' | wc -c\n" + strings.Repeat("0123456789\n", 30_000) + "END\nexit 5"
	r, err := Run(t.Context(), Spec{Line: line, Dir: dir, Env: append(env(), "TMPDIR="+tmp)})
	if err != nil || strings.TrimSpace(r.Stdout.String()) != "330000" || r.Exit != 5 {
		t.Errorf("out %q, exit %d, error %v", r.Stdout.String(), r.Exit, err)
	}
	if left, _ := os.ReadDir(tmp); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestATimeoutStopsTheGroup(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		line string
		exit []int
	}{
		"waits":            {"sleep 300", []int{143}},
		"prints for ever":  {"yes", []int{143}},
		"is deaf":          {"trap '' TERM; echo deaf; while :; do sleep 300; done", []int{137}},
		"cleans up":        {"trap 'echo cleaned; exit 9' TERM; echo waiting; sleep 300 & wait", []int{9}},
		"is stopped":       {"kill -STOP $$", []int{137, 143}},
		"waits for others": {"sh -c 'sleep 300' | cat", []int{143}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := Run(t.Context(), Spec{Line: c.line, Dir: "/", Env: env(), Timeout: 200 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			if !r.TimedOut || !slices.Contains(c.exit, r.Exit) {
				t.Errorf("timed out %v, exit %d; want true, %v", r.TimedOut, r.Exit, c.exit)
			}
			if r.Took < 200*time.Millisecond || r.Took > 10*time.Second {
				t.Errorf("took %v", r.Took)
			}
			if name == "cleans up" && r.Stdout.String() != "waiting\ncleaned\n" {
				t.Errorf("printed %q", r.Stdout.String())
			}
		})
	}
}

func TestACancelledCommandIsAnErrorAndKeepsItsOutput(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "fifo")
	mkfifo(t, fifo)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the user pressed Ctrl-C")
	go func() {
		_, _ = os.ReadFile(fifo) // returns when the command has printed
		cancel(why)
	}()
	r, err := Run(ctx, Spec{Line: "echo printed; : > " + fifo + "; sleep 300", Dir: "/", Env: env()})
	if !errors.Is(err, why) || r.Stdout.String() != "printed\n" || r.TimedOut {
		t.Errorf("error %v, out %q, timed out %v", err, r.Stdout.String(), r.TimedOut)
	}
	if _, err := Run(ctx, Spec{Line: "true", Dir: "/"}); !errors.Is(err, why) {
		t.Errorf("a cancelled context starts a command: %v", err)
	}
}

func mkfifo(t *testing.T, path string) {
	t.Helper()
	if out, err := exec.Command("mkfifo", path).CombinedOutput(); err != nil {
		t.Fatalf("mkfifo: %v %s", err, out)
	}
}

func TestAGigabyteRunsInConstantMemory(t *testing.T) {
	before := new(runtime.MemStats)
	runtime.ReadMemStats(before)
	r, err := Run(t.Context(), Spec{
		Argv: []string{self(t), "play", "print"}, Dir: "/", Timeout: 2 * time.Minute,
		Notable: func(line []byte) bool { return bytes.HasPrefix(line, []byte("needle")) },
	})
	after := new(runtime.MemStats)
	runtime.ReadMemStats(after)
	if err != nil || r.Exit != 0 {
		t.Fatalf("exit %d, error %v", r.Exit, err)
	}
	out := r.Stdout.String()
	if want := int64(1<<30 + len("needle: it failed here\n") + len("the end\n")); r.Stdout.Total != want {
		t.Errorf("counted %d bytes, want %d", r.Stdout.Total, want)
	}
	if !strings.HasPrefix(out, "xxx") || !strings.HasSuffix(out, "the end\n") || !strings.Contains(out, "\nneedle: it failed here\n") {
		t.Errorf("beginning, note or end is missing in %d bytes", len(out))
	}
	if len(out) > 3*DefaultCap {
		t.Errorf("kept %d bytes", len(out))
	}
	allocated := after.TotalAlloc - before.TotalAlloc
	t.Logf("1 GiB in %v, %d KiB allocated in all", r.Took, allocated>>10)
	if allocated > 64<<20 { // under the race detector, pools forget
		t.Errorf("allocated %d bytes", allocated)
	}
}

func TestManyCommandsAtOnce(t *testing.T) {
	t.Parallel()
	t.Run("group", func(t *testing.T) {
		for range 40 {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				if r := sh(t, "echo $$; seq 1 2000 >&2; exit 4"); r.Exit != 4 || !strings.HasSuffix(r.Stderr.String(), "\n2000\n") {
					t.Errorf("exit %d, %d bytes of errors", r.Exit, r.Stderr.Total)
				}
			})
		}
	})
}

func BenchmarkRun(b *testing.B) {
	env := env()
	for name, spec := range map[string]Spec{
		"true":    {Argv: []string{"/bin/true"}},
		"sh true": {Line: "/bin/true; :"},
	} {
		b.Run(name, func(b *testing.B) {
			spec.Dir, spec.Env, spec.RunID = "/", env, "bench"
			for b.Loop() {
				if _, err := Run(b.Context(), spec); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("plain exec true", func(b *testing.B) {
		for b.Loop() {
			cmd := exec.CommandContext(b.Context(), "/bin/true")
			cmd.Env = env
			if err := cmd.Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("plain exec sh true", func(b *testing.B) {
		for b.Loop() {
			cmd := exec.CommandContext(b.Context(), "/bin/sh", "-c", "/bin/true; :")
			cmd.Env = env
			if _, err := cmd.Output(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
