package syntax

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/syntax/ast"
	"github.com/pawl-ci/pawl/runner/lang/syntax/grammar"
	"github.com/pawl-ci/pawl/runner/lang/syntax/scan"
)

// owner is what properties belong to.
type owner struct {
	what  string // "agent", "budget", …
	name  string // "fixer", or ""
	props []grammar.Property
}

func (o owner) String() string { return strings.TrimSuffix(o.what+" "+o.name, " ") }

// properties reads the block of properties below a line of the given
// indentation. Properties that are wrong are kept with a value of no kind until
// [parser.settled] takes them out, so that nobody misses them.
func (p *parser) properties(o owner, indent int) (base int, empty bool) {
	base = len(p.props)
	b := below(indent)
	for p.more(&b) {
		if p.Tok.Kind == scan.Word && p.misplaced(o) {
			continue
		}
		p.property(o, base)
	}
	return base, b.own < 0
}

// settled takes the properties since base off the parser's list: those that are
// right, in file order.
func (p *parser) settled(base int) Props {
	kept := slices.DeleteFunc(p.props[base:], func(prop Property) bool { return prop.Value.Kind == 0 })
	p.props = p.props[:base+len(kept)]
	return take(&p.props, base)
}

// misplaced reads a declaration that is indented below another one by mistake.
func (p *parser) misplaced(o owner) bool {
	keyword := p.Text(p.Tok)
	if !scan.IsLetter(p.Following()) || keyword == "vars" || !slices.Contains(grammar.Declarations, keyword) {
		return false
	}
	p.fail("P127", p.at(p.Tok), "begin it at the left margin", "%s stands inside %s", keyword, o.String())
	p.declaration()
	return true
}

// property reads `key: value` into the parser's list.
func (p *parser) property(o owner, base int) {
	key, indent := p.Tok, p.Indent
	if key.Kind != scan.Word {
		p.unexpected("a property of " + o.String())
		p.skip(indent)
		return
	}
	p.Next()
	name := p.Text(key)
	s := grammar.Find(o.props, name)
	if s == nil {
		p.unknown(o, key)
		p.skip(indent)
		return
	}
	if p.Tok.Kind == scan.Equals {
		p.complain("P100", p.at(p.Tok), "write "+name+": …", "= where a colon is wanted")
		p.Next()
	} else {
		p.colon(p.at(key))
	}
	first := Props(p.props[base:]).Get(s.Key())
	place := len(p.props)
	p.props = append(p.props, Property{Key: s.Key(), Name: p.at(key)})
	if !p.muted {
		var value Value
		if p.formed(&value, s, p.at(key), indent) {
			p.props[place].Value = value
		}
	}
	if p.muted || p.props[place].Value.Kind == 0 {
		p.skip(indent)
	} else {
		p.endLine()
	}
	if first != nil {
		p.repeatedProperty(first.Name, p.at(key))
		p.props = p.props[:place]
	}
}

func (p *parser) repeatedProperty(first, again diag.Span) {
	if first.Text() == again.Text() {
		p.again("P124", again, first, "keep one of them", "%s is given twice", again.Text())
		return
	}
	p.again("P124", again, first, "keep one of them", "%s says the same as %s, which is given already", again.Text(), first.Text())
}

func (p *parser) unknown(o owner, key scan.Token) {
	name := p.Text(key)
	switch {
	case p.Tok.Kind == scan.Arrow:
		p.fail("P127", p.at(key), "indent it below workflow NAME:", "an edge stands inside %s", o.String())
	case p.Tok.Kind != scan.Colon && p.Tok.Kind != scan.Equals:
		p.unexpected("a colon behind " + diag.Brief(name))
	default:
		p.fail("P123", p.at(key), diag.Suggest(name, grammar.Names(o.props)), "%s has no property %s", o.String(), diag.Brief(name))
	}
}

// formed reads the value of a property in the form that it wants. When it is not
// ok the reason has been reported.
func (p *parser) formed(v *Value, s *grammar.Property, name diag.Span, indent int) bool {
	if p.Tok.Kind == scan.EndOfLine {
		return p.indented(v, s, name, indent)
	}
	if !p.value(v, 0) {
		return false
	}
	if p.Tok.Kind != scan.EndOfLine && !p.resync && !p.muted {
		p.unexpected("the end of the line")
	}
	return !p.muted && p.form(s, name, v) && !p.muted
}

