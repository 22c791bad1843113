package front

import (
	"slices"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/ir"
	"github.com/pawl-ci/pawl/runner/lang/syntax"
)

// join is a join node, or what `await:` puts in front of another one; strategy
// names the property that says which branches must succeed.
func (l *lowering) join(props syntax.Props, strategy string) *ir.Join {
	j := &ir.Join{BestEffort: word(props, strategy) == "best_effort", Conflict: l.policy(props.Value("conflict"))}
	for _, v := range props.Value("require").Items() {
		j.Require = append(j.Require, v.Str)
	}
	return j
}

// policy reads what happens on a conflict.
func (l *lowering) policy(v *syntax.Value) string {
	if v == nil || v.Str == "fail" {
		return ir.ConflictFails
	}
	var agents []string
	for _, n := range l.file.Nodes {
		if n.Kind == syntax.Agent {
			agents = append(agents, n.Name.Name)
		}
	}
	if v.Str != ir.ConflictAsks && !slices.Contains(agents, v.Str) {
		l.list.Errorf("C001", v.Span, diag.Suggest(v.Str, append([]string{"fail", ir.ConflictAsks}, agents...)),
			"conflict: %s is neither fail nor ask nor an agent", v.Str)
		return ir.ConflictFails
	}
	return v.Str
}

// awaited notes the join that a node's `await:` asks for.
func (l *lowering) awaited(n *ir.Node, props syntax.Props) {
	await, conflict := props.Value("await"), props.Value("conflict")
	switch _, isJoin := n.Op.(*ir.Join); {
	case isJoin:
	case await != nil:
		l.awaits[n] = l.join(props, "await")
	case conflict != nil:
		l.list.Errorf("P177", conflict.Span, "add await: wait_all, or drop conflict", "%s has a policy for conflicts and awaits no branches", n.ID)
	}
}

// placeJoins puts the joins of `await:` in front of their nodes: every edge to
// the node leads to its join, and one edge from there to the node.
func (l *lowering) placeJoins() {
	if len(l.awaits) == 0 {
		return
	}
	joins := make(map[*ir.Node]*ir.Node, len(l.awaits))
	nodes := make([]*ir.Node, 0, len(l.w.Nodes)+len(l.awaits))
	for _, n := range l.w.Nodes {
		if op := l.awaits[n]; op != nil {
			joins[n] = &ir.Node{ID: n.ID + ir.AwaitSuffix, Span: n.Span, Retries: -1, Op: op}
			nodes = append(nodes, joins[n])
		}
		nodes = append(nodes, n)
	}
	for _, n := range nodes {
		for _, e := range n.Edges {
			if j := joins[e.To]; j != nil {
				e.To = j
			}
		}
	}
	for n, j := range joins {
		j.Edges = []*ir.Edge{{Span: n.Span, From: j, To: n}}
	}
	if j := joins[l.w.Entry]; j != nil {
		l.w.Entry = j
	}
	l.w.Nodes = nodes
}
