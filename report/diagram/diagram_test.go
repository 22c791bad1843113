package diagram_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/report"
	"github.com/pawl-ci/pawl/report/diagram"
	"github.com/pawl-ci/pawl/report/reporttest"
	"github.com/pawl-ci/pawl/runner/lang/ir"
	"pgregory.net/rapid"
)

func TestBareWorkflow(t *testing.T) {
	t.Parallel()
	const want = `flowchart TD
  n0[["run_tests<br/>tool"]]
  n1["fixer<br/>agent"]
  n2{{"review<br/>judge"}}
  n3(["approve<br/>human"])
  n4(["done"])
  n5(["fail"])
  n0 -->|"passed"| n2
  n0 -->|"not passed · fix, at most 3"| n1
  n1 --> n0
  n2 -->|"approved"| n3
  n2 -->|"not approved · fix, at most 3"| n1
  n3 -->|"approved"| n4
  n3 -->|"not approved"| n5`
	if got := diagram.Mermaid(reporttest.CIFix(), report.Summary{}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestMarks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		h    reporttest.History
		want []string
	}{
		{reporttest.DoneAfterTwo(), []string{`fix, at most 3 · 2 times"| n1`, `n4(["done"]):::taken`, `n5(["fail"]):::idle`, "linkStyle 0,1,2,3,5 "}},
		{reporttest.ParkedAtGate(), []string{`human · waiting for a person"]):::now`, `n4(["done"]):::idle`}},
		{reporttest.FailedVerify(), []string{`n4(["done<br/>failed"]):::failed`, `n1["fixer<br/>agent"]:::idle`}},
		{reporttest.OutOfBudget(), []string{`agent · interrupted"]:::stopped`}},
		{reporttest.Interrupted(), []string{`n1["fixer<br/>interrupted"]:::stopped`, `n0 ==>|"fix"| n1`}},
	} {
		got := diagram.Mermaid(c.h.Workflow, c.h.Summary())
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s is missing in\n%s", c.h.Name, want, got)
			}
		}
	}
}

func TestNothingToDraw(t *testing.T) {
	t.Parallel()
	if got := diagram.Mermaid(nil, report.Summary{}); got != "" {
		t.Errorf("drew %q from nothing", got)
	}
}

func TestAnyNameIsALabel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(reporttest.Nasty), rapid.String()), 0, 5).Draw(t, "pieces"), "")
		})
		h := reporttest.HostileWith(func(int) string { return text.Draw(t, "text") })
		s := h.Summary()
		for _, w := range []*ir.Workflow{h.Workflow, nil} {
			if err := reporttest.CheckFlowchart(diagram.Mermaid(w, s)); err != nil {
				t.Fatal(err)
			}
		}
		if err := reporttest.CheckFlowchart(diagram.Mermaid(h.Workflow, report.Summary{})); err != nil {
			t.Fatal(err)
		}
	})
}

// TestKeywordsAsNames: names that are words of the language get numbers as ids.
func TestKeywordsAsNames(t *testing.T) {
	t.Parallel()
	r := reporttest.NewRecord("r").Start(reporttest.CIFix(), budget.Limits{})
	for _, name := range []string{"end", "graph", "subgraph", "style", "class", "click", "default", "x", "o"} {
		r.Enter(name).Take(name, name+"_", 0)
	}
	got := diagram.Mermaid(nil, report.Build(r.Events, nil, report.Extra{}))
	if err := reporttest.CheckFlowchart(got); err != nil || !strings.Contains(got, `n0["end<br/>`) {
		t.Errorf("%v in\n%s", err, got)
	}
}

// chain is a workflow of n nodes in a row.
func chain(n int) *ir.Workflow {
	w := &ir.Workflow{Name: "chain"}
	for i := range n {
		w.Nodes = append(w.Nodes, &ir.Node{ID: fmt.Sprintf("node_%d", i), Op: &ir.Compute{}})
	}
	for i := range n - 1 {
		w.Nodes[i].Edges = []*ir.Edge{{From: w.Nodes[i], To: w.Nodes[i+1]}}
	}
	w.Entry = w.Nodes[0]
	w.Seal()
	return w
}

// TestLargeGraphs: what a renderer refuses is not drawn whole, and not at all
// when even the way taken is too long.
func TestLargeGraphs(t *testing.T) {
	t.Parallel()
	walk := func(n int) report.Summary {
		r := reporttest.NewRecord("r")
		for i := range n {
			r.Enter(fmt.Sprintf("node_%d", i)).Take(fmt.Sprintf("node_%d", i), fmt.Sprintf("node_%d", i+1), 0)
		}
		return report.Build(r.Events, nil, report.Extra{})
	}
	small := diagram.Mermaid(chain(10_000), walk(3))
	if strings.Count(small, "==>") != 3 || strings.Contains(small, "node_9999") {
		t.Errorf("want only the way of 3 steps, got %d bytes", len(small))
	}
	if got := diagram.Mermaid(chain(10_000), walk(5000)); got != "" {
		t.Errorf("drew %d bytes that no renderer takes", len(got))
	}
	if got := diagram.Mermaid(chain(300), report.Summary{}); got == "" {
		t.Error("300 nodes are not too many")
	}
}
