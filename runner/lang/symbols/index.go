package symbols

import (
	"cmp"
	"slices"
	"sort"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/syntax/ast"
)

// Kind is what a name names.
type Kind uint8

// The kinds of names.
const (
	Workflow Kind = iota + 1
	Node
	Prompt
	Schema
	Field // of a schema
	Var
	Server // of MCP
	Loop
	Artifact
)

// String is the kind as people read it.
func (k Kind) String() string {
	return [...]string{"", "workflow", "node", "prompt", "schema", "field", "variable", "MCP server", "loop", "artifact"}[k]
}

// Symbol is one thing that has a name. At most one of the pointers to the tree is
// set, as the kind says; loops and artifacts have none.
type Symbol struct {
	Kind Kind
	Name string
	At   diag.Span // its name where it is declared
	Head diag.Span // the header or line that declares it

	Workflow *ast.Workflow
	Node     *ast.Node
	Prompt   *ast.Prompt
	Schema   *ast.Schema
	Field    *ast.Field
	Var      *ast.Var
	Server   *ast.Server
	Owner    *Symbol // of a field: its schema
	Max      int     // of a loop: its bound
}

// Use is one place where a name stands.
type Use struct {
	Span diag.Span // the name alone, without quotes
	Kind Kind
	Name string
	// Symbols are what it names: none when nothing of that name is declared,
	// several when a text is read at several places, each with its own schema.
	Symbols []*Symbol
	Def     bool // it is declared here
}

// Ref is a reference in a template or an expression.
type Ref struct {
	Span  diag.Span // from {{ to }}, or the path in an expression
	Path  []Segment // at least one
	Scope Scope
}

// Segment is one name of a reference's path.
type Segment struct {
	Name string
	Span diag.Span
}

// Scope is where a reference stands.
type Scope struct {
	Inputs []*ast.Node // whose input is called input
	Output *ast.Node   // whose output is called output; nil outside of conditions
	Expr   bool        // an expression, not a template

	schemas []*ast.Schema // of the inputs, each once
}

// Index holds the names of one tree. It does not change once it is made, and may
// be read by many goroutines.
type Index struct {
	File *ast.File

	uses    []Use // by place
	refs    []Ref // by place
	symbols []*Symbol
	named   map[key]*Symbol
	bySym   map[*Symbol][]int      // indexes into uses
	into    map[string][]*ast.Edge // by the node that they lead to
	outOf   map[string][]*ast.Edge
	users   map[string][]*ast.Node // by the name of a prompt
	makers  map[string][]*ast.Node // by the name of an artifact
	flows   map[*ast.Node][]*ast.Schema
}

// key finds a symbol: the owner is the schema's name for fields, else "".
type key struct {
	kind        Kind
	owner, name string
}

// New makes the index of a tree. Its cost grows with the length of the file.
func New(f *ast.File) *Index {
	ix := &Index{
		File: f, named: make(map[key]*Symbol), bySym: make(map[*Symbol][]int), into: make(map[string][]*ast.Edge),
		outOf: make(map[string][]*ast.Edge),
		users: make(map[string][]*ast.Node), makers: make(map[string][]*ast.Node),
		flows: make(map[*ast.Node][]*ast.Schema),
	}
	ix.declare()
	ix.visit()
	slices.SortStableFunc(ix.uses, func(a, b Use) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
	slices.SortStableFunc(ix.refs, func(a, b Ref) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
	for i, u := range ix.uses {
		for _, s := range u.Symbols {
			ix.bySym[s] = append(ix.bySym[s], i)
		}
	}
	return ix
}

// At returns the name that the offset lies in or touches, or nil.
func (ix *Index) At(offset int) *Use {
	i := sort.Search(len(ix.uses), func(i int) bool { return ix.uses[i].Span.Start > offset })
	for i--; i >= 0; i-- {
		u := &ix.uses[i]
		if offset <= u.Span.End {
			return u
		}
		if u.Span.Start < offset-longestName {
			return nil
		}
	}
	return nil
}

// longestName is how far back a name that covers an offset is looked for.
const longestName = 1 << 12

// RefAt returns the reference that the offset lies in, or nil.
func (ix *Index) RefAt(offset int) *Ref {
	i := sort.Search(len(ix.refs), func(i int) bool { return ix.refs[i].Span.Start > offset }) - 1
	if i < 0 || offset > ix.refs[i].Span.End {
		return nil
	}
	return &ix.refs[i]
}

// Uses are all places of the names that a symbol has, in file order, the one
// that declares it among them.
func (ix *Index) Uses(s *Symbol) []Use {
	list := make([]Use, 0, len(ix.bySym[s]))
	for _, i := range ix.bySym[s] {
		list = append(list, ix.uses[i])
	}
	return list
}

// Unknown are the uses of a kind that name nothing declared, in file order.
func (ix *Index) Unknown(kind Kind) []Use {
	var list []Use
	for _, u := range ix.uses {
		if u.Kind == kind && len(u.Symbols) == 0 {
			list = append(list, u)
		}
	}
	return list
}

// All are the symbols of a kind in file order; fields are listed by their schema.
func (ix *Index) All(kind Kind) []*Symbol {
	var list []*Symbol
	for _, s := range ix.symbols {
		if s.Kind == kind {
			list = append(list, s)
		}
	}
	return list
}

// Find returns the symbol of a name, or nil. Fields are found by [Index.FieldOf].
func (ix *Index) Find(kind Kind, name string) *Symbol { return ix.named[key{kind, "", name}] }

// FieldOf returns a field of a schema, or nil.
func (ix *Index) FieldOf(schema, field string) *Symbol { return ix.named[key{Field, schema, field}] }

// Users are the nodes that use a prompt, in file order.
func (ix *Index) Users(prompt string) []*ast.Node { return ix.users[prompt] }

// Edges are the edges that leave a node and those that lead to it, in file order.
// The lists are the index's own.
func (ix *Index) Edges(node string) (out, in []*ast.Edge) {
	return ix.outOf[node], ix.into[node]
}

// Everything are all symbols: workflows and variables first, then prompts,
// schemas each with its fields, servers and nodes, loops and artifacts. Within a
// kind they are in file order.
func (ix *Index) Everything() []*Symbol { return slices.Clone(ix.symbols) }
