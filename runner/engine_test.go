package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
	"github.com/pawl-ci/pawl/runner/machine"
	"github.com/pawl-ci/pawl/runner/replay"
	kit "github.com/pawl-ci/pawl/runner/runnertest"
)

const runID event.RunID = "r1"

// fixWorld is a repository whose test passes once bug.go says "fixed"; the
// scripted agent needs two rounds to get there.
func fixWorld() *kit.World {
	w := kit.NewWorld(map[string]string{"bug.go": "broken"})
	w.Command = func(files map[string]string, _ string) runner.ShellResult {
		if files["bug.go"] == "fixed" {
			return runner.ShellResult{Stdout: "ok", Combined: "ok"}
		}
		return runner.ShellResult{Stdout: "FAIL", Combined: "FAIL " + files["bug.go"], Exit: 1}
	}
	w.Passes = func(files map[string]string) bool { return files["bug.go"] == "fixed" }
	w.Answer = func(req *runner.ModelRequest) (*runner.ModelResponse, error) {
		content := "half"
		if req.Trace.Visit == 2 {
			content = "fixed"
		}
		switch req.Trace.Turn {
		case 1:
			return kit.Use("t1", "read_file", `{"path":"bug.go"}`), nil
		case 2:
			return kit.Use("t2", "write_file", fmt.Sprintf(`{"path":"bug.go","content":%q}`, content)), nil
		}
		return kit.JSON(map[string]any{"summary": "wrote " + content}), nil
	}
	w.Person = func(gates.Question) *gates.Answer {
		return &gates.Answer{Values: map[string]json.RawMessage{"approved": json.RawMessage("true")}, By: "ada", Via: "test"}
	}
	return w
}

func started(w *ir.Workflow, world *kit.World) *event.RunStarted {
	return &event.RunStarted{
		Workflow: w.Name, Digest: event.Digest(w.Digest()), Inputs: event.Inline(json.RawMessage(`{}`)),
		Source: event.Inline(json.RawMessage(`""`)), Limits: w.Limits, Base: world.Head(), Branch: "pawl/x/r1",
	}
}

