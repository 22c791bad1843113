package syntax

import (
	"slices"
	"strings"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/syntax/ast"
	"github.com/pawl-ci/pawl/runner/lang/syntax/grammar"
	"github.com/pawl-ci/pawl/runner/lang/syntax/scan"
)

// declaration reads one declaration at the top level.
func (p *parser) declaration() {
	head := p.Tok
	keyword := p.Text(head)
	if head.Kind != scan.Word {
		p.unexpected("a declaration")
		p.skip(p.Indent)
		return
	}
	if !slices.Contains(grammar.Declarations, keyword) {
		if keyword = p.meant(head); keyword == "" {
			p.skip(p.Indent)
			return
		}
	}
	switch keyword {
	case "vars":
		p.out.Vars = p.vars(p.out.Vars, p.declared)
	case "prompt":
		p.prompt()
	case "schema":
		p.schema()
	case "mcp_server":
		p.server()
	case "workflow":
		p.workflow()
	default:
		p.node(NodeKind(keyword))
	}
}

// meant reports a line that begins with no declaration's word, and returns the
// word that was meant if the rest of the line is a header.
func (p *parser) meant(head scan.Token) string {
	keyword, indent, behind := p.Text(head), p.Indent, p.Following()
	if behind == '-' || behind == ':' && (grammar.Find(grammar.Workflow, keyword) != nil) {
		what := keyword
		if behind == '-' {
			what = "an edge"
		}
		p.fail("P127", p.at(head), "indent it below workflow NAME:", "%s stands outside the workflow", what)
		return ""
	}
	near := diag.Nearest(keyword, grammar.Declarations)
	p.complain("P120", p.at(head), diag.Suggest(keyword, grammar.Declarations), "a declaration cannot begin with %s", diag.Brief(keyword))
	header, _, _ := strings.Cut(p.Src[head.End:p.LineEnd(head.End)], "##")
	header = strings.TrimSpace(header)
	if near == "" || !strings.HasSuffix(header, ":") || p.Indent != indent {
		p.muted = true
		return ""
	}
	return near
}

// header reads `KIND NAME:` up to the colon and leaves the parser behind it.
func (p *parser) header() (span diag.Span, name Ident, ok bool) {
	head := p.Tok
	p.Next()
	ok = p.name(&name, "a name")
	span = p.at(head).To(name.Span)
	if !ok {
		return span, name, false
	}
	if p.Tok.Kind == scan.Colon {
		p.Next()
		return span, name, true
	}
	p.complain("P100", p.at(p.Tok), "write "+span.Text()+":", "%s where a colon is wanted", p.shown())
	p.muted = p.muted || p.Tok.Kind != scan.EndOfLine
	return span, name, true
}

// name reads a plain name. One that is written with other signs is reported once
// and taken as it is: whoever refers to it writes it the same way.
func (p *parser) name(id *Ident, what string) bool {
	t := p.Tok
	id.Name, id.Span = p.Text(t), p.at(t)
	switch {
	case t.Kind == scan.Word && !t.Dotted:
	case t.Kind == scan.Word, t.Kind == scan.Bare:
		p.badName(id, scan.PlainName(id.Name))
	case t.Kind == scan.Quoted:
		id.Name = strings.Trim(id.Name, `"`)
		p.badName(id, scan.PlainName(id.Name))
	case t.Kind == scan.Number:
		p.badName(id, "")
	default:
		p.unexpected(what)
		id.Name, id.Span = "", p.span(t.Start, t.Start)
		return false
	}
	p.Next()
	return true
}

func (p *parser) badName(id *Ident, better string) {
	if p.malformed[id.Name] {
		return
	}
	if p.malformed == nil {
		p.malformed = make(map[string]bool)
	}
	p.malformed[id.Name] = true
	hint := "a name is made of letters, digits and _, and begins with no digit"
	if better != "" {
		hint = "write " + better + ": " + hint
	}
	p.complain("P131", id.Span, hint, "%s is no name", diag.Brief(id.Span.Text()))
}

// open ends a header's line.
func (p *parser) open(what string) {
	if p.Tok.Kind != scan.EndOfLine && p.Tok.Kind != scan.EndOfFile && !p.muted {
		p.fail("P100", p.at(p.Tok), "begin a new line and indent it", "%s stands beside the header: what belongs to it stands below", what)
	}
	p.endLine()
}

