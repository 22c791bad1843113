package syntax

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// bareValue is text without quotes, until the property that it stands at has
// said what it is. It never leaves the parser.
const bareValue ValueKind = 255

// deepest bounds how values nest.
const deepest = 64

// value reads one value into v. depth is how many brackets it stands in. When it
// is false the reason has been reported, and the token is where reading stopped.
func (p *parser) value(v *Value, depth int) bool {
	t := p.tok
	if depth > deepest {
		p.fail("P108", p.at(t), "keep such data in a file", "values are nested more than %d deep", deepest)
		return false
	}
	switch t.kind {
	case quoted:
		p.stringValue(v)
		return true
	case word, number, bare:
		p.plain(v, depth)
		return true
	case openList:
		p.next()
		return p.list(v, t, depth)
	case openObject:
		if strings.HasPrefix(p.src[t.end:], "{") {
			p.restOfLine(v, t.start, depth)
			return true
		}
		p.next()
		entries, ok := p.object(t, depth)
		v.Kind, v.Span, v.parts = ObjectValue, p.span(t.start, max(p.closed, t.end)), &parts{entries: entries}
		return ok
	case junk:
		if c := p.src[t.start]; c < utf8.RuneSelf && c != '#' && c != '\'' && c != '`' && c != ';' {
			p.restOfLine(v, t.start, depth)
			return true
		}
	}
	p.unexpected("a value")
	return false
}

// plain reads a word or a number, or the text without quotes that it begins.
func (p *parser) plain(v *Value, depth int) {
	t := p.tok
	if t.kind == bare {
		p.restOfLine(v, t.start, depth)
		return
	}
	p.next()
	ends := p.tok.kind == endOfLine || depth > 0 && (p.tok.kind == comma || p.closes() || t.kind == number)
	if !ends {
		p.restOfLine(v, t.start, depth)
		return
	}
	v.Kind, v.Str, v.Span = WordValue, p.text(t), p.at(t)
	switch {
	case t.kind == number:
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
		p.complain("P144", v.Span, "", "%s is too large a number", brief(v.Str))
		v.Str = "0"
	}
}

// restOfLine takes text without quotes as far as it can be meant to go: to the
// end of the line or a comment, in brackets to a comma or a closing bracket.
func (p *parser) restOfLine(v *Value, start, depth int) {
	end := p.lineEnd(start)
	i, last := start, start+strings.LastIndex(p.src[start:end], "}}")
	for i < end {
		c := p.src[i]
		switch {
		case i < last && strings.HasPrefix(p.src[i:end], "{{"):
			i += strings.Index(p.src[i:end], "}}") + 1
		case c == '#' && strings.HasPrefix(p.src[i:], "##") && i > start && p.src[i-1] == ' ',
			depth > 0 && (c == ',' || c == ']' || c == '}'):
			end = i
			continue
		}
		i++
	}
	text := strings.TrimRight(p.src[start:end], " \t\r")
	p.pos = end
	p.next()
	v.Kind, v.Str, v.Span = bareValue, text, p.span(start, start+len(text))
}

// unquoted reports text without quotes where a text is wanted.
func (p *parser) unquoted(v *Value) {
	hint := `put it in double quotes`
	if text := v.Span.Text(); len(text) <= 60 && !strings.ContainsAny(text, "\"\\\n") {
		hint = `write "` + strings.Trim(text, "'`") + `"`
	}
	p.complain("P107", v.Span, hint, "%s stands without quotes", brief(v.Span.Text()))
}

// stringValue reads the string that the token is.
func (p *parser) stringValue(v *Value) {
	t := p.tok
	p.next()
	v.Kind, v.Span = StringValue, p.at(t)
	inner := t
	inner.start++
	if t.open {
		p.fail("P103", p.span(t.start, t.start+1), `close it with " on this line; a line feed in it is written \n`, "this string has no end")
	} else {
		inner.end--
	}
	v.Str = p.text(inner)
	if t.escaped {
		p.unescape(v, inner)
	}
}

// simpleEscapes are the escapes of one letter.
var simpleEscapes = [256]byte{'n': '\n', 't': '\t', 'r': '\r', '"': '"', '\\': '\\'}

// unescape decodes a string that holds backslashes, and notes where each stretch
// of the result comes from.
func (p *parser) unescape(v *Value, t token) {
	var b strings.Builder
	b.Grow(t.end - t.start)
	var runs []run
	plain := func(from, to int) {
		if to > from {
			runs = append(runs, run{b.Len(), from, to - from})
			b.WriteString(p.src[from:to])
		}
	}
	done := t.start
	for i := t.start; i < t.end; {
		n := strings.IndexByte(p.src[i:t.end], '\\')
		if n < 0 {
			break
		}
		i += n
		decoded, size := p.escape(p.src[i:t.end], i)
		if size == 0 {
			i++ // reported; the backslash stays
			continue
		}
		plain(done, i)
		runs = append(runs, run{b.Len(), i, size})
		b.WriteString(decoded)
		i += size
		done = i
	}
	plain(done, t.end)
	v.Str = b.String()
	if runs != nil {
		v.parts = &parts{runs: runs}
	}
}

// escape decodes the escape that text begins with, and which stands at offset at
// of the file. size is 0 for one that does not exist.
func (p *parser) escape(text string, at int) (decoded string, size int) {
	if len(text) < 2 {
		return "", 0 // the line ends: that has been said
	}
	if c := simpleEscapes[text[1]]; c != 0 {
		return string(c), 2
	}
	if text[1] == 'u' {
		if r, size := unicodeEscape(text); size > 0 {
			return string(r), size
		}
		p.complain("P104", p.span(at, at+2), `write four hexadecimal digits: \u00e9`, `\u is not followed by the number of a character`)
		return "", 0
	}
	_, width := utf8.DecodeRuneInString(text[1:])
	p.complain("P104", p.span(at, at+1+width), `one of: \n, \t, \r, \", \\, \uXXXX; a backslash itself is written \\`,
		"there is no escape %s", text[:1+width])
	return "", 0
}

