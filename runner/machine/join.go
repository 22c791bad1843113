package machine

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

func same(a, b any) bool { return reflect.DeepEqual(a, b) }

func compareText(a, b any) int {
	x, _ := a.(string)
	y, _ := b.(string)
	return cmp.Compare(x, y)
}

// join is the next step of a token at a join, after its branches have met or
// when it came alone: judge what failed, merge what was written, pass on what
// was brought.
func (s *State) join(t *Token, op *ir.Join) Command {
	if t.met != nil {
		if cause := t.met.missing(op); cause != "" {
			return t.fails(event.FailBranch, "%s", cause)
		}
		if c := s.mergeStep(t, op); c != nil {
			return c
		}
	}
	output := maps.Clone(t.Input)
	if t.At.Out != nil {
		fitted, problems := t.At.Out.Fit(t.Input)
		if len(problems) > 0 {
			return t.fails(event.FailOutput, "output: %s", strings.Join(problems, "; "))
		}
		output = fitted
	}
	for _, key := range []string{failedKey, sharedKey} {
		if output[key] = t.Input[key]; output[key] == nil {
			output[key] = []any{}
		}
	}
	return s.complete(t, output)
}

// missing says why the join cannot go on without the branches that failed, or "".
func (m *meeting) missing(op *ir.Join) string {
	var did, failed []string
	for _, e := range m.ends {
		if e.failure == nil {
			did = append(did, e.did...)
			continue
		}
		failed = append(failed, e.said())
	}
	if len(failed) > 0 && (!op.BestEffort || len(failed) == len(m.ends)) {
		return strings.Join(failed, "; ")
	}
	for _, id := range op.Require {
		if !slices.Contains(did, id) {
			return strings.Join(append([]string{"no branch that arrived has finished " + id}, failed...), "; ")
		}
	}
	return ""
}

// said is why a branch failed, in one clause.
func (e *ending) said() string {
	where := ""
	if last := e.branch[strings.LastIndexByte(e.branch, '/')+1:]; last != e.at {
		where = " at " + e.at
	}
	return fmt.Sprintf("branch %s failed%s: %s", e.branch, where, e.failure.Detail)
}
