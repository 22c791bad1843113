package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/pawl-ci/pawl/report/words"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// maxWarnings bounds what a summary warns of; a run of many attempts repeats
// itself.
const maxWarnings = 40

func (f *fold) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if len(f.s.Warnings) < maxWarnings && !slices.Contains(f.s.Warnings, text) {
		f.s.Warnings = append(f.s.Warnings, text)
	}
}

// summary closes the fold.
func (f *fold) summary() Summary {
	s := &f.s
	s.RunningMS, s.ParkedMS, s.DownMS = f.running.Milliseconds(), f.parked.Milliseconds(), f.down.Milliseconds()
	s.Diff, s.Paths = f.extra.Diff, f.extra.Paths
	if s.Status == Running {
		s.Process = f.extra.Process
	}
	f.closePath()
	f.closeAttempts()
	f.closeGates()
	f.closeBudget()
	s.Verification.State = f.verified()
	s.Models = values(f.models)
	s.Tools.ByName = f.toolsByUse()
	f.standing()
	f.addWarnings()
	f.judge()
	s.Next = next(s, cmp.Or(f.extra.Command, "pawl"))
	return *s
}

func values[T any](list []*T) []T {
	out := make([]T, len(list))
	for i, p := range list {
		out[i] = *p
	}
	return out
}

func (f *fold) closePath() {
	for _, st := range f.path {
		c := f.clocks[st]
		c.stop(f.running)
		st.RunningMS = c.total.Milliseconds()
		dead := f.s.Status != Running || f.s.Process == ProcessGone
		if st.State == StepRunning && dead {
			st.State = StepInterrupted
		}
	}
	f.s.Path = values(f.path)
}

func (f *fold) closeAttempts() {
	for i, a := range f.attempts {
		end := f.running
		if i+1 < len(f.began) {
			end = f.began[i+1]
		}
		a.RunningMS = (end - f.began[i]).Milliseconds()
	}
	if a := f.attempt(); a != nil {
		a.End = string(f.s.Status)
	}
	f.s.Attempts = values(f.attempts)
}

func (f *fold) closeGates() {
	ended := f.s.Status == Done || f.s.Status == Failed
	open := 0
	for _, g := range f.gates {
		if g.State == GateOpen && ended {
			g.State = GateClosed
		}
		if g.State == GateOpen {
			open++
		}
		until := f.s.UpdatedAt
		if g.AnsweredAt != nil {
			until = *g.AnsweredAt
		}
		g.WaitedMS = max(until.Sub(g.OpenedAt).Milliseconds(), 0)
	}
	for _, g := range f.gates {
		if g.State == GateOpen {
			g.Lines = answerLines(g, string(f.s.RunID), cmp.Or(f.extra.Command, "pawl"), open > 1)
		}
	}
	f.s.Gates = values(f.gates)
}

func (f *fold) closeBudget() {
	b := &f.s.Budget
	for _, x := range f.open {
		if x.call {
			b.OpenCalls++
			b.ReservedTokens = plus(b.ReservedTokens, x.reserved.Tokens)
			b.ReservedCostMicros += x.reserved.Cost
		}
	}
	b.EffectiveTokens = b.Spent.effective()
	b.Limits = f.gauges()
}

func (f *fold) verified() VerifyState {
	list := f.s.Verification.Evidence
	if len(list) == 0 {
		if f.w != nil && f.w.Verify.Mode == ir.VerifyNone {
			return VerifyOff
		}
		return VerifyNotRun
	}
	last := list[len(list)-1]
	switch {
	case last.Passed && f.stale:
		return VerifyStale
	case last.Passed:
		return VerifyPassed
	case len(last.Commands) == 0:
		return VerifyNoTests
	}
	return VerifyFailed
}

// toolsByUse lists the tools that were used most first.
func (f *fold) toolsByUse() []ToolUse {
	list := make([]ToolUse, 0, len(f.tools))
	for _, name := range slices.Sorted(maps.Keys(f.tools)) {
		list = append(list, *f.tools[name])
	}
	slices.SortStableFunc(list, func(a, b ToolUse) int { return cmp.Compare(b.Calls, a.Calls) })
	return list
}

// standing names the node where a run stopped that did not say so itself.
func (f *fold) standing() {
	o := &f.s.Outcome
	if o.Node != "" || f.s.Status == Done || f.s.Status == Failed {
		return
	}
	for _, st := range slices.Backward(f.s.Path) {
		switch st.State {
		case StepRunning, StepInterrupted, StepWaiting, StepArrived:
			o.Node = st.Node
			return
		}
	}
}

func (f *fold) addWarnings() {
	spent := f.s.Budget.Spent
	if spent.Unpriced {
		f.warn("some calls have no known price: the cost is a lower bound")
	}
	if spent.Estimated {
		f.warn("some calls reported no usage: what was reserved for them counts as spent")
	}
	for _, c := range f.s.Repeats.Failures {
		f.warn("%s failed: %s", words.Count(c.N, "model call"), c.Name)
	}
	if n := spent.ForfeitedCalls; n > 0 {
		f.warn("the outcome of %s stayed unknown: what was reserved counts as spent", words.Count(n, "model call"))
	}
	if n := f.s.Repeats.OtherEffects; n > 0 {
		f.warn("%s was cut short by the end of an attempt and done again", words.Count(n, "other effect"))
	}
	if f.s.Verification.State == VerifyStale && f.s.Status != Running {
		f.warn("files were written after the tests had passed")
	}
	f.noTests()
}

// noTests keeps visible that a run was let pass although nothing vouches for it.
func (f *fold) noTests() {
	if f.s.Status == Done && !f.s.Vouched() {
		f.warn("nothing vouches for the change: %s", f.s.Verification.State.Words())
	}
}

// Words says in plain words what is known about the tests.
func (v VerifyState) Words() string {
	switch v {
	case VerifyPassed:
		return "the repository's tests pass"
	case VerifyFailed:
		return "the repository's tests do not pass"
	case VerifyNoTests:
		return "the repository has no tests that could be found"
	case VerifyStale:
		return "files were written after the tests had passed"
	case VerifyOff:
		return "the workflow says verify: none"
	}
	return "the repository's tests were not run"
}

// Vouched reports whether a run that is done may be believed: its tests passed,
// or there is no change that would need them.
func (s *Summary) Vouched() bool {
	return s.Verification.State == VerifyPassed || len(s.Commits) == 0 && s.Verification.State != VerifyFailed
}
