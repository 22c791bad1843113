package report

import (
	"encoding/json"
	"fmt"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

func (f *fold) applyEffect(e *event.Event) {
	switch b := e.Body.(type) {
	case *event.ModelCallStarted:
		f.purse.Hold(string(b.Key), b.Reserved)
		f.begin(e, b.Key, &effect{call: true, model: b.Model, reserved: b.Reserved, question: b.Question, at: e.Time.UTC()})
		f.step(e).CutBytes = b.Cut
		if b.Attempt > 1 {
			f.s.Repeats.Calls++
		}
	case *event.ModelCallFinished:
		f.modelFinished(e, b)
	case *event.ModelCallFailed:
		f.modelFailed(b)
	case *event.ToolCallStarted:
		f.toolStarted(e, b)
	case *event.ToolCallFinished:
		f.toolFinished(e, b)
	case *event.CommandStarted:
		f.begin(e, b.Key, &effect{})
		f.step(e).Command = b.Command
		f.stale = f.stale || f.mayWrite(e.Node)
	case *event.CommandFinished:
		f.end(b.Key)
		exit := b.Exit
		f.step(e).Exit = &exit
		if b.Evidence != nil {
			f.evidence(e, *b.Evidence)
		}
	case *event.VerifyStarted:
		st := f.step(e)
		st.State = StepRunning
		f.begin(e, b.Key, &effect{})
		f.clocks[st].start(f.running)
	case *event.VerifyFinished:
		f.end(b.Key)
		f.evidence(e, b.Evidence)
	case *event.EffectForfeited:
		f.forfeited(b)
	}
}

func (f *fold) begin(e *event.Event, key event.Key, x *effect) {
	x.step, x.attempt = f.step(e), f.attempt()
	x.step.Attempts = max(x.step.Attempts, attemptOf(key))
	f.open[key] = x
}

// end closes an effect and returns it; nil when it is not open.
func (f *fold) end(key event.Key) *effect {
	x := f.open[key]
	delete(f.open, key)
	return x
}

// book adds to everything that the effect belongs to.
func (f *fold) book(x *effect, s Spend) {
	f.s.Budget.Spent.add(s)
	if x == nil {
		return
	}
	x.step.Spend.add(s)
	if x.attempt != nil {
		x.attempt.Spend.add(s)
	}
}

func (f *fold) modelFinished(e *event.Event, b *event.ModelCallFinished) {
	x := f.end(b.Key)
	f.purse.Settle(string(b.Key), b.Usage)
	s := measured(b)
	f.book(x, s)
	f.model(b.Model).Spend.add(s)
	if x != nil && !b.Unpriced {
		f.priced[x.model] = true
	}
	st := f.step(e)
	if x != nil && x.question != "" && b.Output != nil {
		f.questionAnswered(e, x, b)
	}
	if b.Problem != "" {
		st.Repairs++
	}
	if len(st.Models) == 0 || st.Models[len(st.Models)-1] != b.Model {
		st.Models = append(st.Models, b.Model)
	}
}

// questionAnswered: a model answered what an agent asked. When it left that to a
// person, a gate follows.
func (f *fold) questionAnswered(e *event.Event, x *effect, b *event.ModelCallFinished) {
	said := object(*b.Output)
	answer, given := said["answer"].(string)
	if !given {
		return
	}
	f.questions++
	f.answeredByModel(e, modelAnswer{
		gate: fmt.Sprintf("%s#%d (question %d)", e.Node, x.step.Visit, f.questions), text: x.question, by: b.Model, opened: x.at,
		values: mustJSON(map[string]string{"answer": answer}),
	})
}

// mustJSON encodes texts, which always works.
func mustJSON(v map[string]string) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

func (f *fold) model(name string) *ModelUse {
	for _, m := range f.models {
		if m.Name == name {
			return m
		}
	}
	m := &ModelUse{Name: name}
	f.models = append(f.models, m)
	return m
}

func (f *fold) modelFailed(b *event.ModelCallFailed) {
	x := f.end(b.Key)
	switch {
	case b.Used != nil:
		f.purse.Settle(string(b.Key), *b.Used)
		f.book(x, measured(&event.ModelCallFinished{Usage: *b.Used}))
	case b.Charged.Tokens > 0 || b.Charged.Cost > 0:
		f.book(x, f.lost(x, f.purse.Forfeit(string(b.Key))))
	default:
		f.purse.Release(string(b.Key))
	}
	f.s.Repeats.FailedCalls++
	for i := range f.s.Repeats.Failures {
		if c := &f.s.Repeats.Failures[i]; c.Name == b.Class {
			c.N++
			return
		}
	}
	f.s.Repeats.Failures = append(f.s.Repeats.Failures, Count{b.Class, 1})
}

// lost is a reservation that counts as spent. The event does not say whether the
// model has a price; a reservation of tokens that cost nothing is taken as
// unpriced unless the same model was priced elsewhere in the run.
func (f *fold) lost(x *effect, a budget.Amount) Spend {
	unpriced := a.Tokens > 0 && a.Cost == 0 && (x == nil || !f.priced[x.model])
	return Spend{ForfeitedCalls: 1, ForfeitedTokens: a.Tokens, ForfeitedCostMicros: a.Cost, Unpriced: unpriced}
}

// forfeited settles an effect whose outcome stayed unknown, by the rule of the
// machine: what was held is gone.
func (f *fold) forfeited(b *event.EffectForfeited) {
	x := f.end(b.Key)
	held := f.purse.Forfeit(string(b.Key))
	if x != nil && !x.call {
		f.s.Repeats.OtherEffects++
		return
	}
	f.book(x, f.lost(x, held))
}

func (f *fold) tool(name string) *ToolUse {
	if f.tools[name] == nil {
		f.tools[name] = &ToolUse{Name: name}
	}
	return f.tools[name]
}

// lastTools is how many uses of tools a summary lists.
const lastTools = 12

func (f *fold) toolStarted(e *event.Event, b *event.ToolCallStarted) {
	f.begin(e, b.Key, &effect{tool: b.Name})
	f.stale = f.stale || b.Writes
	t := f.tool(b.Name)
	t.Calls++
	t.Writes = t.Writes || b.Writes
	f.step(e).ToolCalls++
	f.s.Tools.Calls++
}

func (f *fold) toolFinished(e *event.Event, b *event.ToolCallFinished) {
	x := f.end(b.Key)
	if x == nil {
		return
	}
	if b.Error {
		f.s.Tools.Errors++
		f.tool(x.tool).Errors++
	}
	if b.Summary == "" {
		return
	}
	used := ToolUsed{Node: x.step.Node, Visit: x.step.Visit, Name: x.tool, Summary: b.Summary, Error: b.Error}
	f.s.Tools.Last = append(f.s.Tools.Last, used)
	if n := len(f.s.Tools.Last); n > lastTools {
		f.s.Tools.Last = f.s.Tools.Last[n-lastTools:]
	}
}

// mayWrite reports whether a tool node's command may change the worktree; one of
// an unknown workflow is taken not to, because a false alarm about every run
// would hide a true one.
func (f *fold) mayWrite(node string) bool {
	n := f.node(node)
	if n == nil {
		return false
	}
	exec, ok := n.Op.(*ir.Exec)
	return ok && exec.Writes()
}

func (f *fold) evidence(e *event.Event, ev event.Evidence) {
	st := f.step(e)
	f.s.Verification.Evidence = append(f.s.Verification.Evidence, Evidence{Node: st.Node, Visit: max(st.Visit, 1), At: e.Time.UTC(), Evidence: ev})
	f.stale = false
}
