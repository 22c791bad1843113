package symbols

import (
	"slices"
	"strings"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/syntax/ast"
	"github.com/pawl-ci/pawl/runner/lang/syntax/grammar"
)

// put takes a symbol in. The first one of a name is found by it.
func (ix *Index) put(s *Symbol) *Symbol {
	k := key{s.Kind, "", s.Name}
	if s.Owner != nil {
		k.owner = s.Owner.Name
	}
	if ix.named[k] == nil {
		ix.named[k] = s
	}
	ix.symbols = append(ix.symbols, s)
	ix.uses = append(ix.uses, Use{Span: s.At, Kind: s.Kind, Name: s.Name, Symbols: []*Symbol{s}, Def: true})
	return s
}

// declare makes the symbols of all declarations, so that whatever refers to them
// may stand before them. The workflow's variables hide the file's.
func (ix *Index) declare() {
	f := ix.File
	for _, w := range f.Workflows {
		ix.put(&Symbol{Kind: Workflow, Name: w.Name.Name, At: w.Name.Span, Head: w.Span, Workflow: w})
		ix.declareVars(w.Vars)
	}
	ix.declareVars(f.Vars)
	for _, p := range f.Prompts {
		ix.put(&Symbol{Kind: Prompt, Name: p.Name.Name, At: p.Name.Span, Head: p.Span, Prompt: p})
	}
	for _, s := range f.Schemas {
		owner := ix.put(&Symbol{Kind: Schema, Name: s.Name.Name, At: s.Name.Span, Head: s.Span, Schema: s})
		for i := range s.Fields {
			field := &s.Fields[i]
			ix.put(&Symbol{Kind: Field, Name: field.Name.Name, At: field.Name.Span, Head: field.Span(), Field: field, Owner: owner})
		}
	}
	for _, s := range f.Servers {
		ix.put(&Symbol{Kind: Server, Name: s.Name.Name, At: s.Name.Span, Head: s.Span, Server: s})
	}
	for _, n := range f.Nodes {
		ix.put(&Symbol{Kind: Node, Name: n.Name.Name, At: n.Name.Span, Head: n.Span, Node: n})
	}
}

func (ix *Index) declareVars(list []*ast.Var) {
	for _, v := range list {
		ix.put(&Symbol{Kind: Var, Name: v.Name.Name, At: v.Name.Span, Head: v.Span(), Var: v})
	}
}

// visit collects every place that refers to something.
func (ix *Index) visit() {
	for _, w := range ix.File.Workflows {
		for _, e := range w.Edges {
			ix.into[e.To.Name] = append(ix.into[e.To.Name], e)
			ix.outOf[e.From.Name] = append(ix.outOf[e.From.Name], e)
			ix.loop(e)
		}
	}
	for _, n := range ix.File.Nodes {
		ix.props(n.Props, grammar.Node(string(n.Kind)), n)
	}
	for _, s := range ix.File.Servers {
		ix.props(s.Props, grammar.Server, nil)
	}
	for _, w := range ix.File.Workflows {
		ix.props(w.Props, grammar.Workflow, nil)
		for _, e := range w.Edges {
			ix.edge(e)
		}
	}
	for _, p := range ix.File.Prompts {
		ix.template(p.Body, ix.scope(ix.users[p.Name.Name]...))
	}
}

// name records a name that refers to something by its kind.
func (ix *Index) name(kind Kind, name string, span diag.Span) {
	u := Use{Span: span, Kind: kind, Name: name}
	if s := ix.Find(kind, name); s != nil {
		u.Symbols = []*Symbol{s}
	}
	ix.uses = append(ix.uses, u)
}

// fields records a name that is a field of several schemas.
func (ix *Index) fields(schemas []*ast.Schema, name string, span diag.Span) {
	u := Use{Span: span, Kind: Field, Name: name}
	for _, s := range schemas {
		if f := ix.FieldOf(s.Name.Name, name); f != nil && !slices.Contains(u.Symbols, f) {
			u.Symbols = append(u.Symbols, f)
		}
	}
	if len(u.Symbols) > 0 {
		ix.uses = append(ix.uses, u)
	}
}

// props visits the properties of a declaration or block. n is nil outside of
// nodes.
func (ix *Index) props(props ast.Props, table []grammar.Property, n *ast.Node) {
	for i := range props {
		p := &props[i]
		spec := grammar.Find(table, p.Name.Text())
		if spec == nil {
			spec = grammar.Find(table, p.Key)
		}
		if spec != nil {
			ix.property(&p.Value, spec, n)
		}
	}
}

// property visits one value by the form that it has.
func (ix *Index) property(v *ast.Value, spec *grammar.Property, n *ast.Node) {
	switch spec.Form {
	case grammar.Name:
		ix.named1(v, spec, n)
	case grammar.NameList:
		for i := range v.Items() {
			ix.named1(&v.Items()[i], spec, n)
		}
	case grammar.Tool:
		ix.tool(v)
	case grammar.ToolList:
		for i := range v.Items() {
			ix.tool(&v.Items()[i])
		}
	case grammar.Text, grammar.Command, grammar.TextList, grammar.Object, grammar.Constants:
		ix.texts(v, ix.scope(nodes(n)...))
	case grammar.Formulas:
		for i := range v.Entries() {
			ix.formula(&v.Entries()[i], n)
		}
	case grammar.Block:
		ix.props(v.Props(), spec.Props, n)
	}
}

