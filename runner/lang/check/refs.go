package check

import (
	"slices"
	"strings"

	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// reference checks one {{…}}: what it names must exist where it stands.
func (c *checker) reference(site ir.Site, ref *ir.Ref) {
	if len(ref.Path) == 0 && ref.Root != ir.RootInput && ref.Root != ir.RootEvent && ref.Root != ir.RootVars {
		c.list.Errorf("C004", ref.Span, "write what is meant, for example "+example(ref.Root), "reference {{%s}} names nothing", ref)
		return
	}
	switch ref.Root {
	case ir.RootVars:
		c.varRef(ref)
	case ir.RootInput:
		c.inputRef(site, ref)
	case ir.RootOutputs:
		c.outputRef(ref)
	case ir.RootArtifacts:
		c.artifactRef(ref)
	case ir.RootLoop:
		c.loopRef(ref)
	case ir.RootRun:
		c.runRef(ref)
	}
}

func example(root ir.Root) string {
	return map[ir.Root]string{
		ir.RootOutputs: "{{outputs.NODE.FIELD}}", ir.RootArtifacts: "{{artifacts.NAME}}",
		ir.RootLoop: "{{loop.NAME.iteration}}", ir.RootRun: "{{run.id}}",
	}[root]
}

func (c *checker) varRef(ref *ir.Ref) {
	if len(ref.Path) == 0 || c.w.Var(ref.Path[0]) != nil {
		return
	}
	names := make([]string, len(c.w.Vars))
	for i, v := range c.w.Vars {
		names[i] = v.Name
	}
	slices.Sort(names)
	c.list.Errorf("C033", ref.Span, suggest(ref.Path[0], names), "{{%s}}: there is no variable %s", ref, ref.Path[0])
}

func (c *checker) inputRef(site ir.Site, ref *ir.Ref) {
	if len(ref.Path) == 0 || site.Node.In == nil || meta(ref.Path[0]) || site.Node.In.Field(ref.Path[0]) != nil {
		return
	}
	c.list.Errorf("C034", ref.Span, suggest(ref.Path[0], site.Node.In.Names()),
		"{{%s}}: the input of %s has no field %s", ref, site.Node.ID, ref.Path[0])
}

func (c *checker) outputRef(ref *ir.Ref) {
	n := c.w.Node(ref.Path[0])
	if n == nil {
		c.list.Errorf("C030", ref.Span, suggest(ref.Path[0], c.nodeNames()), "{{%s}}: there is no node %s", ref, ref.Path[0])
		return
	}
	if len(ref.Path) < 2 || meta(ref.Path[1]) {
		return
	}
	fields, known := n.OutputFields()
	if has(fields, ref.Path[1]) {
		return
	}
	switch {
	case ref.Path[1] == "history":
		if !c.w.InLoop(n) {
			c.list.Errorf("C017", ref.Span, "read {{outputs."+n.ID+"}}, or put the node into a loop", "{{%s}}: %s runs once, it has no history", ref, n.ID)
		}
	case known:
		c.list.Errorf("C031", ref.Span, suggest(ref.Path[1], fieldNames(fields)), "{{%s}}: the output of %s has no field %s", ref, n.ID, ref.Path[1])
	case !standard[ref.Path[1]]:
		c.list.Warnf("C032", ref.Span, "declare a schema with the field and give it to "+n.ID+" as output", "{{%s}}: %s has no output schema, so nobody knows whether the field is there", ref, n.ID)
	}
}

// standard are the fields that a tool node without a schema always has.
var standard = map[string]bool{
	"exit_code": true, "passed": true, "success": true, "stdout": true, "stderr": true,
	"output": true, "result": true, "duration_ms": true,
}

func meta(name string) bool { return strings.HasPrefix(name, "_") }

func has(fields []ir.Field, name string) bool {
	return slices.ContainsFunc(fields, func(f ir.Field) bool { return f.Name == name })
}

func fieldNames(fields []ir.Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}

func (c *checker) nodeNames() []string {
	var names []string
	for _, n := range c.w.Nodes {
		if _, end := n.Op.(*ir.End); !end {
			names = append(names, n.ID)
		}
	}
	return names
}

func (c *checker) artifactRef(ref *ir.Ref) {
	var names []string
	for _, n := range c.w.Nodes {
		if n.Publish == ref.Path[0] {
			return
		}
		if n.Publish != "" {
			names = append(names, n.Publish)
		}
	}
	c.list.Errorf("C035", ref.Span, suggest(ref.Path[0], names), "{{%s}}: no node publishes %s", ref, ref.Path[0])
}

func (c *checker) loopRef(ref *ir.Ref) {
	var names []string
	for _, l := range c.w.Loops {
		names = append(names, l.Name)
		if l.Name == ref.Path[0] && len(ref.Path) == 2 && (ref.Path[1] == "iteration" || ref.Path[1] == "max") {
			return
		}
	}
	if slices.Contains(names, ref.Path[0]) {
		c.list.Errorf("C004", ref.Span, "one of: iteration, max", "{{%s}}: a loop has no such property", ref)
		return
	}
	c.list.Errorf("C004", ref.Span, suggest(ref.Path[0], names), "{{%s}}: there is no loop %s", ref, ref.Path[0])
}

var runFields = []string{"attempt", "base", "branch", "id", "workflow"}

func (c *checker) runRef(ref *ir.Ref) {
	if len(ref.Path) != 1 || !slices.Contains(runFields, ref.Path[0]) {
		c.list.Errorf("C004", ref.Span, suggest(ref.Path[0], runFields), "{{%s}}: a run has no such property", ref)
	}
}