func fold(t *testing.T, w *ir.Workflow, events []event.Event) *machine.State {
	t.Helper()
	s := machine.NewState(w)
	for _, e := range events {
		if err := s.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := replay.Run(w, events, nil); err != nil {
		t.Errorf("the record is not what the machine decides: %v", err)
	}
	return s
}

// attempt runs or resumes, whatever the record says is next.
func attempt(t *testing.T, w *ir.Workflow, world *kit.World) (*machine.State, error) {
	t.Helper()
	return run(t, w, world, runner.Options{Prices: kit.Price()})
}

func run(t *testing.T, w *ir.Workflow, world *kit.World, opts runner.Options) (*machine.State, error) {
	t.Helper()
	state := fold(t, w, world.Events())
	var first event.Body = &event.RunResumed{Attempt: state.Attempt + 1}
	switch state.Status {
	case machine.New:
		first = started(w, world)
	case machine.Finished:
		return state, nil
	}
	err := runner.Run(context.Background(), state, first, runID, world.Ports(), opts)
	return fold(t, w, world.Events()), err
}

func TestFixLoopEndsDone(t *testing.T) {
	t.Parallel()
	w, world := kit.CIFix(), fixWorld()
	s, err := attempt(t, w, world)
	if err != nil {
		t.Fatal(err)
	}
	if s.Outcome == nil || s.Outcome.Outcome != event.Done {
		t.Fatalf("outcome %+v, stop %+v, want done", s.Outcome, s.Stop)
	}
	if got := world.Files(); got["bug.go"] != "fixed" || got["coverage.out"] != "" {
		t.Errorf("branch holds %v: want the fix, and nothing that the tests dropped", got)
	}
	if got := world.Calls(); got != 6 {
		t.Errorf("%d model calls, want 2 visits of 3 turns", got)
	}
	if got := s.Purse.Spent; got.Input != 600 || got.Output != 60 || got.Calls != 6 {
		t.Errorf("spent %+v, want 6 calls of 100 and 10 tokens", got)
	}
	if s.Outcome.Head != world.Head() {
		t.Errorf("record names head %s, the branch is at %s", s.Outcome.Head, world.Head())
	}
}

// Nodes that follow each other have conversations of their own, also where both
// run for the first time.
func TestEachNodeIsAskedItsOwnQuestion(t *testing.T) {
	t.Parallel()
	f := kit.NewFlow("two")
	for _, id := range []string{"first", "second"} {
		f.Node(id, &ir.Call{Model: ir.Literal("m"), Session: ir.Fresh, User: ir.Literal("question of " + id)})
	}
	w := f.Edge("first", "second").Edge("second", "done").Seal()
	world := kit.NewWorld(nil)
	world.Answer = func(req *runner.ModelRequest) (*runner.ModelResponse, error) {
		if got, want := req.Messages[len(req.Messages)-1].Text, "question of "+req.Trace.Node; got != want {
			t.Errorf("%s is asked %q, want %q", req.Trace.Node, got, want)
		}
		return kit.Text("yes"), nil
	}
	if state, err := attempt(t, w, world); err != nil || state.Outcome == nil || state.Outcome.Outcome != event.Done {
		t.Fatalf("outcome %+v, error %v, want done", state.Outcome, err)
	}
}

func TestParksAndResumes(t *testing.T) {
	t.Parallel()
	w, world := kit.CIFix(), fixWorld()
	yes := world.Person
	world.Person = nil
	s, err := attempt(t, w, world)
	if err != nil || s.Status != machine.Parked {
		t.Fatalf("status %s, error %v, want parked", s.Status, err)
	}
	calls := world.Calls()
	s, err = attempt(t, w, world)
	if err != nil || s.Status != machine.Parked {
		t.Fatalf("resumed without an answer: status %s, error %v, want parked again", s.Status, err)
	}
	world.Person = yes
	s, err = attempt(t, w, world)
	if err != nil || s.Outcome == nil || s.Outcome.Outcome != event.Done {
		t.Fatalf("outcome %+v, error %v, want done", s.Outcome, err)
	}
	if world.Calls() != calls {
		t.Errorf("%d model calls after the gate, want none", world.Calls()-calls)
	}
}

func TestMisfitAnswerKeepsTheGateOpen(t *testing.T) {
	t.Parallel()
	w, world := kit.CIFix(), fixWorld()
	world.Person = func(gates.Question) *gates.Answer {
		return &gates.Answer{Values: map[string]json.RawMessage{"approved": json.RawMessage(`"perhaps"`)}}
	}
	s, err := attempt(t, w, world)
	var bad *runner.AnswerError
	if !errors.As(err, &bad) || !strings.Contains(bad.Problem, "approved") {
		t.Errorf("error %v, want an AnswerError that names the field", err)
	}
	if s.Status != machine.Parked {
		t.Errorf("status %s, want parked", s.Status)
	}
}

func TestLoopExhausted(t *testing.T) {
	t.Parallel()
	w, world := kit.CIFix(), fixWorld()
	world.Answer = func(*runner.ModelRequest) (*runner.ModelResponse, error) {
		return kit.JSON(map[string]any{"summary": "did nothing"}), nil
	}
	s, err := attempt(t, w, world)
	if err != nil || s.Outcome == nil || s.Outcome.Class != event.FailLoopExhausted {
		t.Fatalf("outcome %+v, error %v, want loop_exhausted", s.Outcome, err)
	}
	if world.Calls() != 3 || !strings.Contains(s.Outcome.Detail, "fix(3)") || !strings.Contains(s.Outcome.Detail, "run_tests") {
		t.Errorf("%d calls, detail %q: want 3, naming loop, bound and node", world.Calls(), s.Outcome.Detail)
	}
}

func TestRepairRound(t *testing.T) {
	t.Parallel()
	w, world := kit.CIFix(), fixWorld()
	var told []string
	world.Answer = func(req *runner.ModelRequest) (*runner.ModelResponse, error) {
		told = append(told, req.Messages[len(req.Messages)-1].Text)
		return kit.Text(`{"summary": 7}`), nil
	}
	s, err := attempt(t, w, world)
	if err != nil || s.Outcome == nil || s.Outcome.Class != event.FailOutput {
		t.Fatalf("outcome %+v, error %v, want bad_output", s.Outcome, err)
	}
	if len(told) != 2 || !strings.Contains(told[1], `field "summary": want string, got int`) {
		t.Errorf("the model was told %q, want one informed repair round", told)
	}
}

func TestProviderErrorStopsResumably(t *testing.T) {
	t.Parallel()
	w, world := kit.CIFix(), fixWorld()
	good := world.Answer
	world.Answer = func(*runner.ModelRequest) (*runner.ModelResponse, error) {
		return nil, &runner.ModelError{Class: runner.Server, Detail: "model m: 500", Retryable: true}
	}
	s, err := attempt(t, w, world)
	if err != nil || s.Status != machine.Stopped || s.Stop.Reason != event.StopHost || s.Stop.Detail != "model m: 500" {
		t.Fatalf("status %s, stop %+v, error %v, want stopped by the host", s.Status, s.Stop, err)
	}
	if world.Calls() != 1 {
		t.Errorf("%d calls: what was certainly refused is the adapter's to repeat", world.Calls())
	}
	if used := s.Purse.Used(); used != (budget.Amount{}) {
		t.Errorf("%+v used: a refused call costs nothing", used)
	}
	world.Answer = good
	if s, err = attempt(t, w, world); err != nil || s.Outcome == nil || s.Outcome.Outcome != event.Done {
		t.Fatalf("after resume: outcome %+v, error %v, want done", s.Outcome, err)
	}
}

// A call that may have been answered is made again, each time with a reservation
// of its own, and every one of them counts as spent.
func TestCallsInDoubtAreRepeatedAndCounted(t *testing.T) {
	t.Parallel()
	w, world := kit.CIFix(), fixWorld()
	world.Answer = func(*runner.ModelRequest) (*runner.ModelResponse, error) {
		return nil, &runner.ModelError{Class: runner.Malformed, Detail: "cut off", Retryable: true, InDoubt: true}
	}
	s, err := attempt(t, w, world)
	if err != nil || s.Status != machine.Stopped || world.Calls() != 3 {
		t.Fatalf("status %s, %d calls, error %v, want stopped after the first and two retries", s.Status, world.Calls(), err)
	}
	var charged budget.Amount
	for _, e := range world.Events() {
		if b, ok := e.Body.(*event.ModelCallFailed); ok {
			charged = charged.Add(b.Charged)
		}
	}
	if s.Purse.Forfeited != charged || charged.Tokens == 0 {
		t.Errorf("forfeited %+v, the record charges %+v", s.Purse.Forfeited, charged)
	}
}

func TestPurseRefusesBeforeTheCall(t *testing.T) {
	t.Parallel()
	w, world := kit.CIFix(), fixWorld()
	w.Limits = budget.Limits{MaxTokens: 500}
	s, err := attempt(t, w, world)
	if err != nil || s.Status != machine.Stopped || s.Stop.Reason != event.StopBudget || s.Stop.Limit != "max_tokens" {
		t.Fatalf("status %s, stop %+v, error %v, want stopped by max_tokens", s.Status, s.Stop, err)
	}
	if used := s.Purse.Used().Tokens; used > 500 {
		t.Errorf("%d tokens used, the limit is 500", used)
	}
}

func TestVerifyFailureIsNoDone(t *testing.T) {
	t.Parallel()
	w, world := kit.CIFix(), fixWorld()
	world.Passes = func(map[string]string) bool { return false }
	s, err := attempt(t, w, world)
	if err != nil || s.Outcome == nil || s.Outcome.Class != event.FailVerify {
		t.Fatalf("outcome %+v, error %v, want verify_failed", s.Outcome, err)
	}
}

func TestToolOutsideTheListIsRefused(t *testing.T) {
	t.Parallel()
	for name, narrow := range map[string]func(*ir.Call){
		"readonly": func(c *ir.Call) { c.Readonly = true },
		"policy":   func(c *ir.Call) { c.Policy = &ir.ToolPolicy{Deny: []string{"write_file"}} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refused(t, narrow)
		})
	}
}

