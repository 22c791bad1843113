package ast

import (
	"slices"

	"github.com/pawl-ci/pawl/runner/lang/diag"
)

// File is the tree of one source file. Lists are in file order.
//
// What stands in it is well formed: a declaration has a name that is unique for
// its kind; a property is known to its declaration, given once, and its value
// has the form that is wanted; words of a closed set are in their canonical
// spelling. What is not well formed has been reported and left out, so that no
// later stage complains about it again.
type File struct {
	Source    *diag.File
	Vars      []*Var // of every vars block at the top level
	Prompts   []*Prompt
	Schemas   []*Schema
	Servers   []*Server
	Nodes     []*Node
	Workflows []*Workflow // more than one has been reported; the first one counts
	Comments  []diag.Span // from the first # to the end of the text

	prompts map[string]*Prompt
	schemas map[string]*Schema
	servers map[string]*Server
	nodes   map[string]*Node
}

// NewFile makes an empty tree that has room for the given number of nodes.
func NewFile(source *diag.File, nodes int) *File {
	return &File{Source: source, nodes: make(map[string]*Node, nodes)}
}

// Workflow is the workflow that counts, or nil when there is none.
func (f *File) Workflow() *Workflow {
	if len(f.Workflows) == 0 {
		return nil
	}
	return f.Workflows[0]
}

// Prompt returns the prompt of that name, or nil.
func (f *File) Prompt(name string) *Prompt { return f.prompts[name] }

// Schema returns the schema of that name, or nil.
func (f *File) Schema(name string) *Schema { return f.schemas[name] }

// Server returns the MCP server of that name, or nil.
func (f *File) Server(name string) *Server { return f.servers[name] }

// Node returns the node of that name, or nil; done and fail are never declared.
func (f *File) Node(name string) *Node { return f.nodes[name] }

// AddPrompt takes p in; when its name is taken it returns the one that has it
// and leaves p out.
func (f *File) AddPrompt(p *Prompt) (first *Prompt) {
	return add(&f.prompts, &f.Prompts, p.Name.Name, p)
}

// AddSchema takes s in; when its name is taken it returns the one that has it
// and leaves s out.
func (f *File) AddSchema(s *Schema) (first *Schema) {
	return add(&f.schemas, &f.Schemas, s.Name.Name, s)
}

// AddServer takes s in; when its name is taken it returns the one that has it
// and leaves s out.
func (f *File) AddServer(s *Server) (first *Server) {
	return add(&f.servers, &f.Servers, s.Name.Name, s)
}

// AddNode takes n in; when its name is taken it returns the one that has it and
// leaves n out.
func (f *File) AddNode(n *Node) (first *Node) {
	return add(&f.nodes, &f.Nodes, n.Name.Name, n)
}

func add[D any](table *map[string]*D, list *[]*D, name string, d *D) *D {
	if first := (*table)[name]; first != nil {
		return first
	}
	if *table == nil {
		*table = make(map[string]*D)
	}
	(*table)[name] = d
	*list = append(*list, d)
	return nil
}

// Ident is a name where it stands.
type Ident struct {
	Name string
	Span diag.Span
}

// Type is the type of a variable or of a schema's field.
type Type string

// The types of the language.
const (
	String  Type = "string"
	Bool    Type = "bool"
	Int     Type = "int"
	Float   Type = "float"
	JSON    Type = "json"
	Strings Type = "string[]"
)

// Fits reports whether a value is a literal of the type.
func (t Type) Fits(v *Value) bool {
	switch t {
	case String:
		return v.Kind == StringValue
	case Bool:
		return v.Kind == BoolValue
	case Int:
		return v.IsInt()
	case Float:
		return v.Kind == NumberValue
	case Strings:
		return v.Kind == ListValue && !slices.ContainsFunc(v.Items(), func(x Value) bool { return x.Kind != StringValue })
	}
	return true
}

// Var is `name: type = default`.
type Var struct {
	Name     Ident
	Type     Type
	TypeSpan diag.Span
	Default  *Value // fits Type; nil when the variable must be given
}

// Span is the variable from its name to its type.
func (v *Var) Span() diag.Span { return v.Name.Span.To(v.TypeSpan) }

// Prompt is `prompt NAME:` with the text below it.
type Prompt struct {
	Span diag.Span // the header: `prompt NAME`
	Name Ident
	Body Text
}

// Schema is `schema NAME:` with its fields.
type Schema struct {
	Span   diag.Span // the header: `schema NAME`
	Name   Ident
	Fields []Field
}

// Field is `name: type [enum: "a", "b"]`, or `name?: type`.
type Field struct {
	Name     Ident
	Type     Type
	TypeSpan diag.Span
	Enum     []Value // strings, all different; only where Type is String
	Optional bool
}

// Span is the field from its name to its type.
func (f *Field) Span() diag.Span { return f.Name.Span.To(f.TypeSpan) }

// Server is `mcp_server NAME:`.
type Server struct {
	Span  diag.Span // the header: `mcp_server NAME`
	Name  Ident
	Props Props
}

// NodeKind is the word that declares a node.
type NodeKind string

// The kinds of node.
const (
	Agent   NodeKind = "agent"
	Judge   NodeKind = "judge"
	Router  NodeKind = "router"
	Join    NodeKind = "join"
	Human   NodeKind = "human"
	Tool    NodeKind = "tool"
	Compute NodeKind = "compute"
)

// Node is `KIND NAME:` with its properties.
type Node struct {
	Span  diag.Span // the header: `agent reviewer`
	Kind  NodeKind
	Name  Ident
	Props Props
}

// Workflow is `workflow NAME:`.
type Workflow struct {
	Span  diag.Span // the header: `workflow NAME`
	Name  Ident
	Vars  []*Var // these stand in front of the file's
	Props Props
	Edges []*Edge
}

// Edge is `src -> dst` with its clauses.
type Edge struct {
	Span diag.Span // from src to dst
	From Ident
	To   Ident
	When *When // nil: unconditional
	Loop *Loop // nil: not counted
	// With are the entries of the with clause, and WithSpan is the clause itself:
	// zero without one, which is not the same as `with {}`, which passes nothing.
	With     []Entry
	WithSpan diag.Span
}

// When is `when FIELD`, `when not FIELD` or `when "EXPR"`.
type When struct {
	Span  diag.Span // the whole clause
	Not   bool      // only with Field
	Field Ident     // no name when Expr is set
	Expr  *Value    // a string, or nil
}

// Loop is `as NAME(N)`.
type Loop struct {
	Span    diag.Span // the whole clause
	Name    Ident
	Max     int // at least 1
	MaxSpan diag.Span
}

// Entry is `key: value` in braces or in a block of free keys.
type Entry struct {
	Key   Ident // the text of a quoted key, without its quotes
	Value Value
}

// Span is the entry from its key to the end of its value.
func (e *Entry) Span() diag.Span { return e.Key.Span.To(e.Value.Span) }

// Property is `key: value`.
type Property struct {
	Key   string    // what it means: backend also where delegate is written
	Name  diag.Span // the key as it is written
	Value Value
}

// Span is the property from its key to the end of its value.
func (p *Property) Span() diag.Span { return p.Name.To(p.Value.Span) }

// Props are the properties of one declaration or block, in file order.
type Props []Property

// Get returns the property that means key, or nil.
func (ps Props) Get(key string) *Property {
	for i := range ps {
		if ps[i].Key == key {
			return &ps[i]
		}
	}
	return nil
}

// Value returns the value of the property that means key, or nil.
func (ps Props) Value(key string) *Value {
	if p := ps.Get(key); p != nil {
		return &p.Value
	}
	return nil
}
