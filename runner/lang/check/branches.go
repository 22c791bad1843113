package check

import (
	"fmt"
	"slices"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// fanOut checks that the branches of a fan-out meet, and says where they do not.
func (c *checker) fanOut(n *ir.Node) {
	r, router := n.Op.(*ir.Route)
	if !router || !r.FansOut() || n.Meets() != nil || len(n.Edges) == 0 {
		return
	}
	d := diag.Diagnostic{
		Code: "P171", Severity: diag.Error, Span: n.Span, Message: "the branches of " + n.ID + " do not meet at a join",
		Hint: "add a join, or await: wait_all on the node where they come together, that every branch passes before done",
	}
	branches := c.f.On(n)
	for _, b := range branches {
		if _, join := b.Op.(*ir.Join); join {
			d.Message += ": a way leads around " + name(b)
			d.Related = append(d.Related, diag.Related{Span: b.Span, Message: "some of them meet here"})
			d.Related = append(d.Related, c.leavers(n, b)...)
			break
		}
	}
	if len(d.Related) == 0 {
		for _, e := range n.Edges[:min(len(n.Edges), 3)] {
			d.Related = append(d.Related, diag.Related{Span: e.Span, Message: "a branch begins here"})
		}
	}
	c.list.Add(d)
}

// leavers are the edges by which a branch of n comes to done without passing join.
func (c *checker) leavers(n, join *ir.Node) []diag.Related {
	var out []diag.Related
	seen := map[*ir.Node]bool{n: true, join: true}
	for work := []*ir.Node{n}; len(work) > 0 && len(out) < 3; {
		at := work[0]
		work = work[1:]
		for _, e := range at.Edges {
			if end, ok := e.To.Op.(*ir.End); ok && !end.Fail {
				out = append(out, diag.Related{Span: e.Span, Message: "this edge leaves the branch around it"})
			}
			if !seen[e.To] {
				seen[e.To] = true
				work = append(work, e.To)
			}
		}
	}
	return out
}

// join checks a join: whether branches come to it, and whether it requires what
// can be.
func (c *checker) join(n *ir.Node, op *ir.Join) {
	fans := c.meets[n]
	if !c.behind[n.Index] && !ir.Awaited(n) {
		c.list.Warnf("P189", n.Span, "lead the branches of a router with mode: fan_out_all here, or drop the join", "%s waits for branches, and no fan-out leads to it", name(n))
	}
	if len(op.Require) == 0 || len(fans) == 0 {
		return
	}
	on := make(map[string]bool)
	var names []string
	for _, f := range fans {
		for _, b := range c.f.On(f) {
			if _, end := b.Op.(*ir.End); !on[b.ID] && !end {
				on[b.ID] = true
				names = append(names, b.ID)
			}
		}
	}
	for _, id := range op.Require {
		if !on[id] {
			c.list.Add(diag.Diagnostic{
				Code: "P190", Severity: diag.Error, Span: n.Span, Message: fmt.Sprintf("%s requires %s, which is on no branch that it waits for", name(n), id),
				Hint: diag.Suggest(id, names), Related: []diag.Related{{Span: fans[0].Span, Message: "the branches begin here"}},
			})
		}
	}
}

// sessions: where branches meet there are several conversations, and none of them
// is the one to continue.
func (c *checker) sessions(n *ir.Node, op *ir.Call) {
	if op.Session != ir.Inherit && op.Session != ir.Fork {
		return
	}
	for _, e := range c.f.Into(n) {
		join := c.meeting(e, make(map[*ir.Node]bool))
		if join == nil {
			continue
		}
		c.list.Add(diag.Diagnostic{
			Code: "C009", Severity: diag.Error, Span: n.Span,
			Message: fmt.Sprintf("session: %s of %s continues the conversation it comes from, and several branches meet there", op.Session, name(n)),
			Hint:    `use session: fresh, or say which conversation: with { _session_id: "{{outputs.NODE._session_id}}" }`,
			Related: []diag.Related{{Span: join.Span, Message: "the branches meet here"}},
		})
		return
	}
}

// meeting is the join of several branches from which e comes, or nil: routers
// between do not talk, and an edge that names the conversation is sound.
func (c *checker) meeting(e *ir.Edge, seen map[*ir.Node]bool) *ir.Node {
	if slices.ContainsFunc(e.With, func(b ir.Binding) bool { return b.Key == "_session_id" }) || seen[e.From] {
		return nil
	}
	seen[e.From] = true
	switch e.From.Op.(type) {
	case *ir.Join:
		for _, in := range c.f.Into(e.From) {
			if slices.ContainsFunc(in.With, func(b ir.Binding) bool { return b.Key == "_session_id" }) && len(e.With) == 0 {
				return nil
			}
		}
		if slices.ContainsFunc(c.meets[e.From], func(f *ir.Node) bool { return len(f.Edges) > 1 }) {
			return e.From
		}
	case *ir.Route, *ir.Compute, *ir.Exec:
		for _, in := range c.f.Into(e.From) {
			if join := c.meeting(in, seen); join != nil {
				return join
			}
		}
	}
	return nil
}

// collisions: two branches that bring the same key to their join.
func (c *checker) collisions(join *ir.Node) {
	first := make(map[string]*ir.Edge)
	for _, e := range c.f.Into(join) {
		if e.Cond != nil {
			continue
		}
		for i := range e.With {
			b := &e.With[i]
			have := first[b.Key]
			if have == nil {
				first[b.Key] = e
				continue
			}
			if meta(b.Key) || !c.apart(have, e) {
				continue
			}
			c.list.Add(diag.Diagnostic{
				Code: "C028", Severity: diag.Error, Span: b.Span,
				Message: fmt.Sprintf("%s and %s both bring %s to %s: one of the two would be lost", name(have.From), name(e.From), b.Key, name(join)),
				Hint:    "give each branch a key of its own",
				Related: []diag.Related{{Span: have.Span, Message: "the other one comes here"}},
			})
		}
	}
}

// apart reports whether two edges can be taken by different branches of one
// fan-out.
func (c *checker) apart(a, b *ir.Edge) bool {
	xs, ys := c.f.Along(a), c.f.Along(b)
	for _, x := range xs[:min(len(xs), mostPairs)] {
		for _, y := range ys[:min(len(ys), mostPairs)] {
			if x.Fan == y.Fan && x.Edge != y.Edge {
				return true
			}
		}
	}
	return false
}

// mostPairs bounds what is compared of nodes that lie on very many branches.
const mostPairs = 100

// fans fills meets and behind.
func (c *checker) fans() {
	c.meets, c.behind = make(map[*ir.Node][]*ir.Node), make([]bool, len(c.w.Nodes))
	var work []*ir.Node
	for _, n := range c.w.Nodes {
		if r, router := n.Op.(*ir.Route); router && r.FansOut() && c.f.Reachable(n) {
			work = append(work, n)
			if n.Meets() != nil {
				c.meets[n.Meets()] = append(c.meets[n.Meets()], n)
			}
		}
	}
	for len(work) > 0 {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		for _, e := range n.Edges {
			if !c.behind[e.To.Index] {
				c.behind[e.To.Index] = true
				work = append(work, e.To)
			}
		}
	}
}
