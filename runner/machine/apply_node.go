package machine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

func (s *State) nodeStarted(t *Token, b *event.NodeStarted) error {
	n := s.node(t.At)
	if b.Visit != n.visits+1 {
		return fmt.Errorf("visit %d of %s, %d was expected", b.Visit, t.At.ID, n.visits+1)
	}
	n.visits = b.Visit
	s.Purse.Iterations++
	talk, err := s.opened(t, b)
	*t = Token{
		ID: t.ID, At: t.At, Input: t.Input, Loops: t.Loops,
		Phase: Working, Visit: b.Visit, Conversation: talk, began: s.Purse.Elapsed,
		walker: t.walker,
	}
	return err
}

func (s *State) nodeFinished(t *Token, b *event.NodeFinished) error {
	output, err := object(b.Output.Raw())
	if err != nil {
		return fmt.Errorf("output of %s: %w", t.At.ID, err)
	}
	n := s.node(t.At)
	n.outputs = append(n.outputs, output)
	s.keepTalk(t)
	t.route = b.Route
	t.seen.set(t.At.ID, shown{output, t.meta(b, output)})
	if t.At.Publish != "" {
		s.artifacts[t.At.Publish] = append(s.artifacts[t.At.Publish], output)
		s.published[t.At.Publish] = output
	}
	if b.Commit != "" {
		s.moved(t, b.Commit, "")
		s.changed = s.changed || b.Changed && t.tree == s.root
	}
	if t.At.Required() {
		t.did = append(slices.Clip(t.did), t.At.ID)
	}
	t.Phase = Leaving
	switch {
	case t.back != nil:
		s.resolved(t)
	case t.met != nil:
		s.dropped = append(s.dropped, t.met.trees...)
		t.met = nil
	}
	return nil
}

// meta is what templates may read beside the output, under names with "_": of
// the visit, and what the output itself holds.
func (t *Token) meta(b *event.NodeFinished, output map[string]any) map[string]any {
	m := map[string]any{
		"_session_id": t.Conversation.Session,
		"_reason":     b.Reason,
		"_tokens":     int(t.usage.Input + t.usage.Output),
		"_cost_usd":   float64(t.usage.Cost) / 1e6,
		"_model":      t.model,
	}
	for k, v := range output {
		if strings.HasPrefix(k, "_") {
			m[k] = v
		}
	}
	return m
}

func edgeOf(n *ir.Node, index int, to string) (*ir.Edge, error) {
	if index < 0 || index >= len(n.Edges) || n.Edges[index].To.ID != to {
		return nil, fmt.Errorf("%s has no edge %d to %s", n.ID, index, to)
	}
	return n.Edges[index], nil
}

func (s *State) edgeTaken(t *Token, b *event.EdgeTaken) error {
	edge, err := edgeOf(t.At, b.Edge, b.To)
	if err != nil {
		return err
	}
	input, err := s.arriving(t, b.Input, b.To)
	if err != nil {
		return err
	}
	if b.Joins != t.joins(edge) {
		return fmt.Errorf("edge to %s does not lead where the record says", b.To)
	}
	if b.Joins {
		s.ended(t, ending{walker: t.walker, input: input})
		s.meet(t.fork)
		return nil
	}
	*t = Token{ID: t.ID, At: edge.To, Phase: Arrived, Input: admit(edge.To, input), Loops: countLoops(t.Loops, edge), walker: t.walker}
	s.wake(t)
	return nil
}

// joins reports whether the edge leads t to the join where its branch ends.
func (t *Token) joins(e *ir.Edge) bool { return t.fork != nil && e.To == t.fork.join }

// arriving is what flows along an edge out of t's node.
func (s *State) arriving(t *Token, given *event.Payload, to string) (map[string]any, error) {
	if given == nil {
		return t.output(), nil
	}
	input, err := object(given.Raw())
	if err != nil {
		return nil, fmt.Errorf("input of %s: %w", to, err)
	}
	return input, nil
}

// countLoops is the loop counts after taking edge.
func countLoops(counts map[string]int, edge *ir.Edge) map[string]int {
	if edge.Loop == nil && len(edge.Enters()) == 0 {
		return counts
	}
	next := maps.Clone(counts)
	for _, l := range edge.Enters() {
		delete(next, l.Name)
	}
	if edge.Loop != nil {
		next[edge.Loop.Name]++
	}
	return next
}

// output is the newest output of t's node that t has seen; nil before its first.
func (t *Token) output() map[string]any {
	s, _ := t.seen.get(t.At.ID)
	return s.output
}

// admit restricts what flows into n to its input schema. Values are coerced
// where that works; one that does not fit is kept as it is, and n fails when it
// starts.
func admit(n *ir.Node, value map[string]any) map[string]any {
	if n.In == nil {
		return value
	}
	in := make(map[string]any, len(n.In.Fields))
	for k, v := range value {
		if len(k) > 0 && k[0] == '_' {
			in[k] = v
		}
	}
	for i := range n.In.Fields {
		f := &n.In.Fields[i]
		v, given := value[f.Name]
		if !given {
			continue
		}
		if c, ok := f.Take(v); ok {
			v = c
		}
		in[f.Name] = v
	}
	return in
}
