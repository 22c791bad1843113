package runner_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
	kit "github.com/pawl-ci/pawl/runner/runnertest"
)

// A model that may choose several edges makes a branch of each.
func TestModelChoosesSeveralEdges(t *testing.T) {
	t.Parallel()
	f := kit.NewFlow("several")
	f.Node("router", &ir.Route{Mode: ir.LLM, Multi: true, Call: &ir.Call{Model: ir.Literal("m")}})
	f.Node("join", &ir.Join{})
	for _, id := range []string{"docs", "code", "tests"} {
		f.Node(id, call(ir.Fresh, id))
		f.Edge("router", id).Edge(id, "join")
	}
	w := plain(f.Edge("join", "done"))
	world := kit.NewWorld(nil)
	var mu sync.Mutex
	asked := make(map[string]int)
	var schema string
	world.Answer = func(req *runner.ModelRequest) (*runner.ModelResponse, error) {
		mu.Lock()
		defer mu.Unlock()
		asked[req.Trace.Node]++
		if req.Trace.Node != "router" {
			return kit.Text("ok"), nil
		}
		schema = string(req.Schema)
		return kit.JSON([]map[string]any{
			{"reason": "r", "targets": []string{}}, {"reason": "both need it", "targets": []string{"tests", "docs"}},
		}[req.Trace.Turn-1]), nil
	}
	done(t, w, world)
	if fmt.Sprint(asked) != "map[docs:1 router:2 tests:1]" {
		t.Errorf("asked %v, want docs and tests once, after one repair", asked)
	}
	if got := finishedBy(t, world, "router"); !slices.Equal(got.Route, []int{0, 2}) || got.Reason != "both need it" {
		t.Errorf("route %v because %q, want edges 0 and 2", got.Route, got.Reason)
	}
	if !strings.Contains(schema, `"targets":{"type":"array","items":{"type":"string","enum":["docs","code","tests"]}}`) {
		t.Errorf("the schema is %s", schema)
	}
}

// Branches continue the conversation that was there before them, each for
// itself: neither hears the other, and the id still names what it named.
func TestBranchesInheritEachForThemselves(t *testing.T) {
	t.Parallel()
	f := kit.NewFlow("branches")
	f.Node("plan", call(ir.Fresh, "plan"))
	f.Node("fan", &ir.Route{Mode: ir.FanOutAll})
	f.Node("join", &ir.Join{})
	for _, id := range []string{"left", "right"} {
		f.Node(id, call(ir.Inherit, id))
		f.Node(id+"_again", call(ir.Inherit, id+" again"))
		f.Edge("fan", id).Edge(id, id+"_again").Edge(id+"_again", "join")
	}
	f.Node("after", call(ir.Inherit, "after"))
	f.Edge("plan", "fan").Edge("after", "done")
	f.Edge("join", "after", kit.With("_session_id", kit.Ref(ir.RootOutputs, "plan", "_session_id")))
	w := plain(f)
	world := kit.NewWorld(nil)
	var mu sync.Mutex
	heard := make(map[string]string)
	world.Answer = func(req *runner.ModelRequest) (*runner.ModelResponse, error) {
		var texts []string
		for _, m := range req.Messages {
			if m.Role == runner.User {
				texts = append(texts, m.Text)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		heard[req.Trace.Node] = strings.Join(texts, ", ")
		return kit.Text("ok"), nil
	}
	done(t, w, world)
	for node, want := range map[string]string{
		"left": "plan, left", "right": "plan, right", "left_again": "plan, left, left again", "right_again": "plan, right, right again", "after": "plan, after",
	} {
		if heard[node] != want {
			t.Errorf("%s heard %q, want %q", node, heard[node], want)
		}
	}
	ids := make(map[string]string)
	for _, e := range world.Events() {
		if b, ok := e.Body.(*event.NodeStarted); ok {
			ids[e.Node] = b.Session
		}
	}
	if ids["left"] != "left#1" || ids["left_again"] != "left#1" || ids["right_again"] != "right#1" || ids["after"] != "plan#1" {
		t.Errorf("the conversations are %v", ids)
	}
}
