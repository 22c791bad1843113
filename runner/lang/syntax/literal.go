package syntax

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/syntax/ast"
	"github.com/pawl-ci/pawl/runner/lang/syntax/scan"
)

// bareValue is text without quotes, until the property that it stands at has
// said what it is. It never leaves the parser.
const bareValue ValueKind = 255

// deepest bounds how values nest.
const deepest = 64

// value reads one value into v. depth is how many brackets it stands in. When it
// is false the reason has been reported, and the token is where reading stopped.
func (p *parser) value(v *Value, depth int) bool {
	t := p.Tok
	if depth > deepest {
		p.fail("P108", p.at(t), "keep such data in a file", "values are nested more than %d deep", deepest)
		return false
	}
	switch t.Kind {
	case scan.Quoted:
		p.stringValue(v)
		return true
	case scan.Word, scan.Number, scan.Bare:
		p.plain(v, depth)
		return true
	case scan.OpenList:
		p.Next()
		return p.list(v, t, depth)
	case scan.OpenObject:
		if strings.HasPrefix(p.Src[t.End:], "{") {
			p.restOfLine(v, t.Start, depth)
			return true
		}
		p.Next()
		entries, ok := p.object(t, depth)
		v.Kind, v.Span, v.Parts = ObjectValue, p.span(t.Start, max(p.closed, t.End)), &ast.Parts{Entries: entries}
		return ok
	case scan.Junk:
		if c := p.Src[t.Start]; c < utf8.RuneSelf && c != '#' && c != '\'' && c != '`' && c != ';' {
			p.restOfLine(v, t.Start, depth)
			return true
		}
	}
	p.unexpected("a value")
	return false
}

// plain reads a word or a number, or the text without quotes that it begins.
func (p *parser) plain(v *Value, depth int) {
	t := p.Tok
	if t.Kind == scan.Bare {
		p.restOfLine(v, t.Start, depth)
		return
	}
	p.Next()
	ends := p.Tok.Kind == scan.EndOfLine || depth > 0 && (p.Tok.Kind == scan.Comma || p.Closes() || t.Kind == scan.Number)
	if !ends {
		p.restOfLine(v, t.Start, depth)
		return
	}
	v.Kind, v.Str, v.Span = WordValue, p.Text(t), p.at(t)
	switch {
	case t.Kind == scan.Number:
		v.Kind = NumberValue
		p.number(v)
	case v.Str == "true" || v.Str == "false":
		v.Kind = BoolValue
	}
}

// number refuses what no computer number can hold.
func (p *parser) number(v *Value) {
	if len(v.Str) < 16 && !strings.ContainsAny(v.Str, "eE") {
		return
	}
	if _, err := strconv.ParseFloat(v.Str, 64); err != nil || len(v.Str) > 64 {
		p.complain("P144", v.Span, "", "%s is too large a number", diag.Brief(v.Str))
		v.Str = "0"
	}
}

// restOfLine takes text without quotes as far as it can be meant to go.
func (p *parser) restOfLine(v *Value, start, depth int) {
	end := p.Unquoted(start, depth > 0)
	p.Next()
	v.Kind, v.Str, v.Span = bareValue, p.Src[start:end], p.span(start, end)
}

// unquoted reports text without quotes where a text is wanted.
func (p *parser) unquoted(v *Value) {
	hint := `put it in double quotes`
	if text := v.Span.Text(); len(text) <= 60 && !strings.ContainsAny(text, "\"\\\n") {
		hint = `write "` + strings.Trim(text, "'`") + `"`
	}
	p.complain("P107", v.Span, hint, "%s stands without quotes", diag.Brief(v.Span.Text()))
}

// stringValue reads the string that the token is.
func (p *parser) stringValue(v *Value) {
	t := p.Tok
	p.Next()
	v.Kind, v.Span = StringValue, p.at(t)
	inner := t
	inner.Start++
	if t.Open {
		p.fail("P103", p.span(t.Start, t.Start+1), `close it with " on this line; a line feed in it is written \n`, "this string has no end")
	} else {
		inner.End--
	}
	v.Str = p.Text(inner)
	if !t.Escaped {
		return
	}
	var places scan.Places
	if v.Str, places = scan.Unescape(p.Src, inner.Start, inner.End, p.badEscape); places != nil {
		v.Parts = &ast.Parts{Places: places}
	}
}

func (p *parser) badEscape(start, end int) {
	span := p.span(start, end)
	if span.Text() == `\u` {
		p.complain("P104", span, `write four hexadecimal digits: \u00e9`, `\u is not followed by the number of a character`)
		return
	}
	p.complain("P104", span, `one of: \n, \t, \r, \", \\, \uXXXX; a backslash itself is written \\`, "there is no escape %s", span.Text())
}

// within moves on to the next token in brackets, over line ends. It is false
// when the bracket that opened has no end: the file ends, or the next line
// plainly begins something else.
func (p *parser) within(opening scan.Token, indent int, entries bool) bool {
	for p.Tok.Kind == scan.EndOfLine {
		p.NextLine()
		if p.Closes() {
			break
		}
		if p.Tok.Kind == scan.EndOfFile || (p.Indent < indent || p.Indent == indent && p.begins(entries)) {
			p.fail("P106", p.at(opening), "close it with "+closing(opening), "this %s has no end", p.Text(opening))
			p.resync = true
			return false
		}
	}
	if p.Closes() && p.Text(p.Tok) != closing(opening) {
		p.fail("P106", p.at(opening), "close it with "+closing(opening), "this %s has no end", p.Text(opening))
		return false
	}
	return true
}

