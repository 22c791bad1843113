package runner_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
	"github.com/pawl-ci/pawl/runner/machine"
	"github.com/pawl-ci/pawl/runner/replay"
	kit "github.com/pawl-ci/pawl/runner/runnertest"
)

// garden grows random workflows of blocks: steps, forks in the road, bounded
// loops and fan-outs, nested to any depth.
type garden struct {
	*rapid.T
	f     *kit.Flow
	steps []string // that exist so far
	n     int
}

// loose is an edge without its target yet.
type loose struct {
	from    string
	options []kit.EdgeOption
}

func (g *garden) name(prefix string) string {
	g.n++
	return fmt.Sprintf("%s%d", prefix, g.n)
}

func (g *garden) chance(label string, percent int) bool {
	return rapid.IntRange(0, 99).Draw(g.T, label) < percent
}

// step is a command that makes a number of its input.
func (g *garden) step() string {
	id := g.name("s")
	line := &ir.Template{Parts: []ir.Part{{Text: id + " "}, {Ref: &ir.Ref{Root: ir.RootInput, Path: []string{"v"}}}}}
	g.f.Node(id, &ir.Exec{Command: line, Readonly: true}, kit.Field("v", gates.Int), kit.Field("ok", gates.Bool))
	g.steps = append(g.steps, id)
	return id
}

// with now and then maps something onto an edge: the number of another node, and
// a key of the source's own.
func (g *garden) with(from string) []kit.EdgeOption {
	switch rapid.IntRange(0, 7).Draw(g.T, "with") {
	case 0:
		other := rapid.SampledFrom(g.steps).Draw(g.T, "other")
		return []kit.EdgeOption{kit.With("v", kit.Ref(ir.RootOutputs, other, "v"))}
	case 1, 2:
		return []kit.EdgeOption{kit.With("v", kit.Ref(ir.RootOutputs, from, "v")), kit.With("of_"+from, kit.Ref(ir.RootOutputs, from, "ok"))}
	}
	return nil
}

func (g *garden) connect(ends []loose, to string) {
	for _, e := range ends {
		g.f.Edge(e.from, to, append(e.options, g.with(e.from)...)...)
	}
}

// block grows one block and returns its first node and its loose ends.
func (g *garden) block(depth int) (string, []loose) {
	kind := rapid.IntRange(0, 9).Draw(g.T, "block")
	if depth == 0 {
		kind %= 3
	}
	switch kind {
	case 0, 1:
		id := g.step()
		return id, []loose{{from: id}}
	case 2:
		id := g.step()
		if g.chance("may fail", 30) {
			g.f.Edge(id, ir.FailID, kit.When("ok"))
		}
		return id, []loose{{from: id}}
	case 3, 4:
		return g.pair(depth)
	case 5:
		return g.parting(depth)
	case 6:
		return g.loop(depth)
	}
	return g.fanOut(depth)
}

func (g *garden) pair(depth int) (string, []loose) {
	first, ends := g.block(depth - 1)
	second, last := g.block(depth - 1)
	g.connect(ends, second)
	return first, last
}

// parting goes one of two ways.
func (g *garden) parting(depth int) (string, []loose) {
	var at string
	var left, right []kit.EdgeOption
	if g.chance("in turn", 30) {
		at = g.name("r")
		g.f.Node(at, &ir.Route{Mode: ir.RoundRobin})
	} else {
		at = g.step()
		left, right = []kit.EdgeOption{kit.When("ok")}, []kit.EdgeOption{kit.WhenNot("ok")}
	}
	a, endsA := g.block(depth - 1)
	b, endsB := g.block(depth - 1)
	g.f.Edge(at, a, left...).Edge(at, b, right...)
	return at, append(endsA, endsB...)
}

func (g *garden) loop(depth int) (string, []loose) {
	first, ends := g.block(depth - 1)
	at := g.step()
	g.connect(ends, at)
	most := rapid.IntRange(1, 3).Draw(g.T, "turns")
	g.f.Edge(at, first, kit.WhenNot("ok"), kit.As(g.name("l"), most))
	if g.chance("may be used up", 20) {
		return first, []loose{{at, []kit.EdgeOption{kit.When("ok")}}}
	}
	return first, []loose{{from: at}}
}

