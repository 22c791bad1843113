package ir

import "slices"

// Clone copies the workflow so that the copy may be changed and sealed anew:
// nodes, edges, loops, variables and what nodes do are its own. What never
// changes is shared: schemas, templates, expressions.
func (w *Workflow) Clone() *Workflow {
	c := *w
	nodes := make(map[*Node]*Node, len(w.Nodes))
	c.Nodes = make([]*Node, len(w.Nodes))
	for i, n := range w.Nodes {
		copied := *n
		copied.Op = cloneOp(n.Op)
		c.Nodes[i], nodes[n] = &copied, &copied
	}
	loops := make(map[*Loop]*Loop, len(w.Loops))
	c.Loops = copies(w.Loops)
	for i, l := range w.Loops {
		loops[l] = c.Loops[i]
	}
	for _, n := range c.Nodes {
		n.Edges = copies(n.Edges)
		for _, e := range n.Edges {
			e.From, e.To, e.Loop = nodes[e.From], nodes[e.To], loops[e.Loop]
			e.With = slices.Clone(e.With)
		}
	}
	c.Entry = nodes[w.Entry]
	c.Vars, c.Prompts, c.Servers = copies(w.Vars), copies(w.Prompts), copies(w.Servers)
	c.Env = make(map[string]string, len(w.Env))
	for name, value := range w.Env {
		c.Env[name] = value
	}
	c.Seal()
	return &c
}

func copies[T any](list []*T) []*T {
	out := make([]*T, len(list))
	for i, p := range list {
		v := *p
		out[i] = &v
	}
	return out
}

func cloneOp(op Op) Op {
	switch op := op.(type) {
	case *Call:
		return cloneCall(op)
	case *Route:
		c := *op
		c.Call = cloneCall(op.Call)
		return &c
	case *Ask:
		c := *op
		c.Call = cloneCall(op.Call)
		return &c
	case *Exec:
		c := *op
		c.With = slices.Clone(op.With)
		return &c
	}
	return op // a value that nobody changes
}

func cloneCall(c *Call) *Call {
	if c == nil {
		return nil
	}
	copied := *c
	copied.Tools = slices.Clone(c.Tools)
	return &copied
}