func closing(opening scan.Token) string {
	if opening.Kind == scan.OpenList {
		return "]"
	}
	return "}"
}

// begins reports whether the line looks like a statement and not like part of
// what stands in brackets.
func (p *parser) begins(entries bool) bool {
	if p.Tok.Kind != scan.Word {
		return false
	}
	c := p.Following()
	return c == '-' || scan.IsLetter(c) || c == ':' && !entries
}

// separator moves over what stands between two members, a comma or a line end,
// and reports whether there is another member.
func (p *parser) separator(opening scan.Token, indent int, closer scan.Kind) (more, ok bool) {
	entries := closer == scan.CloseObject
	crossed := p.Tok.Kind == scan.EndOfLine
	if !p.within(opening, indent, entries) {
		return false, false
	}
	if p.Tok.Kind == scan.Comma {
		p.Next()
		crossed = true
		if !p.within(opening, indent, entries) {
			return false, false
		}
	}
	if p.Tok.Kind == closer {
		p.close()
		return false, true
	}
	if !crossed {
		p.unexpected("a comma or " + closing(opening))
	}
	return crossed, crossed
}

// close moves over a closing bracket and notes where it ends.
func (p *parser) close() {
	p.closed = p.Tok.End
	p.Next()
}

// list reads the members of a list behind its opening bracket into v.
func (p *parser) list(v *Value, opening scan.Token, depth int) bool {
	indent, base := p.Indent, len(p.values)
	v.Kind = ListValue
	if !p.within(opening, indent, false) {
		return false
	}
	more := p.Tok.Kind != scan.CloseList
	if !more {
		p.close()
	}
	for more {
		var item Value
		ok := p.value(&item, depth+1)
		if ok {
			p.values = append(p.values, item)
			more, ok = p.separator(opening, indent, scan.CloseList)
		}
		if !ok {
			p.values = p.values[:base]
			return false
		}
	}
	v.Span = p.span(opening.Start, p.closed)
	v.Parts = &ast.Parts{Items: take(&p.values, base)}
	return true
}

// object reads the entries of an object behind its opening brace. An entry that
// is wrong is left out, and the next one is read.
func (p *parser) object(opening scan.Token, depth int) (entries []Entry, ok bool) {
	indent, base := p.Indent, len(p.entries)
	if ok = p.within(opening, indent, true) && p.objectEntries(opening, indent, depth); ok {
		entries = p.uniqueEntries(take(&p.entries, base))
	}
	p.entries = p.entries[:base]
	return entries, ok
}

func (p *parser) uniqueEntries(entries []Entry) []Entry {
	return ast.Unique(entries, func(e *Entry) *Ident { return &e.Key }, func(id *Ident, first diag.Span) {
		p.again("P128", id.Span, first, "keep one of them", "key %s is given twice", diag.Brief(id.Name))
	})
}

// objectEntries reads entries up to the closing brace.
func (p *parser) objectEntries(opening scan.Token, indent, depth int) bool {
	more := p.Tok.Kind != scan.CloseObject
	if !more {
		p.close()
	}
	for more {
		ok := p.entry(depth, false)
		if !ok && !p.resync {
			p.skipEntry()
		}
		if !p.resync {
			more, ok = p.separator(opening, indent, scan.CloseObject)
		}
		if !ok {
			return false
		}
		if more {
			p.muted = p.muted && depth > 0
		}
	}
	return true
}

// entry reads `key: value` and keeps it; where formulas stand also `key = value`.
func (p *parser) entry(depth int, formula bool) bool {
	var e Entry
	if !p.key(&e.Key) {
		return false
	}
	if p.Tok.Kind == scan.Equals && formula {
		p.Next()
	} else if p.Tok.Kind == scan.Equals {
		p.complain("P100", p.at(p.Tok), "write "+diag.Brief(e.Key.Name)+": …", "= where a colon is wanted")
		p.Next()
	} else if p.colon(e.Key.Span); p.muted {
		return false
	}
	if !p.value(&e.Value, depth+1) {
		return false
	}
	p.entries = append(p.entries, e)
	return true
}

// key reads the key of an entry: a name, or any text in quotes.
func (p *parser) key(id *Ident) bool {
	if p.Tok.Kind != scan.Quoted {
		return p.name(id, "a key")
	}
	var v Value
	p.stringValue(&v)
	id.Name, id.Span = v.Str, v.Span
	return !p.muted
}

// skipEntry moves to the end of an entry that was given up.
func (p *parser) skipEntry() {
	for depth := 0; p.Tok.Kind != scan.EndOfLine && p.Tok.Kind != scan.EndOfFile; p.Next() {
		switch p.Tok.Kind {
		case scan.OpenList, scan.OpenObject:
			depth++
		case scan.CloseList, scan.CloseObject:
			if depth == 0 {
				return
			}
			depth--
		case scan.Comma:
			if depth == 0 {
				return
			}
		}
	}
}

// constant checks that a value is JSON: words other than true, false and null
// have no meaning in it.
func (p *parser) constant(v *Value) bool {
	switch v.Kind {
	case bareValue:
		p.unquoted(v)
		return false
	case WordValue:
		if v.Str != "null" {
			p.unquoted(v)
			return false
		}
		v.Kind = NullValue
	case ListValue:
		for i := range v.Items() {
			if !p.constant(&v.Items()[i]) {
				return false
			}
		}
	case ObjectValue:
		for i := range v.Entries() {
			if !p.constant(&v.Entries()[i].Value) {
				return false
			}
		}
	}
	return true
}