// scope is a place where the input of the given nodes is called input.
func (ix *Index) scope(inputs ...*ast.Node) Scope {
	s := Scope{Inputs: inputs}
	seen := make(map[*ast.Schema]bool, len(inputs))
	for _, n := range inputs {
		for _, schema := range ix.schemaOf(n, "input") {
			if !seen[schema] {
				seen[schema] = true
				s.schemas = append(s.schemas, schema)
			}
		}
	}
	return s
}

func nodes(n *ast.Node) []*ast.Node {
	if n == nil {
		return nil
	}
	return []*ast.Node{n}
}

// named1 records the value of a property that names something.
func (ix *Index) named1(v *ast.Value, spec *grammar.Property, n *ast.Node) {
	if v.Str == "" {
		return
	}
	span := v.Text().At(0, len(v.Str))
	switch spec.Of {
	case "schema":
		ix.name(Schema, v.Str, span)
	case "prompt":
		ix.name(Prompt, v.Str, span)
		if users := ix.users[v.Str]; n != nil && (len(users) == 0 || users[len(users)-1] != n) {
			ix.users[v.Str] = append(users, n)
		}
	case "node":
		ix.name(Node, v.Str, span)
	case "MCP server":
		ix.name(Server, v.Str, span)
	case "artifact":
		ix.artifact(v.Str, span, n)
	default: // the policy of a join: a node, or one of two words
		if v.Str != "fail" && v.Str != "ask" {
			ix.name(Node, v.Str, span)
		}
	}
}

// artifact records where an artifact is published; the first place declares it.
func (ix *Index) artifact(name string, span diag.Span, n *ast.Node) {
	ix.makers[name] = append(ix.makers[name], nodes(n)...)
	s := ix.Find(Artifact, name)
	if s == nil {
		ix.put(&Symbol{Kind: Artifact, Name: name, At: span, Head: span})
		return
	}
	ix.uses = append(ix.uses, Use{Span: span, Kind: Artifact, Name: name, Symbols: []*Symbol{s}, Def: true})
}

// tool records the server in mcp.SERVER.TOOL.
func (ix *Index) tool(v *ast.Value) {
	rest, ok := strings.CutPrefix(v.Str, "mcp.")
	server, _, dotted := strings.Cut(rest, ".")
	if ok && dotted && server != "" {
		ix.name(Server, server, v.Text().At(len("mcp."), len("mcp.")+len(server)))
	}
}

// texts visits every text in a value as a template.
func (ix *Index) texts(v *ast.Value, scope Scope) {
	switch v.Kind {
	case ast.StringValue, ast.BodyValue:
		ix.template(v.Text(), scope)
	case ast.ListValue:
		for i := range v.Items() {
			ix.texts(&v.Items()[i], scope)
		}
	case ast.ObjectValue:
		for i := range v.Entries() {
			ix.texts(&v.Entries()[i].Value, scope)
		}
	}
}

// formula visits one field of a compute node.
func (ix *Index) formula(e *ast.Entry, n *ast.Node) {
	if n == nil {
		return
	}
	ix.fields(ix.schemaOf(n, "output"), e.Key.Name, inside(e.Key.Span))
	scope := ix.scope(n)
	scope.Expr = true
	ix.expression(e.Value.Text(), scope)
}

// inside is a key without its quotes.
func inside(s diag.Span) diag.Span {
	if text := s.Text(); len(text) >= 2 && text[0] == '"' {
		return s.Sub(1, len(text)-1)
	}
	return s
}

// loop records a loop; its first edge in the file declares it.
func (ix *Index) loop(e *ast.Edge) {
	if e.Loop == nil {
		return
	}
	if ix.Find(Loop, e.Loop.Name.Name) == nil {
		ix.put(&Symbol{Kind: Loop, Name: e.Loop.Name.Name, At: e.Loop.Name.Span, Head: e.Loop.Span, Max: e.Loop.Max})
		return
	}
	ix.name(Loop, e.Loop.Name.Name, e.Loop.Name.Span)
}

// edge visits an edge: its ends, its condition, its mapping.
func (ix *Index) edge(e *ast.Edge) {
	ix.name(Node, e.From.Name, e.From.Span)
	ix.name(Node, e.To.Name, e.To.Span)
	from, to := ix.File.Node(e.From.Name), ix.File.Node(e.To.Name)
	if e.When != nil && e.When.Expr != nil {
		scope := ix.scope(nodes(from)...)
		scope.Output, scope.Expr = from, true
		ix.expression(e.When.Expr.Text(), scope)
	} else if e.When != nil {
		ix.fields(ix.flowing(from), e.When.Field.Name, e.When.Field.Span)
	}
	for i := range e.With {
		entry := &e.With[i]
		if to != nil {
			ix.fields(ix.schemaOf(to, "input"), entry.Key.Name, inside(entry.Key.Span))
		}
		ix.texts(&entry.Value, ix.scope(nodes(from)...))
	}
}
