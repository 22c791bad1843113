package machine

import (
	"fmt"
	"iter"
	"slices"

	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// Next lists what must happen now, one command per token that can go on, in
// order of tokens. It is empty while effects are open, when the run is not
// running, and when it has ended. Next changes nothing: until a command's event
// has been applied, asking again gives the same command. Two tokens may be told
// the same thing, such as to begin the same visit; who applies more than one
// command uses [State.Steps].
func (s *State) Next() []Command { return slices.Collect(s.Steps()) }

// Steps is Next one by one: each command is decided when it is asked for, so the
// events of those before it may have been applied.
func (s *State) Steps() iter.Seq[Command] {
	return func(yield func(Command) bool) {
		if s.Status != Running {
			return
		}
		if w, ok := s.warning(); ok {
			yield(w)
			return
		}
		for _, id := range inOrder(s.ready) {
			if _, still := s.ready[id]; still && (s.Status != Running || !yield(s.step(s.tokens[id]))) {
				return
			}
		}
		if len(s.ready) == 0 && s.Status == Running && !s.Busy() && s.waiting > 0 {
			yield(Record{Body: &event.RunParked{Gates: s.OpenGates()}})
		}
	}
}

// Step is the one thing that a token does next, whatever the run as a whole does;
// nil when there is no such token, or when it waits for an effect or a person.
func (s *State) Step(id event.TokenID) Command {
	if _, ready := s.ready[id]; !ready {
		return nil
	}
	return s.step(s.tokens[id])
}

// step is the one thing that t does next.
func (s *State) step(t *Token) Command {
	switch t.Phase {
	case Arrived:
		return s.arrive(t)
	case Working:
		return s.work(t)
	case Completed:
		return Finish{Effect: t.effect("finish"), Done: t.done(), Commit: (t.Wrote || t.back != nil) && s.Workflow.Worktree}
	case Leaving:
		return s.leave(t)
	case Asking:
		return PollGate{Effect: Effect{Token: t, Node: t.At, Key: t.Question.Key, Attempt: t.attempts}, Opened: t.Question}
	case Broken:
		f := t.Failure
		return s.gone(t, f.Class, fmt.Sprintf("%s: %s", t.At.ID, f.Detail))
	}
	panic(fmt.Sprintf("machine: token %d is ready in phase %d", t.ID, t.Phase))
}

func (t *Token) record(body event.Body) Record {
	return Record{Token: t.ID, Node: t.At.ID, Body: body}
}

func (t *Token) fails(class event.FailureClass, format string, args ...any) Record {
	return t.record(&event.NodeFailed{Visit: t.Visit, Class: class, Detail: fmt.Sprintf(format, args...)})
}

// gone is how a token ends that cannot go on: its branch fails, or the run.
func (s *State) gone(t *Token, class event.FailureClass, detail string) Record {
	if t.fork != nil {
		return t.record(&event.BranchFailed{Class: class, Detail: detail})
	}
	return s.endRun(event.Failed, class, detail)
}

func (s *State) endRun(outcome event.Outcome, class event.FailureClass, detail string) Record {
	return Record{Body: &event.RunFinished{Outcome: outcome, Class: class, Detail: detail, Head: s.Head}}
}

// arrive begins a visit, or ends the run.
func (s *State) arrive(t *Token) Command {
	if end, ok := t.At.Op.(*ir.End); ok {
		return s.finish(t, end)
	}
	if m := s.Purse.Limits.MaxIterations; m > 0 && s.Purse.Iterations >= m {
		return Record{Token: t.ID, Node: t.At.ID, Body: &event.RunStopped{
			Reason: event.StopBudget, Limit: "max_iterations",
			Detail: fmt.Sprintf("max_iterations: all %d node executions are used up before %s", m, t.At.ID),
			Hint:   "go on with a higher limit: pawl resume --max-iterations …",
		}}
	}
	return t.record(s.begun(t))
}

// finish ends the run once what done promises has been checked.
func (s *State) finish(t *Token, end *ir.End) Command {
	if end.Fail {
		return s.gone(t, event.FailNode, "the path reached fail"+s.cameFrom(t))
	}
	if t.fork != nil {
		return s.gone(t, event.FailNode, "the branch reached done before its join, "+t.fork.join.ID)
	}
	if s.mustVerify(t) {
		return Verify{Effect: t.effect("verify")}
	}
	if s.Evidence != nil && t.verified && !s.Evidence.Passed && !s.excused() {
		return s.endRun(event.Failed, event.FailVerify, s.Evidence.Reason)
	}
	return s.endRun(event.Done, "", "")
}

// cameFrom is the reason that flowed into fail, when the last node gave one.
func (s *State) cameFrom(t *Token) string {
	if why, ok := t.Input["reason"].(string); ok && why != "" {
		return ": " + why
	}
	return ""
}

// mustVerify reports whether the tests have to run for t at done. Evidence that
// a node of the workflow gathered counts while nothing was written since.
func (s *State) mustVerify(t *Token) bool {
	v := s.Workflow.Verify
	switch {
	case v.Mode == ir.VerifyNone || !s.Workflow.Worktree || t.verified:
		return false
	case !v.Explicit && !s.changed:
		return false // nothing was changed: there is nothing to verify
	case s.Evidence != nil && s.Evidence.Passed && !s.stale:
		return false
	}
	return true
}

// excused: the file does not ask for verification and the repository has no
// tests that could be found. The report says so.
func (s *State) excused() bool {
	return !s.Workflow.Verify.Explicit && len(s.Evidence.Commands) == 0
}

// work is the next step inside a node.
func (s *State) work(t *Token) Command {
	if problem := t.At.In.Misfits(t.Input); problem != "" {
		return t.fails(event.FailInput, "input %s", problem)
	}
	switch op := t.At.Op.(type) {
	case *ir.Call:
		return s.converse(t, op)
	case *ir.Exec:
		return s.exec(t, op)
	case *ir.Ask:
		return s.ask(t, op)
	case *ir.Route:
		return s.choose(t, op)
	case *ir.Compute:
		return s.compute(t, op)
	case *ir.Join:
		return s.join(t, op)
	}
	return t.fails(event.FailNode, "%s nodes cannot be run", t.At.Op.Word())
}

// complete closes a visit whose output needed no effect.
func (s *State) complete(t *Token, output map[string]any) Command {
	raw, err := ir.Encode(output)
	if err != nil {
		return t.fails(event.FailOutput, "output: %s", err)
	}
	return t.record(&event.NodeFinished{Visit: t.Visit, Output: event.Inline(raw)})
}

// done is the event that closes t's visit.
func (t *Token) done() *event.NodeFinished {
	return &event.NodeFinished{Visit: t.Visit, Output: *t.Output, Route: t.route, Reason: t.reason, By: t.by}
}

// choose is the step of a router. A model is asked only when there is a choice.
func (s *State) choose(t *Token, op *ir.Route) Command {
	if op.Mode != ir.LLM || len(s.choices(t)) < 2 {
		return s.complete(t, t.Input)
	}
	return s.converse(t, op.Call)
}

func (s *State) compute(t *Token, op *ir.Compute) Command {
	env := scope{s, t}.env()
	output := make(map[string]any, len(op.Fields))
	for _, f := range op.Fields {
		v, err := f.Expr.Eval(env)
		if err != nil {
			return t.fails(event.FailInput, "field %s: %s", f.Name, err)
		}
		output[f.Name] = v
	}
	if t.At.Out != nil {
		fitted, problems := t.At.Out.Fit(output)
		if len(problems) > 0 {
			return t.fails(event.FailOutput, "%s", problems[0])
		}
		output = fitted
	}
	return s.complete(t, output)
}
