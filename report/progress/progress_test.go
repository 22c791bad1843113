package progress_test

import (
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/report/progress"
	"github.com/pawl-ci/pawl/report/reporttest"
)

// Every event of every history is at most one line, and none steers the terminal.
func TestOneLineForEachThing(t *testing.T) {
	t.Parallel()
	for _, h := range reporttest.Histories() {
		var b strings.Builder
		lines := progress.New(&b, false)
		lines.Begin("run-1", "pawl/x/run-1")
		for _, e := range h.Events {
			before := strings.Count(b.String(), "\n")
			lines.Show(e)
			if n := strings.Count(b.String(), "\n") - before; n > 1 {
				t.Errorf("%s: event %d is %d lines", h.Name, e.Seq, n)
			}
		}
		if strings.ContainsAny(b.String(), "\x1b\r\x07") {
			t.Errorf("%s: a text steers the terminal", h.Name)
		}
	}
}

func TestColour(t *testing.T) {
	t.Parallel()
	var plain, colored strings.Builder
	progress.New(&plain, false).Begin("r", "b")
	progress.New(&colored, true).Begin("r", "b")
	if !strings.HasPrefix(plain.String(), "· ") || !strings.HasSuffix(plain.String(), " run r on branch b\n") {
		t.Errorf("%q", plain.String())
	}
	if !strings.Contains(colored.String(), "\x1b[2m") || !strings.HasSuffix(colored.String(), " run r on branch b\n") {
		t.Errorf("%q", colored.String())
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	if got := progress.Plain("a\nb\x1b[31m" + strings.Repeat("x", 500)); strings.ContainsAny(got, "\n\x1b") || len([]rune(got)) > 161 {
		t.Errorf("%q", got)
	}
}
