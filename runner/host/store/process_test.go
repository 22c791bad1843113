package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/runner/event"
)

// workerDir is set in the environment of a process that plays the worker.
const workerDir = "PAWL_STORE_TEST_DIR"

// TestWorker is no test: in a process of its own it appends to the run until it
// is killed, and prints the number of each event once it is confirmed.
func TestWorker(t *testing.T) {
	dir := os.Getenv(workerDir)
	if dir == "" {
		t.Skip("played by TestKilledAtARandomMoment")
	}
	r, got, _, err := Open(dir, testRun)
	if err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
	events := story(testRun, 20_000)
	for at := len(got); at < len(events); {
		n := 1 + at%7
		content := []byte(fmt.Sprint("output of event ", at, strings.Repeat(" x", at%3000)))
		if err := r.Put(event.DigestOf(content), content); err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
		if err := r.Append(context.Background(), events[at:at+n]); err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
		at += n
		fmt.Println(at)
	}
}

// TestKilledAtARandomMoment kills a process that works on a run, again and again,
// each time in the middle of whatever it does after a while.
func TestKilledAtARandomMoment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r, err := Create(dir, testRun)
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	random := rand.New(rand.NewPCG(1, 2))
	for kill := range 15 {
		confirmed, pid := workUntilKilled(t, dir, 1+random.IntN(12))
		_, events, _, err := OpenRead(dir, testRun)
		if err != nil {
			t.Fatalf("kill %d: %v", kill, err)
		}
		if len(events) < confirmed {
			t.Fatalf("kill %d: %d events, %d were confirmed", kill, len(events), confirmed)
		}
		same(t, events, story(testRun, len(events)))
		if holder, live, err := Live(dir, testRun); live || err != nil {
			t.Fatalf("kill %d of %d: run is live in %d, error %v", kill, pid, holder, err)
		}
	}
}

// workUntilKilled runs a worker, and kills it behind so many confirmations. It
// returns the last one.
func workUntilKilled(t *testing.T, dir string, confirmations int) (confirmed, pid int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestWorker$")
	cmd.Env = append(os.Environ(), workerDir+"="+dir)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for n := 1; lines.Scan(); n++ {
		if n == 1 {
			var busy *BusyError
			if _, _, _, err := Open(dir, testRun); !errors.As(err, &busy) || busy.PID != cmd.Process.Pid {
				t.Errorf("Open beside the worker: %v, want process %d named", err, cmd.Process.Pid)
			}
		}
		if n == confirmations {
			if err := cmd.Process.Kill(); err != nil {
				t.Error(err)
			}
		}
		if confirmed, err = strconv.Atoi(lines.Text()); err != nil {
			t.Fatalf("the worker says %q", lines.Text())
		}
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the worker came to its end before it was killed")
	}
	return confirmed, cmd.Process.Pid
}

func TestReadWhileAppending(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := create1(t, dir, testRun)
	events := story(testRun, 1200)
	wrote := make(chan error, 1)
	go func() {
		for at := 0; at < len(events); {
			n := min(1+at%5, len(events)-at)
			if err := r.Append(context.Background(), events[at:at+n]); err != nil {
				wrote <- err
				return
			}
			at += n
		}
		wrote <- nil
	}()
	for last, ended := 0, false; !ended; {
		select {
		case err := <-wrote:
			if err != nil {
				t.Fatal(err)
			}
			ended = true
		default:
		}
		_, got, _, err := OpenRead(dir, testRun)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) < last || ended && len(got) != len(events) {
			t.Fatalf("%d events after %d", len(got), last)
		}
		last = len(got)
		same(t, got, events[:last])
		if list := listed(t, dir); last > 0 && (len(list) != 1 || list[0].Err != nil || int(list[0].Last.Seq) < last) {
			t.Fatalf("listed %+v behind event %d", list, last)
		}
	}
}
