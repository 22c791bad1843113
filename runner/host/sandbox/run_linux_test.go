package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// alive reports whether a process runs; one that only waits to be collected does
// not.
func alive(pid int) bool {
	fd, ok := handle(pid)
	if ok {
		_ = os.NewFile(uintptr(fd), "").Close()
	}
	return ok
}

func pids(t *testing.T, text string) []int {
	t.Helper()
	var all []int
	for word := range strings.FieldsSeq(text) {
		pid, err := strconv.Atoi(word)
		if err != nil || pid < 2 {
			t.Fatalf("%q is not a list of processes", text)
		}
		all = append(all, pid)
	}
	if len(all) == 0 {
		t.Fatal("no processes were started")
	}
	return all
}

const (
	started = ` while ! [ -s pids ]; do :; done` // one process has said its number
)

// Each line starts processes, writes their numbers to a file and ends while they
// still run.
func TestNothingSurvivesACommand(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		line   string
		strays int
	}{
		"background":        {`sleep 300 & echo $! >>pids`, 0},
		"nohup":             {`nohup sleep 300 >/dev/null 2>&1 & echo $! >>pids`, 0},
		"deaf":              {`sh -c 'trap "" TERM HUP INT; echo $$ >>pids; while :; do sleep 300; done' &` + started, 0},
		"holds the output":  {`sh -c 'echo held; exec sleep 300' & echo $! >>pids`, 0},
		"job control":       {`bash -c 'set -m; sleep 300 & echo $! >>pids'`, 1},
		"own session":       {`setsid sh -c 'echo $$ >>pids; exec sleep 300' &` + started, 1},
		"silent daemon":     {`setsid sh -c 'echo $$ >>pids; exec sleep 300' >/dev/null 2>&1 </dev/null &` + started, 1},
		"no environment":    {`env -i setsid /bin/sh -c 'echo $$ >>pids; exec /bin/sleep 300' &` + started, 1},
		"daemon's children": {`setsid sh -c 'sleep 300 & sleep 301 & echo $$ $! >>pids; wait' &` + started, 3},
		"keeps on starting": {`setsid sh -c 'while :; do setsid sleep 300 & echo $! >>pids; done' &
			while [ "$(wc -l <pids || echo 0)" -lt 20 ]; do :; done 2>/dev/null`, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			r, err := Run(t.Context(), Spec{Line: c.line, Dir: dir, Env: env(), Timeout: 20 * time.Second})
			if err != nil || r.TimedOut {
				t.Fatalf("error %v, timed out %v", err, r.TimedOut)
			}
			text, err := os.ReadFile(filepath.Join(dir, "pids"))
			if err != nil {
				t.Fatal(err)
			}
			for _, pid := range pids(t, string(text)) {
				if alive(pid) {
					t.Errorf("process %d survived", pid)
				}
			}
			if c.strays >= 0 && r.Strays != c.strays || c.strays < 0 && r.Strays < 20 {
				t.Errorf("%d strays, want %d", r.Strays, c.strays)
			}
			if r.Took > 5*time.Second {
				t.Errorf("took %v", r.Took)
			}
		})
	}
}