// prompt reads a prompt and its text.
func (p *parser) prompt() {
	indent := p.Indent
	span, name, ok := p.header()
	pr := &Prompt{Span: span, Name: name}
	if beside := p.Tok; ok && beside.Kind != scan.EndOfLine {
		p.fail("P100", p.at(beside), "begin a new line and indent it", "the text of a prompt stands below its header")
		pr.Body = Text{Value: strings.Trim(p.Text(beside), `"`), Span: p.at(beside)}
		p.skip(indent)
	} else {
		body := p.Body(indent)
		pr.Body = Text{Value: body.Value, Span: p.span(body.Start, body.End), Places: body.Places}
	}
	if !ok {
		return
	}
	if pr.Body.Value == "" {
		p.warn("P126", span, "indent its text below it", "prompt "+name.Name+" is empty")
	}
	if first := p.out.AddPrompt(pr); first != nil {
		p.twice("P121", "prompt", name, first.Name.Span)
	}
}

// twice reports a declaration whose name is taken.
func (p *parser) twice(code diag.Code, kind string, name Ident, first diag.Span) {
	p.muted = false
	p.again(code, name.Span, first, "rename one of them", "%s %s is declared twice", kind, name.Name)
}

// vars reads a vars block and appends its variables to list; declared holds the
// names of all that are on it.
func (p *parser) vars(list []*Var, declared map[string]diag.Span) []*Var {
	head, indent := p.at(p.Tok), p.Indent
	p.Next()
	p.colon(head)
	p.open("a variable")
	b, before := below(indent), len(list)
	for p.more(&b) {
		v, ok := p.variable()
		if !ok {
			continue
		}
		if first, repeated := declared[v.Name.Name]; repeated {
			p.again("P121", v.Name.Span, first, "rename one of them", "variable %s is declared twice", v.Name.Name)
			continue
		}
		declared[v.Name.Name] = v.Name.Span
		list = append(list, v)
	}
	if len(list) == before && b.own < 0 {
		p.warn("P126", head, "indent variables below it, or delete it", "the vars block is empty")
	}
	return list
}

func (p *parser) colon(after diag.Span) {
	if p.Tok.Kind == scan.Colon {
		p.Next()
		return
	}
	p.fail("P100", p.at(p.Tok), "write "+diag.Brief(after.Text())+":", "%s where a colon is wanted", p.shown())
}

// variable reads `name: type = default`.
func (p *parser) variable() (*Var, bool) {
	indent := p.Indent
	v := &Var{}
	if !p.name(&v.Name, "a variable's name") {
		p.skip(indent)
		return nil, false
	}
	if p.Tok.Kind == scan.Question {
		p.complain("P100", p.at(p.Tok), "give it a default instead: "+v.Name.Name+": string = \"\"", "a variable cannot be marked optional")
		p.Next()
	}
	p.colon(v.Name.Span)
	if p.muted {
		v.Type, v.TypeSpan = JSON, v.Name.Span
		p.skip(indent)
		return v, true
	}
	v.Type, v.TypeSpan = p.typ()
	if p.Tok.Kind == scan.Equals && !p.muted {
		p.Next()
		value := &Value{}
		if p.value(value, 0) && p.fits(v, value) {
			v.Default = value
		}
	}
	if p.muted {
		p.skip(indent)
		return v, true
	}
	p.endLine()
	return v, true
}

// typ reads a type. A wrong one is json afterwards, which anything fits.
func (p *parser) typ() (Type, diag.Span) {
	t := p.Tok
	if t.Kind == scan.Word && strings.HasPrefix(p.Src[t.End:], "[]") {
		t.End += 2
		p.Pos = t.End
	}
	name := p.Text(t)
	switch t.Kind {
	case scan.Word, scan.Bare:
		p.Next()
		if i := slices.Index(grammar.Types, name); i >= 0 {
			return Type(grammar.Types[i]), p.at(t)
		}
		p.fail("P142", p.at(t), diag.Suggest(name, grammar.Types), "there is no type %s", diag.Brief(name))
	default:
		p.unexpected("a type (" + strings.Join(grammar.Types, ", ") + ")")
	}
	return JSON, p.at(t)
}

