package main

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/front"
)

// TestWorkflows runs the pattern files of testdata/workflows to their end: a real
// repository, a scripted model, and then what must be true of the record. Every
// pattern has a run; waiting names those whose engine part is not there yet.
func TestWorkflows(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("..", "..", "testdata", "workflows")
	patterns, err := filepath.Glob(filepath.Join(dir, "*.iter"))
	if err != nil || len(patterns) < 10 {
		t.Fatalf("%d patterns in %s: %v", len(patterns), dir, err)
	}
	var files []string
	for _, p := range patterns {
		name := strings.TrimSuffix(filepath.Base(p), ".iter")
		if reason, ok := waiting[name]; ok {
			t.Logf("%s is not run: %s", name, reason)
			continue
		}
		files = append(files, filepath.Join(dir, name+".txtar"))
	}
	testscript.Run(t, testscript.Params{
		Files:               files,
		Setup:               func(e *testscript.Env) error { return withPatterns(e, dir) },
		RequireExplicitExec: true,
		Condition:           condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": exitStatusIs, "repo": makeRepo, "final": finalIs, "path": pathIs,
			"output": outputIs, "artifact": artifactIs, "changed": changedIs,
		},
	})
}

// waiting are patterns that the engine cannot run to the end yet, and why.
var waiting = map[string]string{
	"parallel_writers": "branches that write share a worktree",
}

// withPatterns puts the pattern files beside the repositories of a script.
func withPatterns(e *testscript.Env, dir string) error {
	if err := surroundings(e); err != nil {
		return err
	}
	for _, pattern := range []string{"*.iter", "*.yaml", "*.json"} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return err
		}
		for _, f := range files {
			if err := exec.Command("cp", f, e.WorkDir).Run(); err != nil {
				return err
			}
		}
	}
	return nil
}

// recorded is one line of `pawl inspect --events --json`.
type recorded struct {
	Type string
	Node string
	Data struct {
		Output *struct{ Inline map[string]any }
		Source struct{ Inline json.RawMessage }
	}
}

// inspectNewest runs pawl inspect on the newest run of the script's directory.
func inspectNewest(ts *testscript.TestScript, args ...string) []byte {
	cmd := exec.Command("pawl", append([]string{"inspect", "--json"}, args...)...)
	cmd.Dir = ts.MkAbs(".")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		ts.Fatalf("inspect: %v\n%s", err, stderr.String())
	}
	return out
}

func record(ts *testscript.TestScript) []recorded {
	var events []recorded
	for line := range strings.Lines(string(inspectNewest(ts, "--events"))) {
		var e recorded
		ts.Check(json.Unmarshal([]byte(line), &e))
		events = append(events, e)
	}
	return events
}

// summary is what the tests read of `pawl inspect RUN --json`.
type summary struct {
	Status string
	Diff   struct {
		Files []struct{ Path string }
	}
}

// newest is the summary of the newest run.
func newest(ts *testscript.TestScript) (s summary) {
	var runs []struct {
		Run string `json:"run_id"`
	}
	ts.Check(json.Unmarshal(inspectNewest(ts), &runs))
	ts.Check(json.Unmarshal(inspectNewest(ts, runs[0].Run), &s))
	return s
}

// publishers are the nodes of the newest run's workflow that publish name.
func publishers(ts *testscript.TestScript, name string) []string {
	var nodes []string
	for _, e := range record(ts) {
		if e.Type != "RunStarted" {
			continue
		}
		var text string
		ts.Check(json.Unmarshal(e.Data.Source.Inline, &text))
		w, _ := front.Load(diag.NewFile("x.iter", text), front.Options{})
		for _, n := range w.Nodes {
			if n.Publish == name {
				nodes = append(nodes, n.ID)
			}
		}
	}
	return nodes
}

// finalIs is `final STATUS`: how the newest run ended.
func finalIs(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 1, "final STATUS")
	if got := newest(ts).Status; got != args[0] {
		ts.Fatalf("the run is %s, want %s", got, args[0])
	}
}

// pathIs is `path NODE {NODE NODE} …`: the executions of the newest run in order;
// those in braces ran side by side, in any order.
func pathIs(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, -1, "path NODE {NODE NODE} …")
	var got []string
	for _, e := range record(ts) {
		if e.Type == "NodeStarted" {
			got = append(got, e.Node)
		}
	}
	shown := strings.Join(got, " ")
	for _, group := range groups(args) {
		if len(got) < len(group) {
			ts.Fatalf("path %s, want %s", shown, strings.Join(args, " "))
		}
		have := slices.Sorted(slices.Values(got[:len(group)]))
		if !slices.Equal(have, slices.Sorted(slices.Values(group))) {
			ts.Fatalf("path %s, want %s", shown, strings.Join(args, " "))
		}
		got = got[len(group):]
	}
	if len(got) > 0 && !slices.Equal(got, []string{"done"}) && !slices.Equal(got, []string{"fail"}) {
		ts.Fatalf("path %s, want %s", shown, strings.Join(args, " "))
	}
}

// groups splits the arguments of path at its braces.
func groups(args []string) [][]string {
	var all [][]string
	open := false
	for _, a := range args {
		name := strings.Trim(a, "{}")
		if open {
			all[len(all)-1] = append(all[len(all)-1], name)
		} else {
			all = append(all, []string{name})
		}
		open = (open || strings.HasPrefix(a, "{")) && !strings.HasSuffix(a, "}")
	}
	return all
}

// outputIs is `output NODE FIELD VALUE`: a field of the node's last output.
func outputIs(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 3, "output NODE FIELD VALUE")
	fieldIs(ts, lastOutput(ts, args[0]), args)
}

// artifactIs is `artifact NAME FIELD VALUE`: a field of what a node published.
func artifactIs(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 3, "artifact NAME FIELD VALUE")
	fieldIs(ts, lastOutput(ts, publishers(ts, args[0])...), args)
}

func lastOutput(ts *testscript.TestScript, nodes ...string) (output map[string]any) {
	for _, e := range record(ts) {
		if e.Type == "NodeFinished" && slices.Contains(nodes, e.Node) && e.Data.Output != nil {
			output = e.Data.Output.Inline
		}
	}
	if output == nil {
		ts.Fatalf("none of %v has an output", nodes)
	}
	return output
}

func fieldIs(ts *testscript.TestScript, output map[string]any, args []string) {
	var value any = args[2]
	if _, text := output[args[1]].(string); !text {
		ts.Check(json.Unmarshal([]byte(args[2]), &value))
	}
	if got := output[args[1]]; !reflect.DeepEqual(got, value) {
		ts.Fatalf("%s.%s is %v, want %v; all of it: %v", args[0], args[1], got, value, output)
	}
}

// changedIs is `changed FILE …`: what the run's branch holds that its base does
// not, sorted.
func changedIs(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, -1, "changed FILE …")
	var got []string
	for _, f := range newest(ts).Diff.Files {
		got = append(got, f.Path)
	}
	slices.Sort(got)
	if !slices.Equal(got, args) && len(got)+len(args) > 0 {
		ts.Fatalf("changed %v, want %v", got, args)
	}
}

func want(ts *testscript.TestScript, neg bool, args []string, count int, usage string) {
	if neg || count >= 0 && len(args) != count {
		ts.Fatalf("usage: %s", usage)
	}
}
