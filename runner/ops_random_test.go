package runner_test

import (
	"fmt"
	"hash/fnv"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
	kit "github.com/pawl-ci/pawl/runner/runnertest"
)

// talkers grows a chain of agents with random sessions, some of them in bounded
// loops, some as two branches that meet.
func talkers(t *rapid.T) *ir.Workflow {
	f := kit.NewFlow("talkers")
	sessions := []ir.Session{ir.Fresh, ir.Inherit, ir.Inherit, ir.Fork, ir.ArtifactsOnly}
	agent := func(id string) {
		op := call(rapid.SampledFrom(sessions).Draw(t, "session"), "do "+id)
		if rapid.Bool().Draw(t, "told") {
			op.System = ir.Literal("You are " + id)
		}
		op.Tools = []ir.ToolRef{{Name: "read_file"}}
		f.Node(id, op, kit.Field("again", gates.Bool)).Publish = id
	}
	n := rapid.IntRange(1, 5).Draw(t, "nodes")
	agent("n0")
	last := "n0"
	for i := 1; i < n; i++ {
		id := fmt.Sprintf("n%d", i)
		if rapid.IntRange(0, 3).Draw(t, "fork") == 0 {
			fan, join := id+"fan", id+"join"
			f.Node(fan, &ir.Route{Mode: ir.FanOutAll})
			f.Node(join, &ir.Join{})
			f.Edge(last, fan)
			for _, side := range []string{"l", "r"} {
				agent(id + side)
				f.Edge(fan, id+side).Edge(id+side, join)
			}
			last = join
			continue
		}
		agent(id)
		f.Edge(last, id)
		if rapid.Bool().Draw(t, "loop") {
			f.Edge(id, id, kit.When("again"), kit.As("again"+id, rapid.IntRange(1, 3).Draw(t, "most")))
		}
		last = id
	}
	return plain(f.Edge(last, "done"))
}

// babble answers by chance, and always the same to the same question: sometimes
// with a tool, sometimes with nonsense first.
func babble(req *runner.ModelRequest) *runner.ModelResponse {
	h := fnv.New32a()
	fmt.Fprint(h, req.Trace.Node, req.Trace.Visit, req.Trace.Turn)
	switch n := h.Sum32() % 7; {
	case n == 0 && req.Trace.Turn < 3:
		return kit.Use(fmt.Sprint("t", req.Trace.Visit, req.Trace.Turn), "read_file", `{"path":"a"}`)
	case n == 1 && req.Trace.Turn == 1:
		return kit.Text("nonsense")
	default:
		return kit.JSON(map[string]any{"again": n > 3})
	}
}

// TestConversationsOnlyGrow: whatever the sessions, the loops, the branches and
// the crash in the middle, a request begins with every byte of the one that its
// conversation saw before, and a resumed run asks what the undisturbed one asked.
func TestConversationsOnlyGrow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		w := talkers(r)
		want, world := converse(t, w, 0)
		sane(r, want, world.Events())
		crash := rapid.IntRange(1, world.Operations()).Draw(r, "crash")
		got, world := converse(t, w, crash)
		sane(r, got, world.Events())
		for at, req := range got {
			if fmt.Sprintf("%#v", req.Messages) != fmt.Sprintf("%#v", want[at].Messages) {
				r.Fatalf("%s asks differently after a crash:\n%+v\n%+v", at, req.Messages, want[at].Messages)
			}
		}
	})
}

// converse runs w to its end, with a crash after an operation when n is not 0,
// and returns the last request of each turn.
func converse(t *testing.T, w *ir.Workflow, n int) (map[string]*runner.ModelRequest, *kit.World) {
	world := kit.NewWorld(map[string]string{"a": "content"})
	asked := make(map[string]*runner.ModelRequest)
	var mu sync.Mutex
	world.Answer = func(req *runner.ModelRequest) (*runner.ModelResponse, error) {
		mu.Lock()
		defer mu.Unlock()
		asked[fmt.Sprintf("%s#%d.%d", req.Trace.Node, req.Trace.Visit, req.Trace.Turn)] = req
		return babble(req), nil
	}
	world.Inject(n, kit.CrashAfter)
	for range 3 {
		if s, err := attempt(t, w, world); err == nil && s.Outcome != nil {
			break
		}
		world.Restart()
	}
	return asked, world
}

// sane checks every turn against the one before it, and the first turn of a visit
// against the last one of the visit that it continues.
func sane(t *rapid.T, asked map[string]*runner.ModelRequest, events []event.Event) {
	turns := make(map[string]int)
	for at := range asked {
		visit, turn, _ := strings.Cut(at, ".")
		var n int
		fmt.Sscan(turn, &n)
		turns[visit] = max(turns[visit], n)
	}
	last := func(visit string) *runner.ModelRequest { return asked[fmt.Sprintf("%s.%d", visit, turns[visit])] }
	for visit, n := range turns {
		for i := 2; i <= n; i++ {
			if a, b := asked[fmt.Sprintf("%s.%d", visit, i-1)], asked[fmt.Sprintf("%s.%d", visit, i)]; !extends(a, b) {
				t.Fatalf("turn %d of %s does not extend the one before", i, visit)
			}
		}
	}
	for _, e := range events {
		b, ok := e.Body.(*event.NodeStarted)
		if !ok || b.Continues == "" {
			continue
		}
		visit := fmt.Sprintf("%s#%d", e.Node, b.Visit)
		if first := asked[visit+".1"]; first == nil || !extends(last(b.Continues), first) {
			t.Fatalf("%s does not extend %s, which it continues", visit, b.Continues)
		}
	}
}
