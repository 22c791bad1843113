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

// ReplaceTemplates puts other templates in the place of those that are keys of
// with, wherever a node's operation holds them. The workflow must be the caller's
// own, and must not be running.
func (w *Workflow) ReplaceTemplates(with map[*Template]*Template) {
	for _, n := range w.Nodes {
		for _, slot := range n.slots() {
			if t := with[*slot]; t != nil {
				*slot = t
			}
		}
	}
}

// templates lists the node's own templates; some may be nil.
func (n *Node) templates() []*Template {
	slots := n.slots()
	list := make([]*Template, len(slots))
	for i, slot := range slots {
		list[i] = *slot
	}
	return list
}

// slots are where the node's operation keeps its templates.
func (n *Node) slots() []**Template {
	switch op := n.Op.(type) {
	case *Call:
		return op.slots()
	case *Route:
		return op.Call.slots()
	case *Ask:
		return append(op.Call.slots(), &op.Instructions)
	case *Exec:
		out := []**Template{&op.Command}
		for i := range op.With {
			out = append(out, &op.With[i].Value)
		}
		return out
	}
	return nil
}

func (c *Call) slots() []**Template {
	if c == nil {
		return nil
	}
	return []**Template{&c.Model, &c.System, &c.User, &c.InteractionPrompt, &c.InteractionModel}
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
