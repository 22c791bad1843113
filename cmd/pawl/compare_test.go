package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/cmd/pawl/work"
	"github.com/pawl-ci/pawl/report"
	"github.com/pawl-ci/pawl/report/versus"
)

// trip cancels once two things have been written, one behind the other.
type trip struct {
	mu     sync.Mutex
	text   strings.Builder
	first  string
	then   string
	cancel context.CancelFunc
}

// Write implements io.Writer.
func (w *trip) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text.Write(p)
	if _, rest, found := strings.Cut(w.text.String(), w.first); found && strings.Contains(rest, w.then) && w.cancel != nil {
		w.cancel()
	}
	return len(p), nil
}

const comparedFlow = `agent worker:
  model: "m"

workflow flow:
  entry: worker
  verify: none
  worker -> done
`

// comparing calls pawl with --json in a repository with a workflow and three
// recipes, the second of which hangs with hangs.yaml.
func comparing(t *testing.T) func(ctx context.Context, want cli.ExitStatus, errOut *trip, args ...string) versus.Comparison {
	dir, _, err := work.MakeDemo(filepath.Join(t.TempDir(), "repo"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"flow.iter": comparedFlow, "a.yaml": "name: a\n", "b.yaml": "name: b\nmodels: {all: slow}\n", "c.yaml": "name: c\n",
		"hangs.yaml": "name: s\nexchanges:\n  - match: {model: slow}\n    reply: {error: {kind: hang}}\n  - reply: {text: done}\n",
		"quick.yaml": "name: s\nexchanges:\n  - reply: {text: done}\n",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return func(ctx context.Context, want cli.ExitStatus, errOut *trip, args ...string) (c versus.Comparison) {
		t.Helper()
		var out bytes.Buffer
		got := Main(ctx, append(args, "-C", dir, "--json"), strings.NewReader(""), &out, errOut, os.Environ())
		if got != int(want) {
			t.Fatalf("pawl %v: exit status %d, want %d\n%s%s", args, got, want, &out, &errOut.text)
		}
		if args[0] == "compare" {
			if err := json.Unmarshal(out.Bytes(), &c); err != nil {
				t.Fatalf("%v: %s", err, &out)
			}
		}
		return c
	}
}

var threeRecipes = []string{"compare", "flow.iter", "--recipe", "a.yaml", "--recipe", "b.yaml", "--recipe", "c.yaml", "--model-script", "hangs.yaml"}

// A comparison that is interrupted leaves a table of what there is, runs that can
// be resumed, and then a fuller table.
func TestInterruptedComparison(t *testing.T) {
	t.Parallel()
	pawl := comparing(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := pawl(ctx, cli.ExitStopped, &trip{first: "b: run 2 of 3", then: "started", cancel: cancel}, threeRecipes...)
	if c.Planned != 3 || c.Begun != 2 || c.Ended != 1 || c.Winner != "" || c.Recipes[0].Name != "a" {
		t.Fatalf("%+v", c)
	}
	stopped := c.Recipes[1].List[0]
	if stopped.Status != report.Stopped || stopped.Outcome.Class != "cancelled" {
		t.Fatalf("%+v", stopped)
	}
	pawl(t.Context(), cli.ExitDone, &trip{}, "resume", string(stopped.RunID), "--model-script", "quick.yaml")
	if c = pawl(t.Context(), cli.ExitDone, &trip{}, "compare", "--runs", c.ID); c.Begun != 2 || c.Ended != 2 || c.Planned != 3 || c.Recipes[2].Name != "c" {
		t.Errorf("%+v", c)
	}
}

// One that is interrupted before a run's first event does not count that run.
func TestComparisonInterruptedBetweenRuns(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := comparing(t)(ctx, cli.ExitStopped, &trip{first: "b: run 2 of 3", cancel: cancel}, threeRecipes...)
	if c.Planned != 3 || c.Begun != 1 || c.Ended != 1 || c.ID == "" || len(c.Recipes) != 3 {
		t.Errorf("%+v", c)
	}
}
