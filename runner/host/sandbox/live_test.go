//go:build unix

package sandbox

import (
	"bufio"
	"io"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/runner/host/sandbox/confine"
)

func live(t *testing.T, line string) *Live {
	t.Helper()
	l, err := Start(Spec{Line: line, Dir: t.TempDir(), Env: env()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Stop)
	return l
}

func TestALiveProcessAnswers(t *testing.T) {
	t.Parallel()
	l := live(t, `echo ready >&2; while read x; do echo "got $x"; done; echo over >&2`)
	answers := bufio.NewReader(l.Stdout)
	for _, word := range []string{"a", "b"} {
		if _, err := io.WriteString(l.Stdin, word+"\n"); err != nil {
			t.Fatal(err)
		}
		if got, err := answers.ReadString('\n'); err != nil || got != "got "+word+"\n" {
			t.Errorf("got %q, %v", got, err)
		}
	}
	l.Stop()
	l.Stop()
	if got := l.Errors(); !strings.HasPrefix(got, "ready\n") {
		t.Errorf("standard error is %q", got)
	}
	select {
	case <-l.Done():
	default:
		t.Error("stopped and not done")
	}
}

func TestALiveProcessThatIsDeafIsKilled(t *testing.T) {
	t.Parallel()
	l := live(t, `trap '' TERM; echo up; exec 0</dev/null; while :; do sleep 300; done`)
	if _, err := bufio.NewReader(l.Stdout).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	l.Stop()
}

func TestALiveProcessThatEndsIsDone(t *testing.T) {
	t.Parallel()
	l := live(t, `echo no luck >&2; exit 3`)
	<-l.Done()
	if _, err := io.ReadAll(l.Stdout); err != nil {
		t.Error(err)
	}
	l.Stop()
	if got := l.Errors(); got != "no luck\n" {
		t.Errorf("standard error is %q", got)
	}
}

func TestALiveProcessMayBeConfined(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	policy := confine.Usual(env(), dir)
	l, err := Start(Spec{Line: "cat", Dir: dir, Env: env(), Confine: &policy})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Stop()
	if _, err := io.WriteString(l.Stdin, "x\n"); err != nil {
		t.Fatal(err)
	}
	if got, err := bufio.NewReader(l.Stdout).ReadString('\n'); err != nil || got != "x\n" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestStartRefusesWhatCannotRun(t *testing.T) {
	t.Parallel()
	if _, err := Start(Spec{Dir: t.TempDir(), Argv: []string{"no-such-program"}, Env: env()}); err == nil {
		t.Error("a program that is not there was started")
	}
}
