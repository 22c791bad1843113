package runner_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
	"github.com/pawl-ci/pawl/runner/machine"
	kit "github.com/pawl-ci/pawl/runner/runnertest"
)

// finishedBy is the last NodeFinished of a node.
func finishedBy(t *testing.T, world *kit.World, node string) *event.NodeFinished {
	t.Helper()
	var last *event.NodeFinished
	for _, e := range world.Events() {
		if b, ok := e.Body.(*event.NodeFinished); ok && e.Node == node {
			last = b
		}
	}
	if last == nil {
		t.Fatalf("%s never finished", node)
	}
	return last
}

func done(t *testing.T, w *ir.Workflow, world *kit.World) *machine.State {
	t.Helper()
	s, err := attempt(t, w, world)
	if err != nil || s.Outcome == nil || s.Outcome.Outcome != event.Done {
		t.Fatalf("outcome %+v, stop %+v, error %v, want done", s.Outcome, s.Stop, err)
	}
	return s
}

func plain(f *kit.Flow) *ir.Workflow {
	w := f.Seal()
	w.Worktree, w.Verify = false, ir.Verify{Mode: ir.VerifyNone, Explicit: true}
	return w
}

func call(session ir.Session, user string) *ir.Call {
	return &ir.Call{Model: ir.Literal("m"), Session: session, User: ir.Literal(user)}
}

func dispatch() *kit.Flow {
	f := kit.NewFlow("dispatch")
	f.Node("router", &ir.Route{Mode: ir.LLM, Call: &ir.Call{Model: ir.Literal("m"), System: ir.Literal("Send it on.")}})
	f.Node("docs", call(ir.Fresh, "docs"))
	f.Node("code", call(ir.Fresh, "code"))
	return f.Edge("router", "docs").Edge("router", "code").Edge("docs", "done").Edge("code", "done")
}

func TestModelChoosesTheEdge(t *testing.T) {
	t.Parallel()
	world := kit.NewWorld(nil)
	var first *runner.ModelRequest
	world.Answer = func(req *runner.ModelRequest) (*runner.ModelResponse, error) {
		if req.Trace.Node == "router" && req.Trace.Turn == 1 {
			first = req
			return kit.JSON(map[string]any{"reason": "guess", "target": "nowhere"}), nil
		}
		if req.Trace.Node == "router" {
			return kit.JSON(map[string]any{"reason": "it is about code", "target": "code"}), nil
		}
		return kit.Text("ok"), nil
	}
	s := done(t, plain(dispatch()), world)
	got := finishedBy(t, world, "router")
	if !slices.Equal(got.Route, []int{1}) || got.Reason != "it is about code" {
		t.Errorf("the record keeps route %v, reason %q", got.Route, got.Reason)
	}
	if string(got.Output.Raw()) != "{}" {
		t.Errorf("a router passes its input on, its output is %s", got.Output.Raw())
	}
	if !strings.Contains(string(first.Schema), `"enum":["docs","code"]`) || !first.Strict {
		t.Errorf("the schema does not name the targets: %s", first.Schema)
	}
	if s.Purse.Spent.Calls != 3 {
		t.Errorf("%d calls, want the bad answer, its repair, and code", s.Purse.Spent.Calls)
	}
	finishedBy(t, world, "code")
}

func TestRouterGivesUpAfterOneRepair(t *testing.T) {
	t.Parallel()
	world := kit.NewWorld(nil)
	world.Answer = func(*runner.ModelRequest) (*runner.ModelResponse, error) { return kit.Text(`{"target":7}`), nil }
	s, err := attempt(t, plain(dispatch()), world)
	if err != nil || s.Outcome == nil || s.Outcome.Class != event.FailOutput || world.Calls() != 2 {
		t.Errorf("outcome %+v, error %v after %d calls, want bad_output after 2", s.Outcome, err, world.Calls())
	}
}

// A loop that is used up is no choice any more; the only edge left needs no
// model.
func TestRouterIsNotAskedWithoutAChoice(t *testing.T) {
	t.Parallel()
	f := kit.NewFlow("again")
	f.Node("router", &ir.Route{Mode: ir.LLM, Call: &ir.Call{Model: ir.Literal("m")}})
	f.Node("work", call(ir.Fresh, "work"))
	f.Edge("router", "work", kit.As("more", 1)).Edge("router", "done").Edge("work", "router")
	world := kit.NewWorld(nil)
	world.Answer = func(req *runner.ModelRequest) (*runner.ModelResponse, error) {
		if req.Trace.Node == "router" {
			return kit.JSON(map[string]any{"reason": "more", "target": "work"}), nil
		}
		return kit.Text("ok"), nil
	}
	s := done(t, plain(f), world)
	if s.Purse.Spent.Calls != 2 {
		t.Errorf("%d calls, want one of the router and one of work", s.Purse.Spent.Calls)
	}
}