func TestACommandDoesNotTouchTheDaemonsOfAnother(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	mkfifo(t, fifo)
	done := make(chan Result)
	go func() {
		r, _ := Run(t.Context(), Spec{Dir: dir, Env: env(), RunID: "same", Timeout: 20 * time.Second,
			Line: `setsid sleep 300 & echo $! >pid; echo up >fifo; read go <fifo; kill -0 $! && echo lives`})
		done <- r
	}()
	if _, err := os.ReadFile(fifo); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := Run(t.Context(), Spec{Dir: dir, Env: env(), RunID: "same", Line: "setsid true; :"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(fifo, []byte("go\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := <-done; r.Stdout.String() != "lives\n" {
		t.Errorf("the other command's daemon was killed: %q %q", r.Stdout.String(), r.Stderr.String())
	}
}

func TestNoTerminalNoCores(t *testing.T) {
	t.Parallel()
	r := sh(t, `(: </dev/tty) 2>/dev/null && echo terminal; ulimit -c; ulimit -Hc; ps -o pgid=,sid= -p $$ | tr -s ' '; echo $$`)
	lines := strings.Split(strings.TrimSpace(r.Stdout.String()), "\n")
	if len(lines) != 4 {
		t.Fatalf("got %q, %q", r.Stdout.String(), r.Stderr.String())
	}
	if lines[0] != "0" || lines[1] != "0" {
		t.Errorf("core limits are %s and %s", lines[0], lines[1])
	}
	if ids := strings.Fields(lines[2]); len(ids) != 2 || ids[0] != lines[3] || ids[1] != lines[3] {
		t.Errorf("group and session are %q, the process is %s", lines[2], lines[3])
	}
}

// TestReapFindsOrphans kills a pawl that is in the middle of a command.
func TestReapFindsOrphans(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	mkfifo(t, fifo)
	run := "reap-" + t.Name()
	line := `sleep 300 & a=$!; setsid sleep 301 & b=$!; env -i /bin/sleep 302 & c=$!
		echo $$ $a $b $c >` + fifo + `; wait`
	pawl := exec.Command(self(t), "play", "pawl", run, line)
	if err := pawl.Start(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(fifo)
	if err != nil {
		t.Fatal(err)
	}
	all := pids(t, string(text))
	leader, _ := handle(all[0])
	if err := pawl.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = pawl.Wait()
	if awaitEnd(pollable(leader), time.Now().Add(5*time.Second)) != 1 {
		t.Error("the command's shell outlived pawl")
	}
	for _, pid := range all[1:] {
		if !alive(pid) {
			t.Fatalf("process %d is gone before it was reaped", pid)
		}
	}
	if n, err := Reap(run + "-other"); n != 0 || err != nil {
		t.Errorf("reaping another run killed %d (%v)", n, err)
	}
	if n, err := Reap(run); n < 2 || err != nil { // two are in one group
		t.Errorf("reaped %d (%v), want 2 or 3", n, err)
	}
	for _, pid := range all {
		if alive(pid) {
			t.Errorf("process %d is still there", pid)
		}
	}
	if n, err := Reap(run); n != 0 || err != nil {
		t.Errorf("reaped %d again (%v)", n, err)
	}
	if _, err := Reap(""); err == nil {
		t.Error("reaping no run is no error")
	}
}

// TestReapSparesUsAndOurAncestors lets a command of a run reap that very run.
func TestReapSparesUsAndOurAncestors(t *testing.T) {
	t.Parallel()
	run := "reap-" + t.Name()
	line := `sleep 300 & "` + self(t) + `" play reap ` + run + `; echo exit $?; wait $!; echo sibling $?`
	r, err := Run(t.Context(), Spec{Line: line, Dir: "/", Env: env(), RunID: run, Timeout: 20 * time.Second})
	if err != nil || r.Stdout.String() != "reaped 1\nexit 0\nsibling 137\n" {
		t.Errorf("got %q, %q, error %v", r.Stdout.String(), r.Stderr.String(), err)
	}
	if parent(os.Getpid()) != os.Getppid() || parent(1<<30) != 0 {
		t.Errorf("parent is %d, want %d", parent(os.Getpid()), os.Getppid())
	}
}

func TestProcessesAreSearchedFromTheLeaderOn(t *testing.T) {
	t.Parallel()
	me := os.Getpid()
	if few := between(me-1, me+1, 0); !slices.Equal(few, []int{me, me + 1}) {
		t.Errorf("a few numbers: %v", few)
	}
	if none := between(me, me, 0); len(none) != 0 {
		t.Errorf("after the newest: %v", none)
	}
	if all := between(me-1, me+fewProcesses+1, 0); !slices.Contains(all, me) || slices.Contains(all, 1) {
		t.Errorf("from us on: %v", all)
	}
	if all := between(me+1, me, 0); !slices.Contains(all, me) || !slices.Contains(all, 1) {
		t.Errorf("after the numbers have wrapped: %v", all)
	}
	if all := between(me, me, time.Minute); !slices.Contains(all, me) || !slices.Contains(all, 1) {
		t.Errorf("after a long time: %v", all)
	}
	if newest := newestProcess(); newest < 1 {
		t.Errorf("the newest process has the number %d", newest)
	}
}

func TestEnforcedNamesWhatTheTestsProve(t *testing.T) {
	t.Parallel()
	want := []string{"no inherited environment", "no terminal", "process group killed at the end",
		"killed when pawl dies", "bounded output", "no core dumps", "daemons found and killed"}
	if got := Enforced(); !slices.Equal(got, want) {
		t.Errorf("Enforced() = %q, want %q", got, want)
	}
}

// TestRunWithoutATrace runs as on a system that lets nobody trace.
func TestRunWithoutATrace(t *testing.T) {
	traceable.Store(false)
	defer traceable.Store(true)
	if r := sh(t, `echo runs; exit 3`); r.Exit != 3 || r.Stdout.String() != "runs\n" {
		t.Errorf("exit %d, out %q", r.Exit, r.Stdout.String())
	}
}

// TestAStartThatTheTraceIsRefusedForIsTriedAgain starts a command a second time.
func TestAStartThatTheTraceIsRefusedForIsTriedAgain(t *testing.T) {
	t.Parallel()
	first := exec.Command("/bin/sh", "-c", "echo $A; pwd")
	first.Env, first.Dir = []string{"A=1"}, "/"
	first.Err = os.ErrPermission // an exec.Cmd that has failed stays failed
	second := again(first)
	out, err := second.Output()
	if err != nil || string(out) != "1\n/\n" {
		t.Errorf("got %q, %v", out, err)
	}
}
