package ir

import (
	"strings"

	"github.com/pawl-ci/pawl/runner/lang/graph"
)

// Branches of a fan-out meet at its nearest post-dominator that is a join: the
// first join that every way from the fan-out to done passes. Ways to fail do not
// count, because a branch that fails does not arrive anywhere.

// AwaitSuffix makes the name of the join that `await:` puts in front of a node.
// It is no identifier, so no node of a file can have such a name.
const AwaitSuffix = "@join"

// Awaited reports whether n is such a join.
func Awaited(n *Node) bool { return isJoin(n) && strings.HasSuffix(n.ID, AwaitSuffix) }

// FansOut reports whether the router puts a token on each edge it chooses.
func (r *Route) FansOut() bool { return r.Mode == FanOutAll || r.Mode == LLM && r.Multi }

// Meets is the join where the branches that leave n meet: nil when n is no
// fan-out, or when there is no such join.
func (n *Node) Meets() *Node { return n.meets }

// Required reports whether some join names n among the nodes that must succeed.
func (n *Node) Required() bool { return n.required }

// Resolver is the agent that a join calls on a conflict; nil when it has none.
func (w *Workflow) Resolver(j *Join) *Node {
	if j.Conflict == ConflictFails || j.Conflict == ConflictAsks {
		return nil
	}
	return w.Node(j.Conflict)
}

// findMeetings fills Node.meets and Node.required.
func (w *Workflow) findMeetings() {
	var fans []*Node
	for _, n := range w.Nodes {
		n.meets, n.required = nil, false
		if r, ok := n.Op.(*Route); ok && r.FansOut() {
			fans = append(fans, n)
		}
	}
	for _, n := range w.Nodes {
		if j, ok := n.Op.(*Join); ok {
			for _, id := range j.Require {
				if r := w.Node(id); r != nil {
					r.required = true
				}
			}
		}
	}
	if len(fans) == 0 {
		return
	}
	joins := w.nextJoins()
	for _, n := range fans {
		n.meets = joins[n.Index]
	}
}

// nextJoins returns, by node index, the nearest join that every way from the node
// to done passes: nil where there is none, or no way to done.
func (w *Workflow) nextJoins() []*Node {
	back := make([][]int, len(w.Nodes))
	done := -1
	for i, n := range w.Nodes {
		if end, ok := n.Op.(*End); ok && !end.Fail {
			done = i
		}
		for _, e := range n.Edges {
			if end, ok := e.To.Op.(*End); !ok || !end.Fail {
				back[e.To.Index] = append(back[e.To.Index], i)
			}
		}
	}
	joins := make([]*Node, len(w.Nodes))
	g := graph.New(done, back)
	for _, i := range g.Order()[1:] {
		next := g.Idom(i) // its own is known: it comes before
		if joins[i] = joins[next]; isJoin(w.Nodes[next]) {
			joins[i] = w.Nodes[next]
		}
	}
	return joins
}

func isJoin(n *Node) bool {
	_, ok := n.Op.(*Join)
	return ok
}
