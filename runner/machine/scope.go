package machine

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// scope resolves references for one token at its node.
type scope struct {
	s *State
	t *Token
}

var _ ir.Scope = scope{}

// Lookup implements ir.Scope. A value that is missing is an error, never empty
// text, because empty text in a prompt goes unnoticed.
func (c scope) Lookup(ref *ir.Ref) (any, error) {
	v, err := c.root(ref)
	if err != nil {
		return nil, fmt.Errorf("{{%s}}: %w", ref, err)
	}
	return v, nil
}

func (c scope) root(ref *ir.Ref) (any, error) {
	switch ref.Root {
	case ir.RootVars:
		return walk(c.s.Vars, ref.Path, "vars")
	case ir.RootInput:
		return c.input(ref.Path)
	case ir.RootOutputs:
		return c.outputs(ref.Path)
	case ir.RootArtifacts:
		return c.artifact(ref.Path)
	case ir.RootLoop:
		return c.loop(ref.Path)
	case ir.RootRun:
		return walk(c.run(), ref.Path, "run")
	case ir.RootEvent:
		return walk(c.s.Trigger, ref.Path, "event")
	}
	if ref.Root == ir.RootEnv {
		return nil, fmt.Errorf("environment variable %s was not set when the workflow was compiled", strings.Join(ref.Path, "."))
	}
	return nil, fmt.Errorf("unknown reference")
}

func (c scope) run() map[string]any {
	return map[string]any{
		"id": string(c.s.Run), "branch": c.s.Branch, "base": c.s.Base,
		"attempt": c.s.Attempt, "workflow": c.s.Workflow.Name,
	}
}

func (c scope) input(path []string) (any, error) {
	if len(path) > 0 {
		if _, given := c.t.Input[path[0]]; !given {
			if f := c.t.At.In.Field(path[0]); f != nil && f.Optional {
				return nil, nil
			}
		}
	}
	return walk(c.t.Input, path, "the input of "+c.t.At.ID)
}

func (c scope) outputs(path []string) (any, error) {
	if len(path) == 0 {
		return nil, fmt.Errorf("a node's name is missing")
	}
	n := c.s.Workflow.Node(path[0])
	if n == nil {
		return nil, fmt.Errorf("there is no node %s", path[0])
	}
	rest := path[1:]
	if len(rest) > 0 && rest[0] == "history" && n.Out.Field("history") == nil {
		return walk(c.s.node(n).history(), rest[1:], path[0]+".history")
	}
	newest, ran := c.t.seen.get(n.ID)
	if !ran {
		if c.s.Workflow.InLoop(n) {
			return nil, nil
		}
		return nil, fmt.Errorf("node %s has not run yet", n.ID)
	}
	if len(rest) > 0 && strings.HasPrefix(rest[0], "_") {
		return walk(newest.meta, rest, "the metadata of "+n.ID)
	}
	return field(newest.output, rest, n)
}

// field reads an output; an optional field that was left out is null.
func field(output map[string]any, path []string, n *ir.Node) (any, error) {
	if len(path) > 0 {
		if f := n.Out.Field(path[0]); f != nil && f.Optional && output[path[0]] == nil {
			return nil, nil
		}
	}
	return walk(output, path, "the output of "+n.ID)
}

// history is never null: a node that has not run yet has an empty one.
func (n *nodeState) history() []any {
	if len(n.outputs) == 0 {
		return []any{}
	}
	return n.outputs[:len(n.outputs):len(n.outputs)]
}

func (c scope) artifact(path []string) (any, error) {
	if len(path) == 0 {
		return nil, fmt.Errorf("an artifact's name is missing")
	}
	versions := c.s.artifacts[path[0]]
	if len(versions) == 0 {
		return nil, fmt.Errorf("artifact %s has not been published yet", path[0])
	}
	return walk(versions[len(versions)-1], path[1:], "artifact "+path[0])
}

func (c scope) loop(path []string) (any, error) {
	if len(path) == 2 {
		for _, l := range c.s.Workflow.Loops {
			if l.Name != path[0] {
				continue
			}
			switch path[1] {
			case "iteration":
				return c.t.Loops[l.Name], nil
			case "max":
				return l.Max, nil
			}
		}
	}
	return nil, fmt.Errorf("want {{loop.NAME.iteration}} or {{loop.NAME.max}} of a declared loop")
}

// walk follows path into v; numbers index lists.
func walk(v any, path []string, where string) (any, error) {
	for _, key := range path {
		switch at := v.(type) {
		case nil:
			return nil, nil
		case map[string]any:
			next, given := at[key]
			if !given {
				return nil, fmt.Errorf("%s has no field %q", where, key)
			}
			v = next
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(at) {
				return nil, fmt.Errorf("%s is a list of %d and has no item %q", where, len(at), key)
			}
			v = at[i]
		default:
			return nil, fmt.Errorf("%s has no field %q: it is not an object", where, key)
		}
		where += "." + key
	}
	return v, nil
}

// env is what expressions see.
func (c scope) env() map[string]any {
	loops := make(map[string]any, len(c.s.Workflow.Loops))
	for _, l := range c.s.Workflow.Loops {
		loops[l.Name] = map[string]any{"iteration": c.t.Loops[l.Name], "max": l.Max}
	}
	return map[string]any{
		"output": c.t.output(), "input": c.t.Input, "vars": c.s.Vars,
		"outputs": c.t.seen.outputs(), "loop": loops, "run": c.run(), "artifacts": c.s.published, "event": c.s.Trigger,
	}
}

// Evaluate resolves a mapping for a token; for built-in tools of tool nodes.
func (s *State) Evaluate(id event.TokenID, with []ir.Binding) (map[string]any, error) {
	c := scope{s, s.tokens[id]}
	out := make(map[string]any, len(with))
	for _, b := range with {
		v, err := b.Value.Value(c)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b.Key, err)
		}
		out[b.Key] = v
	}
	return out, nil
}