func human(mode ir.AskMode) *ir.Workflow {
	f := kit.NewFlow("gate")
	op := &ir.Ask{Mode: mode, Instructions: ir.Literal("Ship it?")}
	if mode != ir.Pause {
		op.Call = &ir.Call{Model: ir.Literal("m")}
	}
	f.Node("approve", op, kit.Field("approved", gates.Bool), kit.Field("note", gates.String))
	return plain(f.Edge("approve", "done", kit.When("approved")).Edge("approve", "fail", kit.WhenNot("approved")))
}

func TestModelAnswersInAPersonsPlace(t *testing.T) {
	t.Parallel()
	for _, mode := range []ir.AskMode{ir.AutoAnswer, ir.AutoOrPause} {
		world := kit.NewWorld(nil)
		world.Answer = func(req *runner.ModelRequest) (*runner.ModelResponse, error) {
			if !strings.Contains(req.Messages[1].Text, "Ship it?") {
				t.Errorf("%s: the model is not told the instructions: %q", mode, req.Messages[1].Text)
			}
			return kit.JSON(map[string]any{"needs_human": false, "approved": "true", "note": "small"}), nil
		}
		done(t, human(mode), world)
		if got := finishedBy(t, world, "approve"); got.By != "scripted" || string(got.Output.Raw()) != `{"approved":true,"note":"small"}` {
			t.Errorf("%s: by %q, output %s", mode, got.By, got.Output.Raw())
		}
	}
}

func TestModelLeavesItToAPerson(t *testing.T) {
	t.Parallel()
	world := kit.NewWorld(nil)
	world.Answer = func(*runner.ModelRequest) (*runner.ModelResponse, error) {
		return kit.JSON(map[string]any{"needs_human": true, "questions": []string{"Is Friday fine?"}}), nil
	}
	w := human(ir.AutoOrPause)
	s, err := attempt(t, w, world)
	if err != nil || s.Status != machine.Parked {
		t.Fatalf("status %s, error %v, want parked", s.Status, err)
	}
	var asked gates.Question
	world.Person = func(q gates.Question) *gates.Answer {
		asked = q
		return &gates.Answer{By: "ada", Values: map[string]json.RawMessage{"approved": json.RawMessage("true"), "note": json.RawMessage(`"yes"`)}}
	}
	done(t, w, world)
	if asked.Text != "Ship it?\n- Is Friday fine?" || len(asked.Fields) != 2 {
		t.Errorf("a person was asked %q with %d fields", asked.Text, len(asked.Fields))
	}
	if got := finishedBy(t, world, "approve"); got.By != "" {
		t.Errorf("a person answered, the record says model %s", got.By)
	}
	if world.Calls() != 1 {
		t.Errorf("%d calls, want 1: what the model decided stands after the resume", world.Calls())
	}
}

func TestHalfAnAnswerIsRepaired(t *testing.T) {
	t.Parallel()
	world := kit.NewWorld(nil)
	world.Answer = func(req *runner.ModelRequest) (*runner.ModelResponse, error) {
		if req.Trace.Turn == 1 {
			return kit.JSON(map[string]any{"needs_human": false, "approved": true}), nil
		}
		last := req.Messages[len(req.Messages)-1].Text
		if !strings.Contains(last, `field "note" (string) is missing`) || !strings.Contains(last, `"needs_human"`) {
			t.Errorf("the repair says %q", last)
		}
		return kit.JSON(map[string]any{"needs_human": false, "approved": true, "note": "n"}), nil
	}
	done(t, human(ir.AutoOrPause), world)
}

// requests keeps every request of a world by conversation position.
func requests(world *kit.World, answer func(*runner.ModelRequest) *runner.ModelResponse) *[]*runner.ModelRequest {
	var list []*runner.ModelRequest
	world.Answer = func(req *runner.ModelRequest) (*runner.ModelResponse, error) {
		list = append(list, req)
		return answer(req), nil
	}
	return &list
}

