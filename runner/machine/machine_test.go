package machine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
	"github.com/pawl-ci/pawl/runner/machine"
	kit "github.com/pawl-ci/pawl/runner/runnertest"
)

// history runs a workflow in a world and returns its record.
func history(t testing.TB, w *ir.Workflow, world *kit.World) []event.Event {
	t.Helper()
	first := &event.RunStarted{
		Workflow: w.Name, Inputs: event.Inline(json.RawMessage(`{"topic":"x"}`)), Source: event.Inline(json.RawMessage(`""`)),
		Limits: w.Limits, Base: world.Head(), Vars: json.RawMessage(`{"limit":2}`),
	}
	if err := runner.Run(context.Background(), machine.NewState(w), first, "r", world.Ports(), runner.Options{Prices: kit.Price()}); err != nil {
		t.Fatal(err)
	}
	return world.Events()
}

func fixWorld() *kit.World {
	w := kit.NewWorld(map[string]string{"bug.go": "broken"})
	w.Command = func(files map[string]string, _ string) runner.ShellResult {
		r := runner.ShellResult{Combined: files["bug.go"]}
		if files["bug.go"] != "fixed" {
			r.Exit = 1
		}
		return r
	}
	w.Answer = func(req *runner.ModelRequest) (*runner.ModelResponse, error) {
		if req.Trace.Turn == 1 {
			return kit.Use("t", "write_file", fmt.Sprintf(`{"path":"bug.go","content":%q}`, []string{"", "half", "fixed"}[req.Trace.Visit])), nil
		}
		return kit.JSON(map[string]any{"summary": "s"}), nil
	}
	w.Person = func(gates.Question) *gates.Answer {
		return &gates.Answer{Values: map[string]json.RawMessage{"approved": json.RawMessage("true")}}
	}
	return w
}

