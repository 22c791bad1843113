package page_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/report"
	"github.com/pawl-ci/pawl/report/page"
	kit "github.com/pawl-ci/pawl/report/reporttest"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// TestSaysWhoDecided: a report tells models and people apart, and gives the
// reason of a router.
func TestSaysWhoDecided(t *testing.T) {
	t.Parallel()
	call := &ir.Call{Model: ir.Literal("m")}
	w := &ir.Workflow{Name: "w", Nodes: []*ir.Node{
		{ID: "router", Op: &ir.Route{Mode: ir.LLM, Call: call}}, {ID: "gate", Op: &ir.Ask{Mode: ir.AutoAnswer, Call: call}},
		{ID: "agent", Op: &ir.Call{Model: ir.Literal("m")}},
	}}
	w.Entry = w.Nodes[0]
	w.Nodes[0].Edges = []*ir.Edge{{From: w.Nodes[0], To: w.Nodes[1]}}
	w.Nodes[1].Edges = []*ir.Edge{{From: w.Nodes[1], To: w.Nodes[2]}}
	w.Seal()
	r := kit.NewRecord("r").Start(w, budget.Limits{})
	r.Enter("router").Add("router", &event.NodeFinished{Visit: 1, Output: kit.JSON(map[string]any{}), Route: []int{0}, Reason: "the change is small"})
	r.Take("router", "gate", 0).Enter("gate")
	r.Add("gate", &event.NodeFinished{Visit: 1, Output: kit.JSON(map[string]any{"approved": true}), By: "gpt-5"})
	r.Take("gate", "agent", 0).Enter("agent")
	r.Add("agent", &event.ModelCallStarted{Key: "1/agent/1/answer/1/1", Turn: 1, Attempt: 1, Model: "m", Question: "Which colour?", Cut: 4096})
	answer := kit.JSON(map[string]any{"answer": "blue"})
	r.Wait(time.Second).Add("agent", &event.ModelCallFinished{Key: "1/agent/1/answer/1/1", Model: "owner", Response: kit.JSON(map[string]any{}), Output: &answer})
	r.Add("agent", &event.NodeRetried{Visit: 1, Try: 1})
	s := report.Build(r.Events, w, report.Extra{})
	if len(s.Gates) != 2 || s.Gates[0].By != "gpt-5" || s.Gates[0].Via != report.ByModel || s.Gates[1].Text != "Which colour?" {
		t.Errorf("gates %+v", s.Gates)
	}
	var out strings.Builder
	if err := page.Markdown(&out, s, page.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"the change is small", "answered by model `gpt-5`", "in place of a person by model `owner`", "blue", "begun again 1 time", "4,096 bytes of tool results left out",
	} {
		if !strings.Contains(strings.ReplaceAll(out.String(), "\\", ""), want) {
			t.Errorf("the report does not say %q:\n%s", want, out.String())
		}
	}
}