// extends reports whether b's messages begin with all of a's, byte for byte, and
// go on.
func extends(a, b *runner.ModelRequest) bool {
	if len(b.Messages) <= len(a.Messages) {
		return false
	}
	for i := range a.Messages {
		if fmt.Sprintf("%#v", a.Messages[i]) != fmt.Sprintf("%#v", b.Messages[i]) {
			return false
		}
	}
	return true
}

// session is a loop of three rounds: plan, then work and check again and again.
func session(mode ir.Session) *ir.Workflow {
	f := kit.NewFlow("session")
	f.Node("plan", &ir.Call{Model: ir.Literal("m"), User: ir.Literal("plan it"), System: ir.Literal("You plan.")}).Publish = "plan"
	work := call(mode, "do it")
	work.Tools = []ir.ToolRef{{Name: "read_file"}}
	f.Node("work", work)
	f.Node("check", &ir.Compute{})
	f.Edge("plan", "work").Edge("work", "check")
	f.Edge("check", "work", kit.As("again", 2)).Edge("check", "done")
	return plain(f)
}

func rounds(req *runner.ModelRequest) *runner.ModelResponse {
	if req.Trace.Node == "work" && req.Trace.Turn == 1 {
		return kit.Use(fmt.Sprintf("t%d", req.Trace.Visit), "read_file", `{"path":"a"}`)
	}
	return kit.Text(fmt.Sprintf("%s %d", req.Trace.Node, req.Trace.Visit))
}

func TestInheritIsOneConversationForAll(t *testing.T) {
	t.Parallel()
	world := kit.NewWorld(map[string]string{"a": "content"})
	list := requests(world, rounds)
	done(t, session(ir.Inherit), world)
	if len(*list) != 7 {
		t.Fatalf("%d requests, want 1 and three rounds of 2", len(*list))
	}
	for i := 1; i < len(*list); i++ {
		if !extends((*list)[i-1], (*list)[i]) {
			t.Errorf("request %d does not extend the one before:\n%+v\n%+v", i+1, (*list)[i-1].Messages, (*list)[i].Messages)
		}
	}
	last := (*list)[6].Messages
	told := 0
	for _, m := range last {
		told += strings.Count(m.Text, "You work in a git worktree")
	}
	if told != 1 {
		t.Errorf("the frame of work is told %d times, want once", told)
	}
	if m := last[len(last)-1]; m.Role != runner.ToolRole || m.Text != "content" {
		t.Errorf("the last message is %+v, want the tool's result", m)
	}
}

func TestSessionsDiffer(t *testing.T) {
	t.Parallel()
	for mode, begins := range map[ir.Session]string{
		ir.Fresh: "do it", ir.Inherit: "plan it", ir.Fork: "plan it", ir.ArtifactsOnly: "Published so far:\nplan (version 1): {\"text\":\"plan 1\"}\n\ndo it",
	} {
		world := kit.NewWorld(nil)
		list := requests(world, rounds)
		done(t, session(mode), world)
		if got := (*list)[1].Messages[1].Text; got != begins {
			t.Errorf("%s: the conversation begins with %q, want %q", mode, got, begins)
		}
	}
}

// fork leaves the original alone: who names the original's id later does not
// hear what the fork said.
func TestForkLeavesTheOriginal(t *testing.T) {
	t.Parallel()
	for mode, want := range map[ir.Session]bool{ir.Fork: false, ir.Inherit: true} {
		f := kit.NewFlow("fork")
		f.Node("a", call(ir.Fresh, "first"))
		f.Node("b", call(mode, "second"))
		f.Node("c", call(ir.Inherit, "third"))
		f.Edge("a", "b").Edge("c", "done")
		f.Edge("b", "c", kit.With("_session_id", kit.Ref(ir.RootOutputs, "a", "_session_id")))
		world := kit.NewWorld(nil)
		list := requests(world, rounds)
		done(t, plain(f), world)
		heard := slices.ContainsFunc((*list)[2].Messages, func(m runner.Message) bool { return m.Text == "second" })
		if heard != want || (*list)[2].Messages[1].Text != "first" {
			t.Errorf("%s: c heard b: %v, want %v; %+v", mode, heard, want, (*list)[2].Messages)
		}
	}
}