// unicodeEscape reads \uXXXX, or two of them that make one character.
func unicodeEscape(text string) (r rune, size int) {
	r, ok := hex4(text)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) && r != 0 {
		return r, 6
	}
	low, ok := hex4(text[6:])
	if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
		return 0, 0
	}
	return r, 12
}

func hex4(text string) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(text[2:6], 16, 32)
	return rune(n), err == nil
}

// within moves on to the next token in brackets, over line ends. It is false
// when the bracket that opened has no end: the file ends, or the next line
// plainly begins something else.
func (p *parser) within(opening token, indent int, entries bool) bool {
	for p.tok.kind == endOfLine {
		p.nextLine()
		if p.closes() {
			break
		}
		if p.tok.kind == endOfFile || (p.indent < indent || p.indent == indent && p.begins(entries)) {
			p.fail("P106", p.at(opening), "close it with "+closing(opening), "this %s has no end", p.text(opening))
			p.resync = true
			return false
		}
	}
	if p.closes() && p.text(p.tok) != closing(opening) {
		p.fail("P106", p.at(opening), "close it with "+closing(opening), "this %s has no end", p.text(opening))
		return false
	}
	return true
}

func closing(opening token) string {
	if opening.kind == openList {
		return "]"
	}
	return "}"
}

// begins reports whether the line looks like a statement and not like part of
// what stands in brackets.
func (p *parser) begins(entries bool) bool {
	if p.tok.kind != word {
		return false
	}
	c := p.following()
	return c == '-' || classes[c]&isLetter != 0 || c == ':' && !entries
}

// separator moves over what stands between two members, a comma or a line end,
// and reports whether there is another member.
func (p *parser) separator(opening token, indent int, closer kind) (more, ok bool) {
	entries := closer == closeObject
	crossed := p.tok.kind == endOfLine
	if !p.within(opening, indent, entries) {
		return false, false
	}
	if p.tok.kind == comma {
		p.next()
		crossed = true
		if !p.within(opening, indent, entries) {
			return false, false
		}
	}
	if p.tok.kind == closer {
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
	p.closed = p.tok.end
	p.next()
}

// list reads the members of a list behind its opening bracket into v.
func (p *parser) list(v *Value, opening token, depth int) bool {
	indent, base := p.indent, len(p.values)
	v.Kind = ListValue
	if !p.within(opening, indent, false) {
		return false
	}
	if p.tok.kind == closeList {
		p.close()
		v.Span = p.span(opening.start, p.closed)
		return true
	}
	for more := true; more; {
		var item Value
		ok := p.value(&item, depth+1)
		if ok {
			p.values = append(p.values, item)
			more, ok = p.separator(opening, indent, closeList)
		}
		if !ok {
			p.values = p.values[:base]
			return false
		}
	}
	v.Span = p.span(opening.start, p.closed)
	v.parts = &parts{items: take(&p.values, base)}
	return true
}

// object reads the entries of an object behind its opening brace. An entry that
// is wrong is left out, and the next one is read.
func (p *parser) object(opening token, depth int) (entries []Entry, ok bool) {
	indent, base, seen := p.indent, len(p.entries), p.names()
	if ok = p.within(opening, indent, true) && p.objectEntries(opening, indent, depth, &seen); ok {
		entries = take(&p.entries, base)
	}
	p.forget(seen)
	p.entries = p.entries[:base]
	return entries, ok
}

// objectEntries reads entries up to the closing brace.
func (p *parser) objectEntries(opening token, indent, depth int, seen *names) bool {
	more := p.tok.kind != closeObject
	if !more {
		p.close()
	}
	for more {
		ok := p.entry(depth, seen, false)
		if !ok && !p.resync {
			p.skipEntry()
		}
		if !p.resync {
			more, ok = p.separator(opening, indent, closeObject)
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
func (p *parser) entry(depth int, seen *names, formula bool) bool {
	var e Entry
	if !p.key(&e.Key) {
		return false
	}
	if p.tok.kind == equals && formula {
		p.next()
	} else if p.tok.kind == equals {
		p.complain("P100", p.at(p.tok), "write "+brief(e.Key.Name)+": …", "= where a colon is wanted")
		p.next()
	} else if p.colon(e.Key.Span); p.muted {
		return false
	}
	if !p.value(&e.Value, depth+1) {
		return false
	}
	p.keep(&e, seen)
	return true
}

// keep takes an entry in, if its key is new.
func (p *parser) keep(e *Entry, seen *names) {
	if first, repeated := p.add(seen, e.Key); repeated {
		p.again("P128", e.Key.Span, first, "keep one of them", "key %s is given twice", brief(e.Key.Name))
		return
	}
	p.entries = append(p.entries, *e)
}

// key reads the key of an entry: a name, or any text in quotes.
func (p *parser) key(id *Ident) bool {
	if p.tok.kind != quoted {
		return p.name(id, "a key")
	}
	var v Value
	p.stringValue(&v)
	id.Name, id.Span = v.Str, v.Span
	return !p.muted
}

// skipEntry moves to the end of an entry that was given up.
func (p *parser) skipEntry() {
	for depth := 0; p.tok.kind != endOfLine && p.tok.kind != endOfFile; p.next() {
		switch p.tok.kind {
		case openList, openObject:
			depth++
		case closeList, closeObject:
			if depth == 0 {
				return
			}
			depth--
		case comma:
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