// indented reads a value that stands below its key, up to the next statement.
func (p *parser) indented(v *Value, s *grammar.Property, name diag.Span, indent int) bool {
	switch s.Form {
	case grammar.Command:
		text := p.Body(indent)
		p.resync = true
		if text.Value == "" {
			break
		}
		v.Kind, v.Str, v.Span = BodyValue, text.Value, p.span(text.Start, text.End)
		if text.Places != nil {
			v.Parts = &ast.Parts{Places: text.Places}
		}
		return true
	case grammar.Block:
		p.NextLine()
		base, empty := p.properties(owner{what: s.Name, props: s.Props}, indent)
		v.Kind, v.Span, v.Parts = BlockValue, name, &ast.Parts{Props: p.settled(base)}
		p.resync = true
		if empty {
			p.warn("P126", name, "indent its properties below it, or delete it", "the "+s.Name+" block is empty")
		}
		return true
	case grammar.Object, grammar.Constants, grammar.Formulas:
		p.NextLine()
		v.Kind, v.Span, v.Parts = ObjectValue, name, &ast.Parts{Entries: p.freeEntries(s, indent)}
		p.resync = true
		return true
	}
	p.fail("P140", name, s.Example(), "%s wants %s, and nothing stands there", name.Text(), s.Wants())
	return false
}

// freeEntries reads a block of keys that the user names.
func (p *parser) freeEntries(s *grammar.Property, indent int) []Entry {
	base, b := len(p.entries), below(indent)
	for p.more(&b) {
		line := p.Indent
		ok := p.entry(-1, s.Form == grammar.Formulas)
		if ok && p.Tok.Kind != scan.EndOfLine && !p.resync {
			p.unexpected("the end of the line")
		}
		if ok && !p.member(s, &p.entries[len(p.entries)-1]) {
			p.entries = p.entries[:len(p.entries)-1]
		}
		if !ok || p.muted {
			p.skip(line)
			continue
		}
		p.endLine()
	}
	p.muted = false
	return p.uniqueEntries(take(&p.entries, base))
}

// member checks one entry of an object.
func (p *parser) member(s *grammar.Property, e *Entry) bool {
	if !p.constant(&e.Value) {
		return false
	}
	if s.Form != grammar.Object && !scan.IsName(e.Key.Name) && !p.malformed[e.Key.Name] {
		p.badName(&e.Key, scan.PlainName(e.Key.Name))
		return false
	}
	if s.Form != grammar.Constants && e.Value.Kind != StringValue {
		p.complain("P140", e.Value.Span, "put it in double quotes", "%s wants texts", s.Name)
		return false
	}
	return true
}

// form checks a value against the form that its property wants.
//
//house:long one case per form
func (p *parser) form(s *grammar.Property, name diag.Span, v *Value) bool {
	switch s.Form {
	case grammar.Text, grammar.Command:
		if v.Kind == WordValue || v.Kind == StringValue && (v.Str != "" || s.Form != grammar.Command) {
			return true
		}
		if v.Kind == bareValue || v.Kind == NumberValue || v.Kind == BoolValue {
			p.unquoted(v)
			return false
		}
	case grammar.Name:
		if v.Kind == WordValue && scan.IsName(v.Str) || v.Kind == StringValue && scan.IsName(v.Str) {
			return true
		}
		if v.Kind == bareValue && !strings.ContainsAny(v.Str, " \"") {
			p.badName(&Ident{Name: v.Str, Span: v.Span}, scan.PlainName(v.Str))
			v.Kind = WordValue
			return true
		}
	case grammar.Tool:
		if p.tool(v) {
			return true
		}
		if v.Kind == bareValue {
			p.unquoted(v)
			return false
		}
	case grammar.ToolList, grammar.NameList, grammar.TextList:
		if v.Kind == ListValue {
			return p.members(s, name, v)
		}
	case grammar.Whole, grammar.Number:
		if v.Kind == NumberValue {
			return p.ranged(s, name, v)
		}
	case grammar.Bool:
		if v.Kind == BoolValue {
			return true
		}
	case grammar.Duration:
		return p.duration(name, v)
	case grammar.OneOf:
		return p.chosen(s, name, v)
	case grammar.Verify:
		if v.Kind == StringValue && v.Str != "" || v.Kind == WordValue && (v.Str == "auto" || v.Str == "none") {
			return true
		}
		if v.Kind == ListValue && len(v.Items()) > 0 {
			return p.members(s, name, v)
		}
		if v.Kind == WordValue || v.Kind == bareValue {
			p.unquoted(v)
			return false
		}
	case grammar.Object, grammar.Constants:
		if v.Kind == ObjectValue {
			v.Parts.Entries = p.checked(s, v.Entries())
			return true
		}
	}
	p.complain("P140", v.Span, s.Example(), "%s wants %s", name.Text(), s.Wants())
	return false
}