// A node that is told to continue a conversation that has not begun yet begins
// one, instead of continuing that of the node before it.
func TestSessionThatHasNotBegun(t *testing.T) {
	t.Parallel()
	for _, id := range []*ir.Template{kit.Ref(ir.RootOutputs, "b", "_session_id"), ir.Literal("")} {
		f := kit.NewFlow("later")
		f.Node("a", call(ir.Fresh, "first"))
		f.Node("b", call(ir.Inherit, "second"), kit.Field("again", gates.Bool))
		f.Edge("a", "b", kit.With("_session_id", id))
		f.Edge("b", "a", kit.When("again"), kit.As("round", 1)).Edge("b", "done")
		world := kit.NewWorld(nil)
		var heard []string
		world.Answer = func(req *runner.ModelRequest) (*runner.ModelResponse, error) {
			if req.Trace.Node != "b" {
				return kit.Text("yes"), nil
			}
			for _, m := range req.Messages {
				heard = append(heard, m.Text)
			}
			return kit.JSON(map[string]any{"again": false}), nil
		}
		done(t, plain(f), world)
		if slices.Contains(heard, "first") || !slices.Contains(heard, "second") {
			t.Errorf("b is told %q", heard)
		}
	}
}

func TestUnknownSessionFails(t *testing.T) {
	t.Parallel()
	f := kit.NewFlow("lost")
	f.Node("a", &ir.Compute{})
	f.Node("b", call(ir.Inherit, "second"))
	f.Edge("a", "b", kit.With("_session_id", ir.Literal("b#7"))).Edge("b", "done")
	world := kit.NewWorld(nil)
	s, err := attempt(t, plain(f), world)
	if err != nil || s.Outcome == nil || s.Outcome.Class != event.FailInput || !strings.Contains(s.Outcome.Detail, `there is no conversation "b#7"`) {
		t.Errorf("outcome %+v, error %v", s.Outcome, err)
	}
}

// A conversation that was interrupted anywhere goes on with the same bytes.
func TestConversationIsTheSameAfterACrash(t *testing.T) {
	t.Parallel()
	w := session(ir.Inherit)
	clean := kit.NewWorld(map[string]string{"a": "content"})
	want := requests(clean, rounds)
	done(t, w, clean)
	for n := 1; n <= clean.Operations(); n++ {
		world := kit.NewWorld(map[string]string{"a": "content"})
		got := requests(world, rounds)
		world.Inject(n, kit.CrashAfter)
		_, _ = attempt(t, w, world)
		world.Restart()
		if s, err := attempt(t, w, world); err != nil || s.Outcome == nil || s.Outcome.Outcome != event.Done {
			t.Fatalf("crash after operation %d: outcome %+v, error %v", n, s.Outcome, err)
		}
		for _, req := range *got {
			same := slices.ContainsFunc(*want, func(r *runner.ModelRequest) bool {
				return fmt.Sprintf("%#v", r.Messages) == fmt.Sprintf("%#v", req.Messages)
			})
			if !same {
				t.Fatalf("crash after operation %d: a request that the clean run never made: %+v", n, req.Messages)
			}
		}
	}
}

// asking is an agent that asks once and then answers what it was told.
func asking(who ir.Interaction) *ir.Workflow {
	f := kit.NewFlow("asking")
	f.Node("agent", &ir.Call{
		Model: ir.Literal("m"), User: ir.Literal("build it"), Interaction: who,
		InteractionPrompt: ir.Literal("You own the product."), InteractionModel: ir.Literal("owner"),
	})
	return plain(f.Edge("agent", "done"))
}

func asker(answers ...any) func(*runner.ModelRequest) *runner.ModelResponse {
	return func(req *runner.ModelRequest) *runner.ModelResponse {
		switch {
		case req.Trace.Node == "agent/answer":
			return kit.JSON(answers[req.Trace.Turn-1])
		case req.Trace.Turn == 1:
			return kit.Use("q1", machine.AskTool, `{"question":"Which colour?"}`)
		}
		return kit.Text("painted " + req.Messages[len(req.Messages)-1].Text)
	}
}