func refused(t *testing.T, narrow func(*ir.Call)) {
	w, world := kit.CIFix(), fixWorld()
	narrow(w.Node("fixer").Op.(*ir.Call))
	var heard string
	world.Answer = func(req *runner.ModelRequest) (*runner.ModelResponse, error) {
		if req.Trace.Turn == 1 {
			return kit.Use("t1", "write_file", `{"path":"bug.go","content":"fixed"}`), nil
		}
		heard = req.Messages[len(req.Messages)-1].Text
		return kit.JSON(map[string]any{"summary": "gave up"}), nil
	}
	s, err := attempt(t, w, world)
	if err != nil || s.Outcome == nil || s.Outcome.Class != event.FailLoopExhausted {
		t.Fatalf("outcome %+v, error %v, want loop_exhausted", s.Outcome, err)
	}
	if !strings.Contains(heard, "write_file") || !strings.Contains(heard, "read_file") {
		t.Errorf("the model heard %q, want a refusal that lists what it may use", heard)
	}
}

// TestCrashTable drives every operation of a run into every fault and resumes
// until the run ends. Whatever happened: the same result, no recorded model call
// made again, and the purse holds what was measured over all attempts.
func TestCrashTable(t *testing.T) {
	t.Parallel()
	for _, row := range []crashRow{
		{name: "fix loop", flow: kit.CIFix, world: fixWorld}, {name: "everything", flow: kit.Everything, world: kit.EverythingWorld},
	} {
		clean := row.world()
		s := done(t, row.flow(), clean)
		row.want, row.calls = clean.Files(), s.Purse.Spent.Calls
		for n := 1; n <= clean.Operations(); n++ {
			for _, fault := range kit.Faults {
				t.Run(fmt.Sprintf("%s operation %d %s", row.name, n, fault), func(t *testing.T) {
					row.crashAt(t, n, fault)
				})
			}
		}
	}
}

