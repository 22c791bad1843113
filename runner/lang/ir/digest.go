package ir

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"sort"
)

// Digest is the lower-case hex SHA-256 of what the workflow means: formatting,
// comments and spans do not count.
func (w *Workflow) Digest() string {
	h := sha256.New()
	fmt.Fprintf(h, "workflow %q entry %q worktree %t verify %d %q limits %+v\n",
		w.Name, w.Entry.ID, w.Worktree, w.Verify.Mode, w.Verify.Commands, w.Limits)
	for _, v := range w.Vars {
		fmt.Fprintf(h, "var %q %s %v %s\n", v.Name, v.Type.Describe(), v.HasDef, canonical(v.Default))
	}
	for _, s := range w.Servers {
		s.write(h)
	}
	if w.ProjectServers {
		fmt.Fprintln(h, "project servers")
	}
	nodes := make([]string, len(w.Nodes))
	for i, n := range w.Nodes {
		nodes[i] = n.ID + " " + n.Digest()
	}
	sort.Strings(nodes)
	for _, n := range nodes {
		fmt.Fprintln(h, n)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Digest covers everything that decides what the node does and where it leads.
func (n *Node) Digest() string {
	h := sha256.New()
	fmt.Fprintf(h, "node %q publish %q timeout %d retries %d\n", n.ID, n.Publish, n.Timeout, n.Retries)
	writeSchema(h, "in", n.In)
	writeSchema(h, "out", n.Out)
	writeOp(h, n.Op)
	for _, e := range n.Edges {
		writeEdge(h, e)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func writeSchema(w io.Writer, side string, s *Schema) {
	if s == nil {
		return
	}
	for _, f := range s.Fields {
		fmt.Fprintf(w, "%s %q %s %t\n", side, f.Name, f.Describe(), f.Optional)
	}
}

func writeOp(w io.Writer, op Op) {
	switch op := op.(type) {
	case *Call:
		writeCall(w, op)
	case *Route:
		fmt.Fprintf(w, "route %s %t\n", op.Mode, op.Multi)
		writeCall(w, op.Call)
	case *Ask:
		fmt.Fprintf(w, "ask %s %d %q\n", op.Mode, op.MinAnswers, op.Instructions.source())
		writeCall(w, op.Call)
	case *Exec:
		fmt.Fprintf(w, "exec %q %q %t %t\n", op.Command.source(), op.Uses, op.Readonly, op.Network)
		writeBindings(w, op.With)
	case *Compute:
		for _, f := range op.Fields {
			fmt.Fprintf(w, "compute %q %q\n", f.Name, f.Expr.Source)
		}
	case *Join:
		fmt.Fprintf(w, "join %t %q %q\n", op.BestEffort, op.Require, op.Conflict)
	case *End:
		fmt.Fprintf(w, "end %t\n", op.Fail)
	}
}

func writeCall(w io.Writer, c *Call) {
	if c == nil {
		return
	}
	fmt.Fprintf(w, "call %d %q %q %q %q %q %d %q %t %d %s\n", c.Role, c.Model.source(), c.Backend,
		c.System.source(), c.User.source(), c.Session, c.MaxSteps, c.Effort, c.Readonly, c.MaxTokens, canonical(deref(c.Temperature)))
	for _, t := range c.Tools {
		fmt.Fprintf(w, "tool %q\n", t.Name)
	}
	c.Policy.write(w)
	if c.Interaction != NoInteraction {
		fmt.Fprintf(w, "interaction %q %q %q\n", c.Interaction, c.InteractionPrompt.source(), c.InteractionModel.source())
	}
}

func writeBindings(w io.Writer, with []Binding) {
	for _, b := range with {
		fmt.Fprintf(w, "with %q %q\n", b.Key, b.Value.source())
	}
}

func writeEdge(w io.Writer, e *Edge) {
	fmt.Fprintf(w, "edge %q\n", e.To.ID)
	if e.Cond != nil {
		fmt.Fprintf(w, "when %s\n", e.Cond)
	}
	if e.Loop != nil {
		fmt.Fprintf(w, "as %q %d\n", e.Loop.Name, e.Loop.Max)
	}
	writeBindings(w, e.With)
}

func deref(f *float64) any {
	if f == nil {
		return nil
	}
	return *f
}

func canonical(v any) string {
	raw, err := Encode(v)
	if err != nil {
		return fmt.Sprintf("%#v", v)
	}
	return string(raw)
}
