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
)

// TestWorkflows runs the pattern files of testdata/workflows to their end: a real
// repository, a scripted model, and then what must be true of the record. Every
// pattern has a run; waiting names those whose engine part is not there yet.
func TestWorkflows(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("..", "..", "testdata", "workflows")
	var files []string
	for _, pattern := range []string{"*.iter", "large/*.iter"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(found) < 6 {
			t.Fatalf("%d files %s in %s: %v", len(found), pattern, dir, err)
		}
		if testing.Short() && strings.HasPrefix(pattern, "large") {
			continue
		}
		for _, f := range found {
			if reason, ok := waiting[strings.TrimSuffix(filepath.Base(f), ".iter")]; ok {
				t.Logf("%s is not run: %s", filepath.Base(f), reason)
				continue
			}
			files = append(files, strings.TrimSuffix(f, ".iter")+".txtar")
		}
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

// waiting are patterns that are not run to the end here, and why.
var waiting = map[string]string{
	"dual_model_plan_implement_review": "it wants an MCP server from npm, one at port 3000, and two agent programs that are logged in",
}

// withPatterns puts the pattern files beside the repositories of a script.
func withPatterns(e *testscript.Env, dir string) error {
	if err := surroundings(e); err != nil {
		return err
	}
	for _, pattern := range []string{"*.iter", "*.yaml", "*.json", "large/*.iter", "large/*.yaml"} {
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
	var output map[string]any
	for _, e := range record(ts) {
		if e.Type == "NodeFinished" && e.Node == args[0] && e.Data.Output != nil {
			output = e.Data.Output.Inline
		}
	}
	if output == nil {
		ts.Fatalf("%s has no output", args[0])
	}
	fieldIs(ts, output, args)
}

// artifactIs is `artifact NAME FIELD VALUE`: a field of the newest version of what
// was published under that name.
func artifactIs(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 3, "artifact NAME FIELD VALUE")
	var published []struct {
		Name  string
		Value map[string]any
	}
	ts.Check(json.Unmarshal(inspectNewest(ts, "--artifacts", "--full"), &published))
	var value map[string]any
	for _, a := range published {
		if a.Name == args[0] {
			value = a.Value
		}
	}
	if value == nil {
		ts.Fatalf("nothing was published as %s", args[0])
	}
	fieldIs(ts, value, args)
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
