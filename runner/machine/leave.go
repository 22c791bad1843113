package machine

import (
	"fmt"
	"strings"

	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// leave chooses the edge: the first in file order whose condition holds, else
// the unconditional one. Edges whose loop is used up are skipped. What a model
// chose for a router stands.
func (s *State) leave(t *Token) Command {
	if len(t.route) > 0 {
		return s.take(t, t.At.Edges[t.route[0]])
	}
	if route, ok := t.At.Op.(*ir.Route); ok && route.Mode == ir.RoundRobin {
		return s.take(t, t.At.Edges[(t.Visit-1)%len(t.At.Edges)])
	}
	var exhausted []string
	var fallback *ir.Edge
	for _, e := range t.At.Edges {
		switch holds, err := s.holds(t, e); {
		case err != nil:
			return t.fails(event.FailOutput, "edge to %s: %s", e.To.ID, err)
		case !holds:
		case exhaustedBy(t, e):
			exhausted = append(exhausted, fmt.Sprintf("%s(%d)", e.Loop.Name, e.Loop.Max))
		case e.Cond != nil:
			return s.take(t, e)
		case fallback == nil:
			fallback = e
		}
	}
	if fallback != nil {
		return s.take(t, fallback)
	}
	if len(exhausted) > 0 {
		return s.endRun(event.Failed, event.FailLoopExhausted,
			fmt.Sprintf("%s: loop %s is used up and no other edge holds", t.At.ID, strings.Join(exhausted, ", ")))
	}
	return s.endRun(event.Failed, event.FailNoEdge, fmt.Sprintf("%s: no edge's condition holds", t.At.ID))
}

func (s *State) holds(t *Token, e *ir.Edge) (bool, error) {
	if e.Cond == nil {
		return true, nil
	}
	return e.Cond.Holds(s.output(t.At), scope{s, t}.env)
}

// exhaustedBy reports whether e's loop has no turn left for t. Entering the loop
// from outside starts it anew.
func exhaustedBy(t *Token, e *ir.Edge) bool {
	if e.Loop == nil {
		return false
	}
	for _, l := range e.Enters() {
		if l == e.Loop {
			return false
		}
	}
	return t.Loops[e.Loop.Name] >= e.Loop.Max
}

// take evaluates the mapping and moves the token.
func (s *State) take(t *Token, e *ir.Edge) Command {
	taken := &event.EdgeTaken{To: e.To.ID, Edge: e.Index}
	if e.Loop != nil {
		taken.Loop, taken.Count = e.Loop.Name, countLoops(t.Loops, e)[e.Loop.Name]
	}
	if len(e.With) > 0 {
		input, err := s.Evaluate(t.ID, e.With)
		if err != nil {
			return t.fails(event.FailInput, "edge to %s: with %s", e.To.ID, err)
		}
		raw, err := ir.Encode(input)
		if err != nil {
			return t.fails(event.FailInput, "edge to %s: %s", e.To.ID, err)
		}
		payload := event.Inline(raw)
		taken.Input = &payload
	}
	return t.record(taken)
}

// warning is due once per limit when four fifths of it are gone.
func (s *State) warning() (Record, bool) {
	l, used := s.Purse.Limits, s.Purse.Used()
	for _, row := range []struct {
		name      string
		used, max int64
		text      func(int64) string
	}{
		{"max_tokens", used.Tokens, l.MaxTokens, count},
		{"max_cost_usd", int64(used.Cost), int64(l.MaxCost), dollars},
		{"max_duration", int64(s.Purse.Elapsed), int64(l.MaxDuration), elapsed},
		{"max_iterations", s.Purse.Iterations, l.MaxIterations, count},
	} {
		if row.max > 0 && row.used >= row.max-row.max/5 && !s.warned[row.name] {
			return Record{Body: &event.BudgetWarned{Limit: row.name, Used: row.text(row.used), Max: row.text(row.max)}}, true
		}
	}
	return Record{}, false
}