func TestAgentAsksAPerson(t *testing.T) {
	t.Parallel()
	for who, answers := range map[ir.Interaction][]any{
		ir.HumanAnswers: nil, ir.ModelOrHuman: {map[string]any{"needs_human": true, "questions": []string{"The owner's favourite?"}}},
	} {
		world := kit.NewWorld(nil)
		list := requests(world, asker(answers...))
		w := asking(who)
		s, err := attempt(t, w, world)
		if err != nil || s.Status != machine.Parked || !slices.Equal(s.OpenGates(), []string{"agent#1.1"}) {
			t.Fatalf("%s: status %s, gates %v, error %v, want parked at the question", who, s.Status, s.OpenGates(), err)
		}
		calls := world.Calls()
		world.Person = func(q gates.Question) *gates.Answer {
			if !strings.HasPrefix(q.Text, "Which colour?") || q.Fields[0].Name != "answer" {
				t.Errorf("%s: a person is asked %+v", who, q)
			}
			return &gates.Answer{By: "ada", Values: map[string]json.RawMessage{"answer": json.RawMessage(`"blue"`)}}
		}
		done(t, w, world)
		if got := finishedBy(t, world, "agent").Output; string(got.Raw()) != `{"text":"painted blue"}` {
			t.Errorf("%s: output %s", who, got.Raw())
		}
		if world.Calls() != calls+1 || !extends((*list)[0], (*list)[len(*list)-1]) {
			t.Errorf("%s: the conversation did not go on: %d calls after the answer", who, world.Calls()-calls)
		}
	}
}

func TestAModelAnswersTheAgent(t *testing.T) {
	t.Parallel()
	for _, who := range []ir.Interaction{ir.ModelAnswers, ir.ModelOrHuman} {
		world := kit.NewWorld(nil)
		list := requests(world, asker(map[string]any{"colour": "?"}, map[string]any{"needs_human": false, "answer": "red"}))
		done(t, asking(who), world)
		if got := finishedBy(t, world, "agent").Output; string(got.Raw()) != `{"text":"painted red"}` {
			t.Errorf("%s: output %s", who, got.Raw())
		}
		side := (*list)[1]
		if side.Model != "owner" || len(side.Tools) != 0 || !strings.Contains(side.Messages[0].Text, "You own the product.") ||
			!strings.Contains(side.Messages[1].Text, "build it") || !strings.Contains(side.Messages[1].Text, "Which colour?") {
			t.Errorf("%s: the answering model gets %+v", who, side)
		}
		if !extends(side, (*list)[2]) || !extends((*list)[0], (*list)[3]) {
			t.Errorf("%s: a conversation did not go on", who)
		}
	}
}

func TestAQuestionWithoutTextIsRefused(t *testing.T) {
	t.Parallel()
	world := kit.NewWorld(nil)
	requests(world, func(req *runner.ModelRequest) *runner.ModelResponse {
		if req.Trace.Turn == 1 {
			return kit.Use("q1", machine.AskTool, `{"q":`)
		}
		return kit.Text(req.Messages[len(req.Messages)-1].Text)
	})
	done(t, asking(ir.HumanAnswers), world)
	if got := string(finishedBy(t, world, "agent").Output.Raw()); !strings.Contains(got, "write the question into") {
		t.Errorf("the agent is told %s", got)
	}
}

func TestRetriesBeginTheVisitAgain(t *testing.T) {
	t.Parallel()
	f := kit.NewFlow("retry")
	n := f.Node("judge", call(ir.Fresh, "judge it"), kit.Field("ok", gates.Bool))
	n.Retries = 1
	w := plain(f.Edge("judge", "done"))
	world := kit.NewWorld(nil)
	bad := 0
	list := requests(world, func(*runner.ModelRequest) *runner.ModelResponse {
		if bad++; bad <= 2 {
			return kit.Text("no")
		}
		return kit.JSON(map[string]any{"ok": true})
	})
	done(t, w, world)
	if len((*list)[2].Messages) != 2 || fmt.Sprintf("%#v", (*list)[2].Messages) != fmt.Sprintf("%#v", (*list)[0].Messages) {
		t.Errorf("the second try begins with %+v, want the first messages", (*list)[2].Messages)
	}
	world = kit.NewWorld(nil)
	requests(world, func(*runner.ModelRequest) *runner.ModelResponse { return kit.Text("no") })
	if s, _ := attempt(t, w, world); s.Outcome == nil || s.Outcome.Class != event.FailOutput || world.Calls() != 4 {
		t.Errorf("outcome %+v, want bad_output after two tries of two turns", s.Outcome)
	}
}

