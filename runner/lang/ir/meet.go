package ir

// Branches of a fan-out meet at its nearest post-dominator that is a join: the
// first join that every way from the fan-out to done passes. Ways to fail do not
// count, because a branch that fails does not arrive anywhere.

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
	back := make([]*Node, len(w.Nodes)) // the graph turned round, as workflow
	for i, n := range w.Nodes {
		back[i] = &Node{ID: n.ID, Index: i}
	}
	var done *Node
	for i, n := range w.Nodes {
		if end, ok := n.Op.(*End); ok && !end.Fail {
			done = back[i]
		}
		for _, e := range n.Edges {
			if end, ok := e.To.Op.(*End); !ok || !end.Fail {
				from := back[e.To.Index]
				from.Edges = append(from.Edges, &Edge{From: from, To: back[i]})
			}
		}
	}
	joins := make([]*Node, len(w.Nodes))
	f := newFlow(&Workflow{Entry: done, Nodes: back})
	for rank, n := range f.order {
		if rank == 0 {
			continue
		}
		next := w.Nodes[f.order[f.idom[rank]].Index] // its own is known: it has a lower rank
		if joins[n.Index] = joins[next.Index]; isJoin(next) {
			joins[n.Index] = next
		}
	}
	return joins
}

func isJoin(n *Node) bool {
	_, ok := n.Op.(*Join)
	return ok
}
