package symbols

import (
	"slices"

	"github.com/pawl-ci/pawl/runner/lang/syntax/ast"
)

// Member is what may follow a path, or a field that something is known to have.
type Member struct {
	Name string
	Type string // of the value, as the language calls it; "" when anything may come
	Note string // one line about it, or ""
}

// schemaOf is the schema that a property of a node names: one, or none.
func (ix *Index) schemaOf(n *ast.Node, property string) []*ast.Schema {
	if v := n.Props.Value(property); v != nil {
		if s := ix.File.Schema(v.Str); s != nil {
			return []*ast.Schema{s}
		}
	}
	return nil
}

// flowing are the schemas of what conditions on a node's edges read: its output,
// or what flows into a router.
func (ix *Index) flowing(n *ast.Node) []*ast.Schema {
	if n == nil {
		return nil
	}
	if list, known := ix.flows[n]; known {
		return list
	}
	var list []*ast.Schema
	ix.eachSource(n, make(map[*ast.Node]bool), func(source *ast.Node) {
		for _, s := range ix.schemaOf(source, "output") {
			if !slices.Contains(list, s) {
				list = append(list, s)
			}
		}
	})
	ix.flows[n] = list
	return list
}

// eachSource visits the node, or, through routers, the nodes whose output it
// passes on.
func (ix *Index) eachSource(n *ast.Node, seen map[*ast.Node]bool, visit func(*ast.Node)) {
	if n == nil || seen[n] {
		return
	}
	seen[n] = true
	if n.Kind != ast.Router {
		visit(n)
		return
	}
	for _, e := range ix.into[n.Name.Name] {
		if e.WithSpan.IsZero() {
			ix.eachSource(ix.File.Node(e.From.Name), seen, visit)
		}
	}
}

// schemasAt are the schemas of the value that a path leads to.
func (ix *Index) schemasAt(scope Scope, path []Segment) []*ast.Schema {
	var list []*ast.Schema
	switch root := path[0].Name; {
	case root == "input" && len(path) == 1:
		return scope.schemas
	case root == "output" && len(path) == 1 && scope.Output != nil:
		return ix.flowing(scope.Output)
	case root == "outputs" && len(path) == 2:
		return ix.flowing(ix.File.Node(path[1].Name))
	case root == "artifacts" && len(path) == 2:
		for _, n := range ix.makers[path[1].Name] {
			list = append(list, ix.schemaOf(n, "output")...)
		}
	}
	return list
}

func declared(s *ast.Schema) []Member {
	list := make([]Member, len(s.Fields))
	for i := range s.Fields {
		f := &s.Fields[i]
		list[i] = Member{Name: f.Name.Name, Type: TypeOf(f), Note: "of schema " + s.Name.Name}
	}
	return list
}

// TypeOf is the type of a field for people: `string (one of "low", "high"),
// optional`.
func TypeOf(f *ast.Field) string {
	text := string(f.Type)
	for i := range f.Enum {
		if i == 0 {
			text += " (one of "
		} else {
			text += ", "
		}
		text += `"` + f.Enum[i].Str + `"`
	}
	if len(f.Enum) > 0 {
		text += ")"
	}
	if f.Optional {
		text += ", optional"
	}
	return text
}

// commandFields are what every command gives.
var commandFields = []Member{
	{"exit_code", "int", "the exit status"}, {"passed", "bool", "the exit status is 0"}, {"success", "bool", "the exit status is 0"},
	{"stdout", "string", "standard output"}, {"stderr", "string", "standard error"}, {"output", "string", "both, as they came"},
	{"result", "string", "standard output, trimmed"}, {"duration_ms", "int", "how long it took"},
}

// Outputs are the fields that a node's output is known to have, in file order;
// none when anything may come.
func (ix *Index) Outputs(n *ast.Node) []Member {
	return ix.outputs(n, make(map[*ast.Node]bool))
}

func (ix *Index) outputs(n *ast.Node, seen map[*ast.Node]bool) []Member {
	if n == nil || seen[n] {
		return nil
	}
	seen[n] = true
	if s := ix.schemaOf(n, "output"); s != nil {
		return declared(s[0])
	}
	switch n.Kind {
	case ast.Agent, ast.Judge:
		return []Member{{"text", "string", "the answer as it is"}}
	case ast.Human:
		return []Member{{"approved", "bool", "the answer"}, {"comment", "string, optional", "what was said with it"}}
	case ast.Tool:
		return commandFields
	case ast.Compute:
		var list []Member
		for _, e := range n.Props.Value("expr").Entries() {
			list = append(list, Member{e.Key.Name, "", e.Value.Str})
		}
		return list
	}
	return ix.arriving(n, seen)
}

// Inputs are the fields that a node's input is known to have.
func (ix *Index) Inputs(n *ast.Node) []Member {
	if s := ix.schemaOf(n, "input"); s != nil {
		return declared(s[0])
	}
	return ix.arriving(n, make(map[*ast.Node]bool))
}

