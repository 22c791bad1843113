package syntax

import (
	"slices"
	"strings"

	"github.com/pawl-ci/pawl/runner/lang/diag"
)

// declarations are the words that begin one, sorted.
var declarations = []string{
	"agent", "compute", "human", "join", "judge", "mcp_server", "prompt", "router", "schema", "tool", "vars", "workflow",
}

// declaration reads one declaration at the top level.
func (p *parser) declaration() {
	head := p.tok
	keyword := p.text(head)
	if head.kind != word {
		p.unexpected("a declaration")
		p.skip(p.indent)
		return
	}
	if !slices.Contains(declarations, keyword) {
		if keyword = p.meant(head); keyword == "" {
			p.skip(p.indent)
			return
		}
	}
	switch keyword {
	case "vars":
		p.out.Vars = p.vars(p.out.Vars, &p.declared)
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
func (p *parser) meant(head token) string {
	keyword, indent, behind := p.text(head), p.indent, p.following()
	if behind == '-' || behind == ':' && (specOf(workflowProps, keyword) != nil) {
		what := keyword
		if behind == '-' {
			what = "an edge"
		}
		p.fail("P127", p.at(head), "indent it below workflow NAME:", "%s stands outside the workflow", what)
		return ""
	}
	near := diag.Nearest(keyword, declarations)
	p.complain("P120", p.at(head), diag.Suggest(keyword, declarations), "a declaration cannot begin with %s", brief(keyword))
	header, _, _ := strings.Cut(p.src[head.end:p.lineEnd(head.end)], "##")
	header = strings.TrimSpace(header)
	if near == "" || !strings.HasSuffix(header, ":") || p.indent != indent {
		p.muted = true
		return ""
	}
	return near
}

// header reads `KIND NAME:` up to the colon and leaves the parser behind it.
func (p *parser) header() (span diag.Span, name Ident, ok bool) {
	head := p.tok
	p.next()
	ok = p.name(&name, "a name")
	span = p.at(head).To(name.Span)
	if !ok {
		return span, name, false
	}
	if p.tok.kind == colon {
		p.next()
		return span, name, true
	}
	p.complain("P100", p.at(p.tok), "write "+span.Text()+":", "%s where a colon is wanted", p.shown())
	p.muted = p.muted || p.tok.kind != endOfLine
	return span, name, true
}

// name reads a plain name. One that is written with other signs is reported once
// and taken as it is: whoever refers to it writes it the same way.
func (p *parser) name(id *Ident, what string) bool {
	t := p.tok
	id.Name, id.Span = p.text(t), p.at(t)
	switch {
	case t.kind == word && !t.dotted:
	case t.kind == word, t.kind == bare:
		p.badName(id, plainName(id.Name))
	case t.kind == quoted:
		id.Name = strings.Trim(id.Name, `"`)
		p.badName(id, plainName(id.Name))
	case t.kind == number:
		p.badName(id, "")
	default:
		p.unexpected(what)
		id.Name, id.Span = "", p.span(t.start, t.start)
		return false
	}
	p.next()
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
	p.complain("P131", id.Span, hint, "%s is no name", brief(id.Span.Text()))
}

// plainName is what a malformed name could be instead, or "".
func plainName(text string) string {
	if len(text) > 64 {
		return ""
	}
	plain := strings.Map(func(r rune) rune {
		if r < 128 && classes[byte(r)]&(isLetter|isDigit) != 0 {
			return r
		}
		return '_'
	}, strings.TrimRight(text, ";,."))
	if !isName(plain) || strings.Trim(plain, "_") == "" {
		return ""
	}
	return plain
}

func isName(text string) bool {
	for i := range len(text) {
		class := classes[text[i]]
		if class&isLetter == 0 && (i == 0 || class&isDigit == 0) {
			return false
		}
	}
	return text != ""
}

// open ends a header's line.
func (p *parser) open(what string) {
	if p.tok.kind != endOfLine && p.tok.kind != endOfFile && !p.muted {
		p.fail("P100", p.at(p.tok), "begin a new line and indent it", "%s stands beside the header: what belongs to it stands below", what)
	}
	p.endLine()
}

// prompt reads a prompt and its text.
func (p *parser) prompt() {
	indent := p.indent
	span, name, ok := p.header()
	pr := &Prompt{Span: span, Name: name}
	if beside := p.tok; ok && beside.kind != endOfLine {
		p.fail("P100", p.at(beside), "begin a new line and indent it", "the text of a prompt stands below its header")
		pr.Body = Text{Value: strings.Trim(p.text(beside), `"`), Span: p.at(beside)}
		p.skip(indent)
	} else {
		pr.Body = p.body(indent)
	}
	if !ok {
		return
	}
	if pr.Body.Value == "" {
		p.warn("P126", span, "indent its text below it", "prompt "+name.Name+" is empty")
	}
	if first := p.out.prompts[name.Name]; first != nil {
		p.twice("P121", "prompt", name, first.Name.Span)
		return
	}
	put(&p.out.prompts, name.Name, pr)
	p.out.Prompts = append(p.out.Prompts, pr)
}

// twice reports a declaration whose name is taken.
func (p *parser) twice(code diag.Code, kind string, name Ident, first diag.Span) {
	p.muted = false
	p.again(code, name.Span, first, "rename one of them", "%s %s is declared twice", kind, name.Name)
}

// vars reads a vars block and appends its variables to list; declared holds the
// names of all that are on it.
func (p *parser) vars(list []*Var, declared *map[string]diag.Span) []*Var {
	head, indent := p.at(p.tok), p.indent
	p.next()
	p.colon(head)
	p.open("a variable")
	b, before := below(indent), len(list)
	for p.more(&b) {
		v, ok := p.variable()
		if !ok {
			continue
		}
		if first, repeated := (*declared)[v.Name.Name]; repeated {
			p.again("P121", v.Name.Span, first, "rename one of them", "variable %s is declared twice", v.Name.Name)
			continue
		}
		put(declared, v.Name.Name, v.Name.Span)
		list = append(list, v)
	}
	if len(list) == before && b.own < 0 {
		p.warn("P126", head, "indent variables below it, or delete it", "the vars block is empty")
	}
	return list
}

// put writes to a map that is made when it is needed.
func put[V any](table *map[string]V, key string, value V) {
	if *table == nil {
		*table = make(map[string]V)
	}
	(*table)[key] = value
}

func (p *parser) colon(after diag.Span) {
	if p.tok.kind == colon {
		p.next()
		return
	}
	p.fail("P100", p.at(p.tok), "write "+brief(after.Text())+":", "%s where a colon is wanted", p.shown())
}

// variable reads `name: type = default`.
func (p *parser) variable() (*Var, bool) {
	indent := p.indent
	v := &Var{}
	if !p.name(&v.Name, "a variable's name") {
		p.skip(indent)
		return nil, false
	}
	if p.tok.kind == question {
		p.complain("P100", p.at(p.tok), "give it a default instead: "+v.Name.Name+": string = \"\"", "a variable cannot be marked optional")
		p.next()
	}
	p.colon(v.Name.Span)
	if p.muted {
		v.Type, v.TypeSpan = JSON, v.Name.Span
		p.skip(indent)
		return v, true
	}
	v.Type, v.TypeSpan = p.typ()
	if p.tok.kind == equals && !p.muted {
		p.next()
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

// types are the names of the types, as hints list them.
var types = []string{string(String), string(Bool), string(Int), string(Float), string(JSON), string(Strings)}

// typ reads a type. A wrong one is json afterwards, which anything fits.
func (p *parser) typ() (Type, diag.Span) {
	t := p.tok
	if t.kind == word && strings.HasPrefix(p.src[t.end:], "[]") {
		t.end += 2
		p.pos = t.end
	}
	name := p.text(t)
	switch t.kind {
	case word, bare:
		p.next()
		if i := slices.Index(types, name); i >= 0 {
			return Type(types[i]), p.at(t)
		}
		p.fail("P142", p.at(t), diag.Suggest(name, types), "there is no type %s", brief(name))
	default:
		p.unexpected("a type (" + strings.Join(types, ", ") + ")")
	}
	return JSON, p.at(t)
}

// fits checks a default against its variable's type.
func (p *parser) fits(v *Var, d *Value) bool {
	fits := true
	switch v.Type {
	case String:
		fits = d.Kind == StringValue
	case Bool:
		fits = d.Kind == BoolValue
	case Int:
		fits = d.Kind == NumberValue && isInt(d.Str)
	case Float:
		fits = d.Kind == NumberValue
	case Strings:
		fits = d.Kind == ListValue && !slices.ContainsFunc(d.Items(), func(x Value) bool { return x.Kind != StringValue })
	}
	text := v.Type == String || v.Type == Strings || v.Type == JSON
	switch {
	case text && !p.constant(d):
		return false
	case !fits:
		p.complain("P143", d.Span, "for example "+v.Name.Name+": "+string(v.Type)+" = "+exampleOf(v.Type),
			"%s is %s, and its default %s is not", v.Name.Name, v.Type, brief(d.Span.Text()))
	}
	return fits
}

// exampleOf shows a literal of each type.
func exampleOf(t Type) string {
	switch t {
	case String:
		return `"text"`
	case Bool:
		return "true"
	case Int:
		return "3"
	case Float:
		return "0.5"
	case Strings:
		return `["one", "two"]`
	}
	return `{ "key": "value" }`
}

// schema reads a schema and its fields.
func (p *parser) schema() {
	indent := p.indent
	span, name, ok := p.header()
	p.open("a field")
	base, seen, b := len(p.fields), p.names(), below(indent)
	for p.more(&b) {
		f, ok := p.field()
		if !ok {
			continue
		}
		if first, repeated := p.add(&seen, f.Name); repeated {
			p.again("P121", f.Name.Span, first, "rename one of them", "field %s is declared twice", f.Name.Name)
			continue
		}
		p.fields = append(p.fields, f)
	}
	p.forget(seen)
	s := &Schema{Span: span, Name: name, Fields: take(&p.fields, base)}
	if !ok {
		return
	}
	if b.own < 0 {
		p.warn("P126", span, "indent its fields below it: NAME: TYPE", "schema "+name.Name+" is empty")
	}
	if first := p.out.schemas[name.Name]; first != nil {
		p.twice("P121", "schema", name, first.Name.Span)
		return
	}
	put(&p.out.schemas, name.Name, s)
	p.out.Schemas = append(p.out.Schemas, s)
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
	indent := p.indent
	if !p.name(&f.Name, "a field's name") {
		p.skip(indent)
		return f, false
	}
	if strings.HasPrefix(f.Name.Name, "_") {
		p.complain("P130", f.Name.Span, "drop the underscore, or the field: metadata is on every output without it",
			"field %s begins with an underscore, which is kept for metadata", f.Name.Name)
	}
	if p.tok.kind == question {
		f.Optional = true
		p.next()
	}
	p.colon(f.Name.Span)
	f.Type, f.TypeSpan = JSON, f.Name.Span
	if !p.muted {
		f.Type, f.TypeSpan = p.typ()
	}
	if p.tok.kind == openList && !p.muted {
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
	opening := p.tok
	p.next()
	if p.tok.kind != word || p.text(p.tok) != "enum" {
		p.fail("P100", p.at(p.tok), `write [enum: "one", "two"]`, "%s where enum is wanted", p.shown())
		return nil
	}
	p.next()
	p.colon(p.span(opening.end, opening.end+len("enum")))
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
	seen := p.names()
	defer p.forget(seen)
	for i := range all.Items() {
		item := &all.Items()[i]
		if item.Kind != StringValue {
			p.unquoted(item)
			return nil
		}
		if first, repeated := p.add(&seen, Ident{item.Str, item.Span}); repeated {
			p.again("P145", item.Span, first, "name each text once", "the enum of field %s names a text twice", f.Name.Name)
			return nil
		}
	}
	return all.Items()
}