// The clock of the world goes a millisecond at each look, so a node's time runs
// out without anybody waiting.
func TestTimeoutEndsAnAgent(t *testing.T) {
	t.Parallel()
	f := kit.NewFlow("slow")
	n := f.Node("agent", call(ir.Fresh, "work"))
	n.Op.(*ir.Call).Tools = []ir.ToolRef{{Name: "read_file"}}
	n.Timeout = 60 * time.Second
	w := plain(f.Edge("agent", "done"))
	world := kit.NewWorld(map[string]string{"a": "x"})
	requests(world, func(req *runner.ModelRequest) *runner.ModelResponse {
		world.Advance(25 * time.Second)
		return kit.Use(fmt.Sprint(req.Trace.Turn), "read_file", `{"path":"a"}`)
	})
	s, err := attempt(t, w, world)
	if err != nil || s.Outcome == nil || s.Outcome.Class != event.FailTimeout || !strings.Contains(s.Outcome.Detail, "1m0s") {
		t.Errorf("outcome %+v, error %v, want timeout", s.Outcome, err)
	}
	if got := s.Purse.Spent.Calls; got != 3 {
		t.Errorf("%d calls, want 3 of 25 s", got)
	}
}

func TestLongConversationsAreCutVisibly(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", 4000)
	f := kit.NewFlow("long")
	n := f.Node("agent", call(ir.Fresh, "read much"))
	n.Op.(*ir.Call).Tools = []ir.ToolRef{{Name: "read_file"}}
	w := plain(f.Edge("agent", "done"))
	world := kit.NewWorld(map[string]string{"a": big})
	list := requests(world, func(req *runner.ModelRequest) *runner.ModelResponse {
		if req.Trace.Turn < 20 {
			return kit.Use(fmt.Sprint(req.Trace.Turn), "read_file", `{"path":"a"}`)
		}
		return kit.Text("ok")
	})
	run(t, w, world, runner.Options{Prices: kit.Price(), MaxConversation: 30000})
	changed, cut := 0, int64(0)
	for i := 1; i < len(*list); i++ {
		if !extends((*list)[i-1], (*list)[i]) {
			changed++
		}
		size := 0
		for _, m := range (*list)[i].Messages {
			size += len(m.Text)
		}
		if size > 30000 {
			t.Errorf("request %d has %d bytes of text", i+1, size)
		}
	}
	for _, e := range world.Events() {
		if b, ok := e.Body.(*event.ModelCallStarted); ok {
			cut = b.Cut
		}
	}
	if changed == 0 || changed > 6 {
		t.Errorf("the beginning changed %d times in 20 turns, want seldom", changed)
	}
	if cut == 0 || !strings.Contains((*list)[19].Messages[3].Text, "4000 bytes of this result are left out") {
		t.Errorf("cut %d; the model sees %q", cut, (*list)[19].Messages[3].Text)
	}
}

// min_answers counts fields, from a person and from a model.
func TestMinAnswers(t *testing.T) {
	t.Parallel()
	optional := func(name string) ir.Field {
		f := kit.Field(name, gates.String)
		f.Optional = true
		return f
	}
	flow := func(op *ir.Ask) *ir.Workflow {
		f := kit.NewFlow("survey")
		op.MinAnswers = 2
		f.Node("ask", op, optional("a"), optional("b"), optional("c"))
		return plain(f.Edge("ask", "done"))
	}
	world := kit.NewWorld(nil)
	world.Person = func(gates.Question) *gates.Answer {
		return &gates.Answer{Values: map[string]json.RawMessage{"a": json.RawMessage(`"x"`)}}
	}
	w := flow(&ir.Ask{Mode: ir.Pause})
	s, err := attempt(t, w, world)
	if err == nil || s.Status != machine.Parked || !strings.Contains(err.Error(), "2 of the fields a, b, c must be answered, 1 are") {
		t.Errorf("status %s, error %v", s.Status, err)
	}
	world = kit.NewWorld(nil)
	list := requests(world, func(req *runner.ModelRequest) *runner.ModelResponse {
		if req.Trace.Turn == 1 {
			return kit.JSON(map[string]any{"a": "x"})
		}
		return kit.JSON(map[string]any{"a": "x", "c": "y"})
	})
	done(t, flow(&ir.Ask{Mode: ir.AutoAnswer, Call: &ir.Call{Model: ir.Literal("m")}}), world)
	if len(*list) != 2 {
		t.Errorf("%d calls, want a repair", len(*list))
	}
}