// arriving is what the edges bring to a node, and what flows into the entry.
func (ix *Index) arriving(n *ast.Node, seen map[*ast.Node]bool) []Member {
	var list []Member
	for _, e := range ix.into[n.Name.Name] {
		if e.WithSpan.IsZero() {
			list = append(list, ix.outputs(ix.File.Node(e.From.Name), seen)...)
			continue
		}
		for i := range e.With {
			list = append(list, Member{e.With[i].Key.Name, "", "from " + e.From.Name + " -> " + e.To.Name})
		}
	}
	if w := ix.File.Workflow(); w != nil {
		if entry := w.Props.Value("entry"); entry != nil && entry.Str == n.Name.Name {
			list = append(list, ix.vars()...)
		}
	}
	return distinct(list)
}

// distinct leaves the first member of each name.
func distinct(list []Member) []Member {
	seen := make(map[string]bool, len(list))
	return slices.DeleteFunc(list, func(m Member) bool {
		again := seen[m.Name]
		seen[m.Name] = true
		return again
	})
}

// vars are the variables in force.
func (ix *Index) vars() []Member {
	var list []Member
	for _, s := range ix.All(Var) {
		if ix.Find(Var, s.Name) == s {
			list = append(list, Member{s.Name, string(s.Var.Type), "variable"})
		}
	}
	return list
}

// The members that no file declares.
var (
	runMembers = []Member{
		{"id", "string", "the run"}, {"branch", "string", "its branch"}, {"base", "string", "the commit it began at"},
		{"workflow", "string", "the workflow's name"}, {"attempt", "int", "how often it was begun or resumed"},
	}
	loopMembers = []Member{{"iteration", "int", "how often the loop was taken, from 0"}, {"max", "int", "its bound"}}
	metaMembers = []Member{
		{"_session_id", "string", "the conversation"}, {"_tokens", "int", "tokens used"}, {"_cost_usd", "float", "US dollars"},
	}
	rootMembers = []Member{
		{"artifacts", "", "the newest version of what was published"}, {"event", "json", "the GitHub event that woke the run"},
		{"input", "", "what flowed into the node; in with: into the edge's source"}, {"loop", "", "a loop: iteration, max"},
		{"outputs", "", "the last output of a node"}, {"run", "", "the run: id, branch, base, workflow, attempt"}, {"vars", "", "the variables"},
	}
	outputRoot = Member{"output", "", "what left the node"}
)

// Members are what may follow a path at a place: [] gives the roots. Nothing
// comes back where nobody can know.
func (ix *Index) Members(scope Scope, path ...string) []Member {
	if len(path) == 0 {
		if scope.Output != nil {
			return append([]Member{outputRoot}, rootMembers...)
		}
		return rootMembers
	}
	if len(path) == 2 {
		return ix.secondMembers(path[0], path[1])
	}
	if len(path) > 2 {
		return nil
	}
	switch path[0] {
	case "vars":
		return ix.vars()
	case "run":
		return runMembers
	case "input":
		var list []Member
		for _, n := range scope.Inputs {
			list = append(list, ix.Inputs(n)...)
		}
		return distinct(list)
	case "output":
		if scope.Output == nil {
			return nil
		}
		return append(ix.Outputs(scope.Output), metaMembers...)
	case "outputs":
		return ix.names(Node, func(s *Symbol) string { return string(s.Node.Kind) })
	case "artifacts":
		return ix.names(Artifact, func(*Symbol) string { return "artifact" })
	case "loop":
		return ix.names(Loop, func(*Symbol) string { return "loop" })
	}
	return nil
}

func (ix *Index) names(kind Kind, note func(*Symbol) string) []Member {
	var list []Member
	for _, s := range ix.All(kind) {
		list = append(list, Member{s.Name, "", note(s)})
	}
	return list
}

// history is what a node's outputs are called together.
var history = Member{"history", "json", "all outputs of the node, oldest first; only inside a loop"}

func (ix *Index) secondMembers(root, name string) []Member {
	switch root {
	case "outputs":
		if n := ix.File.Node(name); n != nil {
			return slices.Concat(ix.Outputs(n), []Member{history}, metaMembers)
		}
	case "artifacts":
		var list []Member
		for _, n := range ix.makers[name] {
			list = append(list, ix.Outputs(n)...)
		}
		return distinct(list)
	case "loop":
		return loopMembers
	}
	return nil
}

// Member is what the path of a reference leads to, and whether anything is known
// about it.
func (ix *Index) Member(scope Scope, path ...string) (Member, bool) {
	if len(path) == 0 {
		return Member{}, false
	}
	for _, m := range ix.Members(scope, path[:len(path)-1]...) {
		if m.Name == path[len(path)-1] {
			return m, true
		}
	}
	return Member{}, false
}