// TestHistoryIsWhatWasDecided folds a record event by event. Before each event
// that is a decision, the machine must say exactly that event; asking twice must
// not change the answer.
func TestHistoryIsWhatWasDecided(t *testing.T) {
	t.Parallel()
	w := kit.CIFix()
	s := machine.NewState(w)
	decided := 0
	for _, e := range history(t, w, fixWorld()) {
		if a, b := said(s.Next()), said(s.Next()); a != b {
			t.Fatalf("event %d: asked twice, the machine says\n%s\n%s", e.Seq, a, b)
		}
		for _, c := range s.Next() {
			r, ok := c.(machine.Record)
			if !ok {
				continue
			}
			if r.Node != e.Node || !reflect.DeepEqual(mustJSON(r.Body), mustJSON(e.Body)) {
				t.Fatalf("event %d: the record says %s, the machine %s", e.Seq, mustJSON(e.Body), mustJSON(r.Body))
			}
			decided++
		}
		if err := s.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	if decided < 10 || s.Status != machine.Finished {
		t.Errorf("%d decisions, status %s: the history is not the one meant", decided, s.Status)
	}
}

// said writes commands down; effects by their key.
func said(commands []machine.Command) string {
	var b strings.Builder
	for _, c := range commands {
		switch c := c.(type) {
		case machine.Record:
			fmt.Fprintf(&b, "%d %s %s\n", c.Token, c.Node, mustJSON(c.Body))
		case machine.CallModel:
			fmt.Fprintf(&b, "%s %s %q\n", c.Key, c.Model, c.Repair)
		case machine.CallTool:
			fmt.Fprintf(&b, "%s %+v\n", c.Key, c.Use)
		case machine.OpenGate:
			fmt.Fprintf(&b, "%s %s\n", c.Key, mustJSON(c.Question))
		default:
			fmt.Fprintf(&b, "%T\n", c)
		}
	}
	return b.String()
}

func mustJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// A record that lost or repeats an event, or that belongs to another workflow,
// is refused.
func TestApplyRefusesAnotherStory(t *testing.T) {
	t.Parallel()
	w := kit.CIFix()
	events := history(t, w, fixWorld())
	for i := range events {
		s := machine.NewState(w)
		var err error
		for j, e := range events {
			if j == i {
				continue
			}
			if err = s.Apply(e); err != nil {
				break
			}
		}
		if err == nil && i < len(events)-1 {
			t.Errorf("event %d is missing and nobody notices", i+1)
		}
	}
	other := kit.NewFlow("other")
	other.Node("only", &ir.Compute{})
	other.Edge("only", "done")
	s, refused := machine.NewState(other.Seal()), false
	for _, e := range events {
		refused = refused || s.Apply(e) != nil
	}
	if !refused {
		t.Error("the record of another workflow is accepted")
	}
}

func expr(t *testing.T, src string) *ir.Expr {
	t.Helper()
	e, err := ir.CompileExpr(src, ir.Workflow{}.Span)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// outcome runs a flow without effects and returns how it ended and the path.
func outcome(t *testing.T, f *kit.Flow) (*event.RunFinished, string) {
	t.Helper()
	w := f.Seal()
	w.Verify = ir.Verify{Mode: ir.VerifyNone}
	var path []string
	var end *event.RunFinished
	for _, e := range history(t, w, kit.NewWorld(nil)) {
		switch b := e.Body.(type) {
		case *event.NodeStarted:
			path = append(path, e.Node)
		case *event.RunFinished:
			end = b
		}
	}
	return end, strings.Join(path, " ")
}

func TestInnerLoopStartsAnewWithTheOuterOne(t *testing.T) {
	t.Parallel()
	f := kit.NewFlow("nested")
	for _, id := range []string{"a", "b", "c"} {
		f.Node(id, &ir.Compute{Fields: []ir.ComputeField{{Name: "n", Expr: expr(t, "loop.inner.iteration * 10 + loop.outer.iteration")}}})
	}
	f.Edge("a", "b").Edge("b", "b", kit.As("inner", 2)).Edge("b", "c").Edge("c", "a", kit.As("outer", 1)).Edge("c", "done")
	end, path := outcome(t, f)
	if want := "a b b b c a b b b c"; end == nil || end.Outcome != event.Done || path != want {
		t.Fatalf("outcome %+v, path %q", end, path)
	}
}

func TestEdgesConditionsRoundRobin(t *testing.T) {
	t.Parallel()
	f := kit.NewFlow("routes")
	f.Node("start", &ir.Compute{Fields: []ir.ComputeField{{Name: "big", Expr: expr(t, "vars.limit > 1")}}})
	f.Node("pick", &ir.Route{Mode: ir.Condition})
	f.Node("turn", &ir.Route{Mode: ir.RoundRobin})
	f.Node("left", &ir.Compute{})
	f.Node("right", &ir.Compute{})
	f.Edge("start", "pick")
	f.Edge("pick", "fail", kit.WhenNot("big")).Edge("pick", "turn", kit.When("big"))
	f.Edge("turn", "left").Edge("turn", "right")
	f.Edge("left", "turn", kit.As("again", 3)).Edge("left", "done")
	f.Edge("right", "turn", kit.As("again", 3)).Edge("right", "done")
	end, path := outcome(t, f)
	if want := "start pick turn left turn right turn left turn right"; end == nil || end.Outcome != event.Done || path != want {
		t.Errorf("outcome %+v, path %q, want %q", end, path, want)
	}
}

func TestHowRunsFail(t *testing.T) {
	t.Parallel()
	missing := kit.NewFlow("missing")
	missing.Node("a", &ir.Compute{})
	missing.Node("b", &ir.Compute{})
	missing.Edge("a", "b", kit.With("x", kit.Ref(ir.RootOutputs, "a", "gone"))).Edge("b", "done")
	noEdge := kit.NewFlow("noedge")
	noEdge.Node("a", &ir.Compute{Fields: []ir.ComputeField{{Name: "ok", Expr: expr(t, "false")}}})
	noEdge.Edge("a", "done", kit.When("ok"))
	toFail := kit.NewFlow("tofail")
	toFail.Node("a", &ir.Compute{Fields: []ir.ComputeField{{Name: "reason", Expr: expr(t, `"no luck"`)}}})
	toFail.Edge("a", "fail")
	misfit := kit.NewFlow("misfit")
	misfit.Node("a", &ir.Compute{Fields: []ir.ComputeField{{Name: "n", Expr: expr(t, `"many"`)}}})
	misfit.Node("b", &ir.Compute{}).In = &ir.Schema{Fields: []ir.Field{kit.Field("n", gates.Int)}}
	misfit.Edge("a", "b").Edge("b", "done")
	for _, c := range []struct {
		flow   *kit.Flow
		class  event.FailureClass
		detail string
	}{
		{missing, event.FailInput, `a: edge to b: with x: {{outputs.a.gone}}: the output of a has no field "gone"`},
		{noEdge, event.FailNoEdge, "a: no edge's condition holds"},
		{toFail, event.FailNode, "the path reached fail: no luck"},
		{misfit, event.FailInput, `b: input field "n": want int, got string "many"`},
	} {
		end, _ := outcome(t, c.flow)
		if end == nil || end.Outcome != event.Failed || end.Class != c.class || end.Detail != c.detail {
			t.Errorf("ended %+v, want %s %q", end, c.class, c.detail)
		}
	}
}

func TestIterationsAndWarnings(t *testing.T) {
	t.Parallel()
	f := kit.NewFlow("long").Limits(budget.Limits{MaxIterations: 10})
	f.Node("a", &ir.Compute{})
	f.Edge("a", "a", kit.As("l", 100)).Edge("a", "done")
	w := f.Seal()
	w.Verify.Mode = ir.VerifyNone
	var warned, stopped string
	visits := 0
	for _, e := range history(t, w, kit.NewWorld(nil)) {
		switch b := e.Body.(type) {
		case *event.NodeStarted:
			visits++
		case *event.BudgetWarned:
			warned += fmt.Sprintf("%s %s/%s at %d ", b.Limit, b.Used, b.Max, visits)
		case *event.RunStopped:
			stopped = b.Limit
		}
	}
	if visits != 10 || warned != "max_iterations 8/10 at 8 " || stopped != "max_iterations" {
		t.Errorf("%d visits, warned %q, stopped by %q", visits, warned, stopped)
	}
}

// Time between attempts is nobody's running time.
func TestElapsedLeavesParkedTimeOut(t *testing.T) {
	t.Parallel()
	w := kit.CIFix()
	s := machine.NewState(w)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	apply := func(after time.Duration, body event.Body) {
		at = at.Add(after)
		if err := s.Apply(event.Event{Seq: s.Seq + 1, Time: at, Body: body}); err != nil {
			t.Fatal(err)
		}
	}
	apply(0, &event.RunStarted{Inputs: event.Inline(json.RawMessage(`{}`))})
	apply(3*time.Second, &event.RunStopped{Reason: event.StopCancelled})
	apply(time.Hour, &event.RunResumed{Attempt: 2})
	apply(4*time.Second, &event.BudgetWarned{Limit: "x"})
	apply(time.Hour, &event.RunResumed{Attempt: 3}) // the second attempt died without a word
	apply(5*time.Second, &event.BudgetWarned{Limit: "y"})
	if s.Purse.Elapsed != 12*time.Second {
		t.Errorf("elapsed %s, want 12s", s.Purse.Elapsed)
	}
}

// BenchmarkStep is one step of the machine: ask, apply; in a chain and deep in a
// long loop. The cost must not grow with the history.
func BenchmarkStep(b *testing.B) {
	for _, visits := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("history of %d", visits), func(b *testing.B) {
			f := kit.NewFlow("loop")
			f.Node("a", &ir.Compute{})
			f.Edge("a", "a", kit.As("l", 1<<40)).Edge("a", "done")
			s := machine.NewState(f.Seal())
			next := event.Event{Seq: 1, Body: &event.RunStarted{Inputs: event.Inline(json.RawMessage(`{}`))}}
			step := func() {
				if err := s.Apply(next); err != nil {
					b.Fatal(err)
				}
				r := s.Next()[0].(machine.Record)
				next = event.Event{Seq: s.Seq + 1, Token: r.Token, Node: r.Node, Body: r.Body}
			}
			for range 3 * visits {
				step()
			}
			b.ReportAllocs()
			for b.Loop() {
				step()
			}
		})
	}
}