// fanOut grows branches that meet; now and then a branch forks again towards the
// same join.
func (g *garden) fanOut(depth int) (string, []loose) {
	at, join := g.name("f"), g.name("j")
	op := &ir.Join{BestEffort: g.chance("best effort", 60)}
	g.f.Node(at, &ir.Route{Mode: ir.FanOutAll})
	var heads []string
	for range rapid.IntRange(1, 3).Draw(g.T, "branches") {
		head, ends := g.block(depth - 1)
		g.f.Edge(at, head)
		heads = append(heads, head)
		if g.chance("forks again", 25) {
			again := g.name("f")
			g.f.Node(again, &ir.Route{Mode: ir.FanOutAll})
			g.connect(ends, again)
			ends = nil
			for range 2 {
				head, more := g.block(0)
				g.f.Edge(again, head)
				ends = append(ends, more...)
			}
		}
		g.f.Node(join, op)
		g.connect(ends, join)
	}
	if op.BestEffort && g.chance("requires", 30) {
		op.Require = []string{rapid.SampledFrom(heads).Draw(g.T, "required")}
	}
	return at, []loose{{from: join}}
}

// grow makes a whole workflow.
func grow(t *rapid.T) *ir.Workflow {
	g := &garden{T: t, f: kit.NewFlow("random")}
	first := g.step()
	head, ends := g.block(rapid.IntRange(1, 4).Draw(t, "depth"))
	g.f.Edge(first, head)
	last := g.step()
	g.connect(ends, last)
	g.f.Edge(last, ir.DoneID)
	w := g.f.Seal()
	w.Verify.Mode = ir.VerifyNone
	w.Limits.MaxParallelBranches = rapid.Int64Range(0, 3).Draw(t, "parallel")
	return w
}

// finish runs a workflow to its end, through every injected fault.
func finish(w *ir.Workflow, world *kit.World, input map[string]any) (*machine.State, error) {
	raw, err := ir.Encode(input)
	if err != nil {
		return nil, err
	}
	for range 6 {
		state := machine.NewState(w)
		for _, e := range world.Events() {
			if err := state.Apply(e); err != nil {
				return nil, err
			}
		}
		var first event.Body = &event.RunResumed{Attempt: state.Attempt + 1}
		switch state.Status {
		case machine.New:
			first = &event.RunStarted{Workflow: w.Name, Inputs: event.Inline(raw), Source: event.Inline(json.RawMessage(`""`)), Limits: w.Limits, Base: world.Head()}
		case machine.Finished:
			return state, nil
		}
		// An error is the injected fault; the next attempt goes on.
		_ = runner.Run(context.Background(), state, first, runID, world.Ports(), runner.Options{Prices: kit.Price()})
		world.Restart()
	}
	return nil, fmt.Errorf("no end after six attempts")
}

// TestEngineAgreesWithTheOracle runs random workflows with nested parallelism,
// loops and failing branches, with any number of branches at work and with a
// fault somewhere: the run must end as the oracle says, and every branch must
// have gone the same way and given the same values.
func TestEngineAgreesWithTheOracle(t *testing.T) {
	t.Parallel()
	rounds := 20 // of a hundred workflows each
	if testing.Short() {
		rounds = 2
	}
	seen := make(map[string]int)
	for range rounds {
		rapid.Check(t, func(t *rapid.T) { agree(t, seen) })
	}
	if seen["parallel"] < seen["all"]/10 || seen[string(event.Done)] < seen["all"]/10 {
		t.Errorf("the workflows are not the ones meant: %v", seen)
	}
}

// agree compares the engine with the oracle on one workflow.
func agree(t *rapid.T, seen map[string]int) {
	w := grow(t)
	input := map[string]any{"v": rapid.IntRange(0, 5000).Draw(t, "input")}
	want := interpret(w, input)
	world := kit.NewWorld(nil)
	world.Command = stepShell
	if rapid.Bool().Draw(t, "faulty") {
		world.Inject(rapid.IntRange(1, 60).Draw(t, "at"), rapid.SampledFrom(kit.Faults).Draw(t, "fault"))
	}
	if _, err := finish(w, world, input); err != nil {
		t.Fatal(err)
	}
	got, err := walked(w, world.Events())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := replay.Run(w, world.Events(), nil); err != nil {
		t.Fatalf("decided again: %v", err)
	}
	if got.outcome != want.outcome || got.class != want.class || !reflect.DeepEqual(got.trace, want.trace) {
		t.Fatalf("the engine: %s %s\n%v\nthe oracle: %s %s\n%v", got.outcome, got.class, got.trace, want.outcome, want.class, want.trace)
	}
	seen[string(got.outcome)+string(got.class)]++
	seen["all"]++
	if len(got.trace) > 2 {
		seen["parallel"]++
	}
}
