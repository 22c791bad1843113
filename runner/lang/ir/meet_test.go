package ir

import "testing"

// meeting builds a sealed workflow of edges "a>b"; names beginning with f fan out,
// names beginning with j join.
func meeting(edges ...[2]string) *Workflow {
	w := &Workflow{}
	node := func(id string) *Node {
		for _, n := range w.Nodes {
			if n.ID == id {
				return n
			}
		}
		n := &Node{ID: id, Op: &Compute{}}
		switch {
		case id == DoneID || id == FailID:
			n.Op = &End{Fail: id == FailID}
		case id[0] == 'f':
			n.Op = &Route{Mode: FanOutAll}
		case id[0] == 'j':
			n.Op = &Join{}
		}
		w.Nodes = append(w.Nodes, n)
		return n
	}
	for _, e := range edges {
		from, to := node(e[0]), node(e[1])
		from.Edges = append(from.Edges, &Edge{From: from, To: to})
	}
	w.Entry = w.Nodes[0]
	w.Seal()
	return w
}

func TestWhereBranchesMeet(t *testing.T) {
	t.Parallel()
	type edges = [][2]string
	for name, c := range map[string]struct {
		edges edges
		want  map[string]string // by fan-out; "" is nowhere
	}{
		"one fan-out":                 {edges{{"f", "a"}, {"f", "b"}, {"a", "j"}, {"b", "j"}, {"j", "done"}}, map[string]string{"f": "j"}},
		"an edge straight to it":      {edges{{"f", "a"}, {"f", "j"}, {"a", "j"}, {"j", "done"}}, map[string]string{"f": "j"}},
		"a branch may fail":           {edges{{"f", "a"}, {"f", "b"}, {"a", "fail"}, {"a", "j"}, {"b", "j"}, {"j", "done"}}, map[string]string{"f": "j"}},
		"a branch always fails":       {edges{{"f", "a"}, {"f", "b"}, {"a", "fail"}, {"b", "j"}, {"j", "done"}}, map[string]string{"f": "j"}},
		"nested":                      {edges{{"f", "f2"}, {"f", "b"}, {"f2", "c"}, {"f2", "d"}, {"c", "j2"}, {"d", "j2"}, {"j2", "j"}, {"b", "j"}, {"j", "done"}}, map[string]string{"f": "j", "f2": "j2"}},
		"nested, one join":            {edges{{"f", "f2"}, {"f", "b"}, {"f2", "c"}, {"f2", "d"}, {"c", "j"}, {"d", "j"}, {"b", "j"}, {"j", "done"}}, map[string]string{"f": "j", "f2": "j"}},
		"a node of both before it":    {edges{{"f", "a"}, {"f", "b"}, {"a", "x"}, {"b", "x"}, {"x", "j"}, {"j", "done"}}, map[string]string{"f": "j"}},
		"a loop inside":               {edges{{"f", "a"}, {"f", "b"}, {"a", "a2"}, {"a2", "a"}, {"a2", "j"}, {"b", "j"}, {"j", "done"}}, map[string]string{"f": "j"}},
		"a loop around":               {edges{{"s", "f"}, {"f", "a"}, {"f", "b"}, {"a", "j"}, {"b", "j"}, {"j", "s"}, {"j", "done"}}, map[string]string{"f": "j"}},
		"a branch passes it by":       {edges{{"f", "a"}, {"f", "b"}, {"a", "j"}, {"b", "j"}, {"b", "done"}, {"j", "done"}}, map[string]string{"f": ""}},
		"no join":                     {edges{{"f", "a"}, {"f", "b"}, {"a", "x"}, {"b", "x"}, {"x", "done"}}, map[string]string{"f": ""}},
		"nothing reaches done":        {edges{{"f", "a"}, {"f", "b"}, {"a", "j"}, {"b", "j"}, {"j", "fail"}}, map[string]string{"f": ""}},
		"the second join of the two":  {edges{{"f", "a"}, {"f", "b"}, {"a", "j1"}, {"j1", "j"}, {"b", "j"}, {"j", "done"}}, map[string]string{"f": "j"}},
		"the join comes from outside": {edges{{"s", "f"}, {"s", "j"}, {"f", "a"}, {"f", "b"}, {"a", "j"}, {"b", "j"}, {"j", "done"}}, map[string]string{"f": "j"}},
	} {
		w := meeting(c.edges...)
		for fan, want := range c.want {
			got := ""
			if m := w.Node(fan).Meets(); m != nil {
				got = m.ID
			}
			if got != want {
				t.Errorf("%s: %s meets at %q, want %q", name, fan, got, want)
			}
		}
	}
}
