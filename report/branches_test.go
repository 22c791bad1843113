package report_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/report"
	"github.com/pawl-ci/pawl/report/page"
	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/machine"
	kit "github.com/pawl-ci/pawl/runner/runnertest"
)

// TestBranchesAreTold folds parallel writers, with a conflict that an agent
// resolves: every step knows its branch, commits stand in the order in which they
// were merged, and the head is the run's own branch.
func TestBranchesAreTold(t *testing.T) {
	t.Parallel()
	flow, w := kit.Writers("mend"), kit.NewWorld(map[string]string{"shared.txt": "base"})
	w.Command = func(files map[string]string, line string) runner.ShellResult {
		if line != "look" {
			files[line] = "x"
		}
		return runner.ShellResult{Stdout: `{"text": "x"}`}
	}
	w.Answer = func(req *runner.ModelRequest) (*runner.ModelResponse, error) {
		if req.Trace.Turn == 1 {
			return kit.Use("t", "write_file", fmt.Sprintf(`{"path":"shared.txt","content":%q}`, req.Trace.Node)), nil
		}
		return kit.JSON(map[string]any{"text": "done"}), nil
	}
	w.Person = func(gates.Question) *gates.Answer {
		return &gates.Answer{Values: map[string]json.RawMessage{"approved": json.RawMessage("true")}, By: "ada", Via: "test"}
	}
	first := &event.RunStarted{Workflow: flow.Name, Inputs: event.Inline(json.RawMessage(`{}`)), Source: event.Inline(json.RawMessage(`""`)), Base: w.Head()}
	if err := runner.Run(context.Background(), machine.NewState(flow), first, "r", w.Ports(), runner.Options{Prices: kit.Price()}); err != nil {
		t.Fatal(err)
	}
	s := report.Build(w.Events(), flow, report.Extra{})
	if s.Status != report.Done || s.Head != w.Head() {
		t.Errorf("status %s, head %s, want done at %s", s.Status, s.Head, w.Head())
	}
	branches := make(map[string]string)
	for _, st := range s.Path {
		branches[st.Node] = st.Branch
		if st.Node == "outer" && (st.Merged != 3 || len(st.Joined) != 3 || !slices.Equal(st.Conflicts, []string{"shared.txt"})) {
			t.Errorf("the join: %+v", st)
		}
	}
	for node, want := range map[string]string{
		"split": "", "code": "code", "approve": "manual", "left": "again/left", "inner": "again", "outer": "", "mend": "", "judge": "",
	} {
		if branches[node] != want {
			t.Errorf("%s is in branch %q, want %q", node, branches[node], want)
		}
	}
	var made []string
	for _, c := range s.Commits {
		made = append(made, c.Node)
	}
	// The conflict is the second branch's; the third one is merged after it.
	if want := []string{"code", "manual", "mend", "left", "right"}; !slices.Equal(made, want) {
		t.Errorf("commits of %v, want %v", made, want)
	}
	if h := page.Headline(s); h == "" {
		t.Error("no headline")
	}
}
