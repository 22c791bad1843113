package front

import (
	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/ir"
	"github.com/pawl-ci/pawl/runner/lang/syntax"
)

// Options are what lowering needs beside the text.
type Options struct {
	// Env looks up ${NAME}; nil knows no name. Names for which [EnvAllowed] is
	// false are never asked for.
	Env func(name string) (value string, set bool)
}

// Load reads a source and lowers it. The workflow is nil when the source has
// none that could be understood; diagnostics are sorted, and only a list without
// errors makes a workflow that may run.
func Load(f *diag.File, opt Options) (*ir.Workflow, diag.List) {
	file, list := syntax.Parse(f)
	decl := file.Workflow()
	if decl == nil {
		return nil, list
	}
	if opt.Env == nil {
		opt.Env = func(string) (string, bool) { return "", false }
	}
	l := &lowering{
		file: file, decl: decl, opt: opt, list: list,
		w:       &ir.Workflow{Name: decl.Name.Name, Span: decl.Span, Worktree: true, Env: make(map[string]string)},
		schemas: make(map[string]*ir.Schema), nodes: make(map[string]*ir.Node), loops: make(map[string]*ir.Loop),
		prompts: make(map[string]*ir.Template), used: make(map[string]bool), awaits: make(map[*ir.Node]*ir.Join),
	}
	l.run()
	l.list.Sort()
	return l.w, l.list
}

// lowering turns one tree into one workflow.
type lowering struct {
	file    *syntax.File
	decl    *syntax.Workflow
	opt     Options
	list    diag.List
	w       *ir.Workflow
	schemas map[string]*ir.Schema
	nodes   map[string]*ir.Node
	loops   map[string]*ir.Loop
	prompts map[string]*ir.Template
	awaits  map[*ir.Node]*ir.Join // joins in front of nodes
	used    map[string]bool       // "schema x", "prompt y"
}

func (l *lowering) run() {
	l.vars()
	for _, s := range l.file.Schemas {
		l.schemas[s.Name.Name] = lowerSchema(s)
	}
	l.declareNodes()
	for _, n := range l.file.Nodes {
		l.node(n)
	}
	l.workflow()
	l.servers()
	for _, e := range l.decl.Edges {
		l.edge(e)
	}
	for _, p := range l.file.Prompts {
		l.w.Prompts = append(l.w.Prompts, &ir.Prompt{Name: p.Name.Name, Text: l.prompts[p.Name.Name], Span: p.Span})
	}
	l.placeJoins()
	l.unused()
	l.w.Seal()
}

// unused warns about declarations that nothing refers to.
func (l *lowering) unused() {
	for _, p := range l.file.Prompts {
		if !l.used["prompt "+p.Name.Name] {
			l.list.Warnf("P161", p.Span, "use it, or delete it", "prompt %s is not used", p.Name.Name)
		}
	}
	for _, s := range l.file.Schemas {
		if !l.used["schema "+s.Name.Name] {
			l.list.Warnf("P161", s.Span, "use it, or delete it", "schema %s is not used", s.Name.Name)
		}
	}
}