// crashRow is one workflow of the table, with what an undisturbed run comes to.
type crashRow struct {
	name  string
	flow  func() *ir.Workflow
	world func() *kit.World
	want  map[string]string
	calls int64
}

func (row *crashRow) crashAt(t *testing.T, n int, fault kit.Fault) {
	w, world := row.flow(), row.world()
	world.Inject(n, fault)
	var s *machine.State
	for range 4 {
		var err error
		if s, err = attempt(t, w, world); err == nil && s.Status == machine.Finished {
			break
		}
		world.Restart()
	}
	if s.Outcome == nil || s.Outcome.Outcome != event.Done {
		t.Fatalf("outcome %+v, stop %+v, want done", s.Outcome, s.Stop)
	}
	if got := world.Files(); fmt.Sprint(got) != fmt.Sprint(row.want) {
		t.Errorf("branch holds %v, want %v", got, row.want)
	}
	if again := world.Repeated(); fault != kit.FailsPersisted && len(again) > 1 {
		t.Errorf("model calls repeated: %v, want at most the one in doubt", again)
	}
	var sum budget.Usage
	for _, e := range world.Events() {
		if b, ok := e.Body.(*event.ModelCallFinished); ok {
			sum = sum.Add(b.Usage)
		}
	}
	if s.Purse.Spent != sum || sum.Calls != row.calls {
		t.Errorf("purse spent %+v, the record holds %+v, want %d finished calls", s.Purse.Spent, sum, row.calls)
	}
	if int64(world.Calls()) > row.calls && s.Purse.Forfeited.Tokens == 0 {
		t.Errorf("%d requests for %d answers and nothing forfeited", world.Calls(), row.calls)
	}
}
