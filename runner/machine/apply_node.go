package machine

import (
	"fmt"
	"maps"

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
		ID: t.ID, At: t.At, Input: t.Input, Loops: t.Loops, last: t.last,
		Phase: Working, Visit: b.Visit, Conversation: talk, began: s.Purse.Elapsed,
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
	n.meta = t.meta(b)
	t.route = b.Route
	s.latest[t.At.ID] = output
	if t.At.Publish != "" {
		s.artifacts[t.At.Publish] = append(s.artifacts[t.At.Publish], output)
		s.published[t.At.Publish] = output
	}
	if b.Commit != "" {
		s.Head, s.Snapshot = b.Commit, ""
		s.changed = s.changed || b.Changed
	}
	t.Phase = Leaving
	return nil
}

// meta is what templates may read beside the output, under names with "_".
func (t *Token) meta(b *event.NodeFinished) map[string]any {
	return map[string]any{
		"_session_id": t.Conversation.Session,
		"_reason":     b.Reason,
		"_tokens":     int(t.usage.Input + t.usage.Output),
		"_cost_usd":   float64(t.usage.Cost) / 1e6,
		"_model":      t.model,
	}
}

func (s *State) edgeTaken(t *Token, b *event.EdgeTaken) error {
	if b.Edge < 0 || b.Edge >= len(t.At.Edges) || t.At.Edges[b.Edge].To.ID != b.To {
		return fmt.Errorf("%s has no edge %d to %s", t.At.ID, b.Edge, b.To)
	}
	edge := t.At.Edges[b.Edge]
	input, err := s.arriving(t, b)
	if err != nil {
		return err
	}
	*t = Token{ID: t.ID, At: edge.To, Phase: Arrived, Input: admit(edge.To, input), Loops: countLoops(t.Loops, edge), last: t.last}
	s.wake(t)
	return nil
}

// arriving is what flows along the edge.
func (s *State) arriving(t *Token, b *event.EdgeTaken) (map[string]any, error) {
	if b.Input == nil {
		return s.output(t.At), nil
	}
	input, err := object(b.Input.Raw())
	if err != nil {
		return nil, fmt.Errorf("input of %s: %w", b.To, err)
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

// output is the newest output of n; nil before its first.
func (s *State) output(n *ir.Node) map[string]any {
	outputs := s.node(n).outputs
	if len(outputs) == 0 {
		return nil
	}
	m, _ := outputs[len(outputs)-1].(map[string]any)
	return m
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
		if c, ok := f.Coerce(v); ok {
			v = c
		}
		in[f.Name] = v
	}
	return in
}
