package front_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/runner/lang/ir"
)

const parallel = `router all:
  mode: fan_out_all

tool a:
  command: "true"

tool b:
  command: "true"

agent mend:
  model: "m"

agent judge:
  model: "m"
  await: best_effort
  conflict: mend

workflow w:
  entry: all
  all -> a
  all -> b
  a -> judge
  b -> fail when failed
  b -> judge
  judge -> all as again(2)
  judge -> done
`

// await puts a join in front of its node: edges lead there, and one from there to
// the node. It is where the branches meet, although one of them may fail.
func TestAwaitIsAJoin(t *testing.T) {
	t.Parallel()
	w, list := load(parallel, nil)
	if list.HasErrors() {
		t.Fatal(list)
	}
	join := w.Node("judge@join")
	if join == nil || w.Node("all").Meets() != join || w.Node("a").Meets() != nil {
		t.Fatalf("the branches meet at %v", w.Node("all").Meets())
	}
	op := join.Op.(*ir.Join)
	if !op.BestEffort || w.Resolver(op) != w.Node("mend") {
		t.Errorf("the join is %+v", op)
	}
	var into []string
	for _, n := range w.Nodes {
		for _, e := range n.Edges {
			if e.To == join || e.To.ID == "judge" {
				into = append(into, n.ID+" "+e.To.ID)
			}
		}
	}
	if want := []string{"a judge@join", "b judge@join", "judge@join judge"}; !slices.Equal(into, want) {
		t.Errorf("edges %v, want %v", into, want)
	}
	if !w.InLoop(join) {
		t.Error("the join is not in the loop around its node")
	}
}

func TestConflictPolicies(t *testing.T) {
	t.Parallel()
	for policy, want := range map[string]string{"fail": ir.ConflictFails, "ask": ir.ConflictAsks, "mend": "mend"} {
		w, list := load(strings.ReplaceAll(parallel, "conflict: mend", "conflict: "+policy), nil)
		if list.HasErrors() || w.Node("judge@join").Op.(*ir.Join).Conflict != want {
			t.Errorf("conflict: %s: %v", policy, list)
		}
	}
	_, list := load(strings.ReplaceAll(parallel, "conflict: mend", "conflict: mind"), nil)
	if len(list) != 1 || list[0].Code != "C001" || !strings.Contains(list[0].Hint, "did you mean mend?") || list[0].Span.Text() != "mind" {
		t.Errorf("a policy that is none: %v", list)
	}
	_, list = load(strings.ReplaceAll(parallel, "  await: best_effort\n", ""), nil)
	if len(list) != 1 || list[0].Code != "P177" {
		t.Errorf("a policy without await: %v", list)
	}
}