// checked leaves the entries of an object out that are wrong.
func (p *parser) checked(s *grammar.Property, entries []Entry) []Entry {
	kept := 0
	for i := range entries {
		if p.member(s, &entries[i]) {
			entries[kept] = entries[i]
			kept++
		}
	}
	return entries[:kept]
}

// tool accepts the name of a tool: a word, possibly dotted, or a text.
func (p *parser) tool(v *Value) bool {
	return v.Kind == WordValue || v.Kind == StringValue && v.Str != ""
}

// members checks the members of a list.
func (p *parser) members(s *grammar.Property, name diag.Span, v *Value) bool {
	for i := range v.Items() {
		item := &v.Items()[i]
		ok := false
		switch s.Form {
		case grammar.ToolList:
			if item.Kind == bareValue {
				p.unquoted(item)
				return false
			}
			ok = p.tool(item)
		case grammar.NameList:
			ok = (item.Kind == WordValue || item.Kind == StringValue) && scan.IsName(item.Str)
		default:
			ok = item.Kind == StringValue
			if item.Kind == WordValue || item.Kind == bareValue || item.Kind == NumberValue {
				p.unquoted(item)
				return false
			}
		}
		if !ok {
			p.complain("P140", item.Span, s.Example(), "%s wants %s", name.Text(), s.Wants())
			return false
		}
	}
	return true
}

// mostOfAnything bounds numbers, so that sums of them do not overflow.
const mostOfAnything = 1e15

// ranged checks a number.
func (p *parser) ranged(s *grammar.Property, name diag.Span, v *Value) bool {
	if s.Form == grammar.Whole && !v.IsInt() {
		p.complain("P140", v.Span, s.Example(), "%s wants %s", name.Text(), s.Wants())
		return false
	}
	hint := "at least " + strconv.FormatInt(s.Least, 10)
	if s.Positive {
		hint = "more than 0"
	}
	if n := v.Float(); n < float64(s.Least) || s.Positive && n <= 0 || n > mostOfAnything {
		p.complain("P144", v.Span, hint, "%s cannot be %s", name.Text(), diag.Brief(v.Str))
		return false
	}
	return true
}

// duration checks a duration, with quotes or without.
func (p *parser) duration(name diag.Span, v *Value) bool {
	const hint = `a number with its unit: "90s", "30m", "1h30m"`
	switch v.Kind {
	case StringValue, bareValue, WordValue, NumberValue:
		d, err := time.ParseDuration(v.Str)
		if err != nil || d <= 0 {
			p.complain("P160", v.Span, hint, "%s is no duration for %s", diag.Brief(v.Span.Text()), name.Text())
			return false
		}
		if v.Kind == bareValue {
			v.Kind = NumberValue
		}
		return true
	}
	p.complain("P140", v.Span, hint, "%s wants a duration", name.Text())
	return false
}

// chosen checks a word of a closed set and makes it canonical.
func (p *parser) chosen(s *grammar.Property, name diag.Span, v *Value) bool {
	if word, known := s.Canonical(v.Str); known && (v.Kind == WordValue || v.Kind == StringValue) {
		v.Kind, v.Str, v.Parts = WordValue, word, nil
		return true
	}
	code := diag.Code(s.Code)
	if code == "" {
		code = "P141"
	}
	p.complain(code, v.Span, diag.Suggest(v.Str, s.Listed()), "%s cannot be %s", name.Text(), diag.Brief(v.Span.Text()))
	return false
}
