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
	if route, ok := t.At.Op.(*ir.Route); ok {
		switch {
		case route.FansOut():
			return s.fork(t, t.chosen())
		case len(t.route) > 0:
			return s.take(t, t.At.Edges[t.route[0]])
		case route.Mode == ir.RoundRobin:
			return s.take(t, t.At.Edges[(t.Visit-1)%len(t.At.Edges)])
		}
	}
	var exhausted []*ir.Edge
	var fallback *ir.Edge
	for _, e := range t.At.Edges {
		switch holds, err := s.holds(t, e); {
		case err != nil:
			return s.lost(t, event.FailOutput, fmt.Errorf("edge to %s: %w", e.To.ID, err))
		case !holds:
		case exhaustedBy(t, e):
			exhausted = append(exhausted, e)
		case e.Cond != nil:
			return s.take(t, e)
		case fallback == nil:
			fallback = e
		}
	}
	if fallback != nil {
		return s.take(t, fallback)
	}
	return s.stuck(t, exhausted)
}

// lost ends a token whose node has finished and whose way on cannot be told.
func (s *State) lost(t *Token, class event.FailureClass, err error) Record {
	return s.gone(t, class, fmt.Sprintf("%s: %s", t.At.ID, err))
}

// stuck ends a token that no edge leads on.
func (s *State) stuck(t *Token, exhausted []*ir.Edge) Command {
	if len(exhausted) == 0 {
		return s.gone(t, event.FailNoEdge, t.At.ID+": no edge's condition holds")
	}
	var names []string
	for _, e := range exhausted {
		names = append(names, fmt.Sprintf("%s(%d)", e.Loop.Name, e.Loop.Max))
	}
	return s.gone(t, event.FailLoopExhausted,
		fmt.Sprintf("%s: loop %s is used up and no other edge holds", t.At.ID, strings.Join(names, ", ")))
}

// chosen are the edges that a fan-out takes: those that a model has chosen, or all.
func (t *Token) chosen() []*ir.Edge {
	if len(t.route) == 0 {
		return t.At.Edges
	}
	edges := make([]*ir.Edge, len(t.route))
	for i, index := range t.route {
		edges[i] = t.At.Edges[index]
	}
	return edges
}

// fork puts a token on each of the edges whose loop is not used up.
func (s *State) fork(t *Token, edges []*ir.Edge) Command {
	join := t.At.Meets()
	if join == nil {
		return s.gone(t, event.FailNode, t.At.ID+": its branches do not meet at a join")
	}
	forked := &event.Forked{}
	var exhausted []*ir.Edge
	for _, e := range edges {
		if exhaustedBy(t, e) {
			exhausted = append(exhausted, e)
			continue
		}
		taken, err := s.taken(t, e)
		if err != nil {
			return s.lost(t, event.FailInput, err)
		}
		forked.Branches = append(forked.Branches, event.Branch{
			Token: s.lastToken + event.TokenID(len(forked.Branches)) + 1, To: taken.To, Edge: taken.Edge,
			Loop: taken.Loop, Count: taken.Count, Input: taken.Input, Joins: e.To == join,
		})
	}
	if len(forked.Branches) == 0 {
		return s.stuck(t, exhausted)
	}
	return t.record(forked)
}

func (s *State) holds(t *Token, e *ir.Edge) (bool, error) {
	if e.Cond == nil {
		return true, nil
	}
	return e.Cond.Holds(t.output(), scope{s, t}.env)
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

// take moves the token along the edge.
func (s *State) take(t *Token, e *ir.Edge) Command {
	taken, err := s.taken(t, e)
	if err != nil {
		return s.lost(t, event.FailInput, err)
	}
	taken.Joins = t.joins(e)
	return t.record(taken)
}

// taken evaluates the mapping of an edge.
func (s *State) taken(t *Token, e *ir.Edge) (*event.EdgeTaken, error) {
	taken := &event.EdgeTaken{To: e.To.ID, Edge: e.Index}
	if e.Loop != nil {
		taken.Loop, taken.Count = e.Loop.Name, countLoops(t.Loops, e)[e.Loop.Name]
	}
	if len(e.With) == 0 {
		return taken, nil
	}
	input, err := s.Evaluate(t.ID, e.With)
	if err != nil {
		return nil, fmt.Errorf("edge to %s: with %w", e.To.ID, err)
	}
	raw, err := ir.Encode(input)
	if err != nil {
		return nil, fmt.Errorf("edge to %s: %w", e.To.ID, err)
	}
	payload := event.Inline(raw)
	taken.Input = &payload
	return taken, nil
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
