package check

import (
	"slices"

	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// reference checks one {{…}}, or one path in an expression, written as text: what
// it names must exist where it stands. It reports whether it does.
func (c *checker) reference(site ir.Site, ref *ir.Ref, text string) bool {
	before := len(c.list)
	c.names(site, ref, text)
	return len(c.list) == before
}

func (c *checker) names(site ir.Site, ref *ir.Ref, text string) {
	if len(ref.Path) == 0 && ref.Root != ir.RootInput && ref.Root != ir.RootEvent && ref.Root != ir.RootVars {
		c.list.Errorf("C004", ref.Span, "write what is meant, for example "+example(ref.Root), "reference %s names nothing", text)
		return
	}
	switch ref.Root {
	case ir.RootVars:
		c.varRef(ref, text)
	case ir.RootInput:
		c.inputRef(site, ref, text)
	case ir.RootOutputs:
		c.outputRef(ref, text)
	case ir.RootArtifacts:
		c.artifactRef(ref, text)
	case ir.RootLoop:
		c.loopRef(ref, text)
	case ir.RootRun:
		c.runRef(ref, text)
	}
}

func example(root ir.Root) string {
	return map[ir.Root]string{
		ir.RootOutputs: "{{outputs.NODE.FIELD}}", ir.RootArtifacts: "{{artifacts.NAME}}",
		ir.RootLoop: "{{loop.NAME.iteration}}", ir.RootRun: "{{run.id}}",
	}[root]
}

func (c *checker) varRef(ref *ir.Ref, text string) {
	if len(ref.Path) == 0 || c.w.Var(ref.Path[0]) != nil {
		return
	}
	names := make([]string, len(c.w.Vars))
	for i, v := range c.w.Vars {
		names[i] = v.Name
	}
	slices.Sort(names)
	c.list.Errorf("C033", ref.Span, diag.Suggest(ref.Path[0], names), "%s: there is no variable %s", text, ref.Path[0])
}

func (c *checker) inputRef(site ir.Site, ref *ir.Ref, text string) {
	if len(ref.Path) == 0 || site.Node.In == nil || meta(ref.Path[0]) || site.Node.In.Field(ref.Path[0]) != nil {
		return
	}
	c.list.Errorf("C034", ref.Span, diag.Suggest(ref.Path[0], site.Node.In.Names()),
		"%s: the input of %s has no field %s", text, site.Node.ID, ref.Path[0])
}

func (c *checker) outputRef(ref *ir.Ref, text string) {
	n := c.w.Node(ref.Path[0])
	if n == nil {
		c.list.Errorf("C030", ref.Span, diag.Suggest(ref.Path[0], c.nodes), "%s: there is no node %s", text, ref.Path[0])
		return
	}
	if len(ref.Path) < 2 || meta(ref.Path[1]) {
		return
	}
	fields, known := n.OutputFields()
	if has(fields, ref.Path[1]) {
		c.parts(n, ref, text)
		return
	}
	switch {
	case ref.Path[1] == "history":
		if !c.w.InLoop(n) {
			c.list.Errorf("C017", ref.Span, "read {{outputs."+n.ID+"}}, or put the node into a loop", "%s: %s runs once, it has no history", text, n.ID)
		}
	case known:
		c.list.Errorf("C031", ref.Span, diag.Suggest(ref.Path[1], fieldNames(fields)), "%s: the output of %s has no field %s", text, n.ID, ref.Path[1])
	case standard[ref.Path[1]] == "":
		c.list.Warnf("C032", ref.Span, "declare a schema with the field and give it to "+n.ID+" as output", "%s: %s has no output schema, so nobody knows whether the field is there", text, n.ID)
	}
}

// parts: only what is made of parts has any.
func (c *checker) parts(n *ir.Node, ref *ir.Ref, text string) {
	if len(ref.Path) < 3 {
		return
	}
	switch v := output(n, ref.Path[1:2]); v.kind {
	case gates.String, gates.Bool, gates.Int, gates.Float:
		c.list.Errorf("C031", ref.Span, "read {{outputs."+n.ID+"."+ref.Path[1]+"}}, or declare the field as json", "%s: field %s of %s is %s and has no parts", text, ref.Path[1], n.ID, v.describe())
	}
}

func (c *checker) artifactRef(ref *ir.Ref, text string) {
	if len(c.publishers[ref.Path[0]]) == 0 {
		c.list.Errorf("C035", ref.Span, diag.Suggest(ref.Path[0], c.artifacts), "%s: no node publishes %s", text, ref.Path[0])
	}
}

func (c *checker) loopRef(ref *ir.Ref, text string) {
	var names []string
	for _, l := range c.w.Loops {
		names = append(names, l.Name)
		if l.Name == ref.Path[0] && len(ref.Path) == 2 && (ref.Path[1] == "iteration" || ref.Path[1] == "max") {
			return
		}
	}
	if slices.Contains(names, ref.Path[0]) {
		c.list.Errorf("C004", ref.Span, "one of: iteration, max", "%s: a loop has no such property", text)
		return
	}
	c.list.Errorf("C004", ref.Span, diag.Suggest(ref.Path[0], names), "%s: there is no loop %s", text, ref.Path[0])
}

var runFields = []string{"attempt", "base", "branch", "id", "workflow"}

func (c *checker) runRef(ref *ir.Ref, text string) {
	if len(ref.Path) != 1 || !slices.Contains(runFields, ref.Path[0]) {
		c.list.Errorf("C004", ref.Span, diag.Suggest(ref.Path[0], runFields), "%s: a run has no such property", text)
	}
}
