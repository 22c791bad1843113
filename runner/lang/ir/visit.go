package ir

// Site is where a reference stands: in a node, or in the mapping of one of its
// outgoing edges.
type Site struct {
	Node *Node
	Edge *Edge // nil: in the node itself
}

// EachRef visits every reference of the workflow in file order.
func (w *Workflow) EachRef(visit func(Site, *Ref)) {
	for _, n := range w.Nodes {
		for _, t := range n.templates() {
			for _, r := range t.Refs() {
				visit(Site{Node: n}, r)
			}
		}
		for _, e := range n.Edges {
			for _, b := range e.With {
				for _, r := range b.Value.Refs() {
					visit(Site{Node: n, Edge: e}, r)
				}
			}
		}
	}
}

// templates lists the node's own templates; some may be nil.
func (n *Node) templates() []*Template {
	switch op := n.Op.(type) {
	case *Call:
		return op.templates()
	case *Route:
		return op.Call.templates()
	case *Ask:
		return append(op.Call.templates(), op.Instructions)
	case *Exec:
		out := []*Template{op.Command}
		for _, b := range op.With {
			out = append(out, b.Value)
		}
		return out
	}
	return nil
}

func (c *Call) templates() []*Template {
	if c == nil {
		return nil
	}
	return []*Template{c.Model, c.System, c.User}
}

// OutputFields are the fields that the node's output is known to have: its
// schema's, or those that its op always gives. known is false when anything may
// come.
func (n *Node) OutputFields() (fields []Field, known bool) {
	if n.Out != nil {
		return n.Out.Fields, true
	}
	switch op := n.Op.(type) {
	case *Ask:
		return approvalFields, true
	case *Compute:
		for _, f := range op.Fields {
			fields = append(fields, field(f.Name, ""))
		}
		return fields, true
	case *Call:
		return textFields, true
	}
	return nil, false
}