// fits checks a default against its variable's type.
func (p *parser) fits(v *Var, d *Value) bool {
	if text := v.Type == String || v.Type == Strings || v.Type == JSON; text && !p.constant(d) {
		return false
	}
	if !v.Type.Fits(d) {
		p.complain("P143", d.Span, "for example "+v.Name.Name+": "+string(v.Type)+" = "+grammar.Literal(string(v.Type)),
			"%s is %s, and its default %s is not", v.Name.Name, v.Type, diag.Brief(d.Span.Text()))
		return false
	}
	return true
}

// schema reads a schema and its fields.
func (p *parser) schema() {
	indent := p.Indent
	span, name, ok := p.header()
	p.open("a field")
	base, b := len(p.fields), below(indent)
	for p.more(&b) {
		if f, ok := p.field(); ok {
			p.fields = append(p.fields, f)
		}
	}
	s := &Schema{Span: span, Name: name, Fields: take(&p.fields, base)}
	s.Fields = ast.Unique(s.Fields, func(f *Field) *Ident { return &f.Name }, func(id *Ident, first diag.Span) {
		p.again("P121", id.Span, first, "rename one of them", "field %s is declared twice", id.Name)
	})
	if !ok {
		return
	}
	if b.own < 0 {
		p.warn("P126", span, "indent its fields below it: NAME: TYPE", "schema "+name.Name+" is empty")
	}
	if first := p.out.AddSchema(s); first != nil {
		p.twice("P121", "schema", name, first.Name.Span)
	}
}

// take copies what has grown on a list since base and gives the place back.
func take[T any](list *[]T, base int) []T {
	grown := (*list)[base:]
	if len(grown) == 0 {
		return nil
	}
	out := make([]T, len(grown))
	copy(out, grown)
	*list = (*list)[:base]
	return out
}

// field reads `name?: type [enum: "a", "b"]`.
func (p *parser) field() (f Field, ok bool) {
	indent := p.Indent
	if !p.name(&f.Name, "a field's name") {
		p.skip(indent)
		return f, false
	}
	if strings.HasPrefix(f.Name.Name, "_") {
		p.complain("P130", f.Name.Span, "drop the underscore, or the field: metadata is on every output without it",
			"field %s begins with an underscore, which is kept for metadata", f.Name.Name)
	}
	if p.Tok.Kind == scan.Question {
		f.Optional = true
		p.Next()
	}
	p.colon(f.Name.Span)
	f.Type, f.TypeSpan = JSON, f.Name.Span
	if !p.muted {
		f.Type, f.TypeSpan = p.typ()
	}
	if p.Tok.Kind == scan.OpenList && !p.muted {
		f.Enum = p.enum(&f)
	}
	if p.muted {
		p.skip(indent)
		return f, true
	}
	p.endLine()
	return f, true
}

// enum reads `[enum: "a", "b"]`.
func (p *parser) enum(f *Field) []Value {
	opening := p.Tok
	p.Next()
	if p.Tok.Kind != scan.Word || p.Text(p.Tok) != "enum" {
		p.fail("P100", p.at(p.Tok), `write [enum: "one", "two"]`, "%s where enum is wanted", p.shown())
		return nil
	}
	p.Next()
	p.colon(p.span(opening.End, opening.End+len("enum")))
	if p.muted {
		return nil
	}
	var all Value
	if !p.list(&all, opening, 1) {
		return nil
	}
	switch {
	case f.Type != String:
		p.complain("P145", all.Span, "make it a string, or drop the enum", "field %s is %s, and only a string can have an enum", f.Name.Name, f.Type)
		return nil
	case len(all.Items()) == 0:
		p.complain("P145", all.Span, "list the texts that it may have", "the enum of field %s allows nothing", f.Name.Name)
		return nil
	}
	for i := range all.Items() {
		if item := &all.Items()[i]; item.Kind != StringValue {
			p.unquoted(item)
			return nil
		}
	}
	return ast.Unique(all.Items(), func(v *Value) *Ident { return &Ident{Name: v.Str, Span: v.Span} }, func(id *Ident, first diag.Span) {
		p.again("P145", id.Span, first, "name each text once", "the enum of field %s names a text twice", f.Name.Name)
	})
}
