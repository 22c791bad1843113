package replay_test

import (
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/runner/event"
)

// How a replay takes each type of event. A new type must be put into one of the
// lists, and into the switch of the room: without it, it is taken for a decision.
const (
	fromOutside = "RunStarted RunResumed EffectForfeited GateAsked ModelCallFailed ToolCallFinished CommandFinished VerifyFinished MergeFinished"
	starts      = "ModelCallStarted ToolCallStarted CommandStarted GateOpened VerifyStarted MergeStarted"
	readings    = "ModelCallFinished GateAnswered"
	decisions   = "RunStopped RunParked RunFinished BudgetWarned NodeStarted NodeFinished NodeFailed NodeRetried EdgeTaken Forked BranchFailed ConflictReferred"
)

func TestEveryTypeIsTakenSomehow(t *testing.T) {
	t.Parallel()
	known := make(map[string]int)
	for _, list := range []string{fromOutside, starts, readings, decisions} {
		for _, name := range strings.Fields(list) {
			known[name]++
		}
	}
	for _, kind := range event.Types() {
		if known[string(kind)] != 1 {
			t.Errorf("%s stands in %d lists: say how a replay takes it", kind, known[string(kind)])
		}
		delete(known, string(kind))
	}
	for name := range known {
		t.Errorf("there is no event %s", name)
	}
}
