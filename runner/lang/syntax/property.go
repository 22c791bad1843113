package syntax

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-ci/pawl/runner/lang/diag"
)

// owner is what properties belong to.
type owner struct {
	what  string // "agent", "budget", …
	name  string // "fixer", or ""
	props []spec
}

func (o owner) String() string { return strings.TrimSuffix(o.what+" "+o.name, " ") }

// properties reads the block of properties below a line of the given
// indentation. Properties that are wrong are kept with a value of no kind until
// [parser.settled] takes them out, so that nobody misses them.
func (p *parser) properties(o owner, indent int) (base int, empty bool) {
	base = len(p.props)
	b := below(indent)
	for p.more(&b) {
		if p.tok.kind == word && p.misplaced(o) {
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
	keyword := p.text(p.tok)
	if classes[p.following()]&isLetter == 0 || keyword == "vars" || !slices.Contains(declarations, keyword) {
		return false
	}
	p.fail("P127", p.at(p.tok), "begin it at the left margin", "%s stands inside %s", keyword, o.String())
	p.declaration()
	return true
}

// property reads `key: value` into the parser's list.
func (p *parser) property(o owner, base int) {
	key, indent := p.tok, p.indent
	if key.kind != word {
		p.unexpected("a property of " + o.String())
		p.skip(indent)
		return
	}
	p.next()
	name := p.text(key)
	s := specOf(o.props, name)
	if s == nil {
		p.unknown(o, key)
		p.skip(indent)
		return
	}
	if p.tok.kind == equals {
		p.complain("P100", p.at(p.tok), "write "+name+": …", "= where a colon is wanted")
		p.next()
	} else {
		p.colon(p.at(key))
	}
	first := Props(p.props[base:]).Get(s.key())
	place := len(p.props)
	p.props = append(p.props, Property{Key: s.key(), Name: p.at(key)})
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

func (p *parser) unknown(o owner, key token) {
	name := p.text(key)
	switch {
	case p.tok.kind == arrow:
		p.fail("P127", p.at(key), "indent it below workflow NAME:", "an edge stands inside %s", o.String())
	case p.tok.kind != colon && p.tok.kind != equals:
		p.unexpected("a colon behind " + brief(name))
	default:
		p.fail("P123", p.at(key), diag.Suggest(name, canonical(o.props)), "%s has no property %s", o.String(), brief(name))
	}
}

// formed reads the value of a property in the form that it wants. When it is not
// ok the reason has been reported.
func (p *parser) formed(v *Value, s *spec, name diag.Span, indent int) bool {
	if p.tok.kind == endOfLine {
		return p.indented(v, s, name, indent)
	}
	if !p.value(v, 0) {
		return false
	}
	if p.tok.kind != endOfLine && !p.resync && !p.muted {
		p.unexpected("the end of the line")
	}
	return !p.muted && p.form(s, name, v) && !p.muted
}

// indented reads a value that stands below its key, up to the next statement.
func (p *parser) indented(v *Value, s *spec, name diag.Span, indent int) bool {
	switch s.form {
	case aCommand:
		text := p.body(indent)
		p.resync = true
		if text.Value == "" {
			break
		}
		v.Kind, v.Str, v.Span = BodyValue, text.Value, text.Span
		if text.runs != nil {
			v.parts = &parts{runs: text.runs}
		}
		return true
	case aBlock:
		p.nextLine()
		base, empty := p.properties(owner{what: s.name, props: s.props}, indent)
		v.Kind, v.Span, v.parts = BlockValue, name, &parts{props: p.settled(base)}
		p.resync = true
		if empty {
			p.warn("P126", name, "indent its properties below it, or delete it", "the "+s.name+" block is empty")
		}
		return true
	case anObject, aConstants, aFormulas:
		p.nextLine()
		v.Kind, v.Span, v.parts = ObjectValue, name, &parts{entries: p.freeEntries(s, indent)}
		p.resync = true
		return true
	}
	p.fail("P140", name, example(s), "%s wants %s, and nothing stands there", name.Text(), wanted(s))
	return false
}

// freeEntries reads a block of keys that the user names.
func (p *parser) freeEntries(s *spec, indent int) []Entry {
	base, seen := len(p.entries), p.names()
	b := below(indent)
	for p.more(&b) {
		line := p.indent
		ok := p.entry(-1, &seen, s.form == aFormulas)
		if ok && p.tok.kind != endOfLine && !p.resync {
			p.unexpected("the end of the line")
		}
		if ok && len(p.entries) > base && !p.member(s, &p.entries[len(p.entries)-1]) {
			p.entries = p.entries[:len(p.entries)-1]
		}
		if !ok || p.muted {
			p.skip(line)
			continue
		}
		p.endLine()
	}
	p.forget(seen)
	return take(&p.entries, base)
}

// member checks one entry of an object.
func (p *parser) member(s *spec, e *Entry) bool {
	if !p.constant(&e.Value) {
		return false
	}
	if s.form != anObject && !isName(e.Key.Name) && !p.malformed[e.Key.Name] {
		p.badName(&e.Key, plainName(e.Key.Name))
		return false
	}
	if s.form != aConstants && e.Value.Kind != StringValue {
		p.complain("P140", e.Value.Span, "put it in double quotes", "%s wants texts", s.name)
		return false
	}
	return true
}

// form checks a value against the form that its property wants.
//
//house:long one case per form
func (p *parser) form(s *spec, name diag.Span, v *Value) bool {
	switch s.form {
	case aText, aCommand:
		if v.Kind == WordValue || v.Kind == StringValue && (v.Str != "" || s.form != aCommand) {
			return true
		}
		if v.Kind == bareValue || v.Kind == NumberValue || v.Kind == BoolValue {
			p.unquoted(v)
			return false
		}
	case aName:
		if v.Kind == WordValue && isName(v.Str) || v.Kind == StringValue && isName(v.Str) {
			return true
		}
		if v.Kind == bareValue && !strings.ContainsAny(v.Str, " \"") {
			p.badName(&Ident{v.Str, v.Span}, plainName(v.Str))
			v.Kind = WordValue
			return true
		}
	case aTool:
		if p.tool(v) {
			return true
		}
		if v.Kind == bareValue {
			p.unquoted(v)
			return false
		}
	case aToolList, aNameList, aTextList:
		if v.Kind == ListValue {
			return p.members(s, name, v)
		}
	case aWhole, aNumber:
		if v.Kind == NumberValue {
			return p.ranged(s, name, v)
		}
	case aBool:
		if v.Kind == BoolValue {
			return true
		}
	case aDuration:
		return p.duration(name, v)
	case aChoice:
		return p.chosen(s, name, v)
	case aVerify:
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
	case anObject, aConstants:
		if v.Kind == ObjectValue {
			v.parts.entries = p.checked(s, v.Entries())
			return true
		}
	}
	p.complain("P140", v.Span, example(s), "%s wants %s", name.Text(), wanted(s))
	return false
}

// checked leaves the entries of an object out that are wrong.
func (p *parser) checked(s *spec, entries []Entry) []Entry {
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
func (p *parser) members(s *spec, name diag.Span, v *Value) bool {
	for i := range v.Items() {
		item := &v.Items()[i]
		ok := false
		switch s.form {
		case aToolList:
			if item.Kind == bareValue {
				p.unquoted(item)
				return false
			}
			ok = p.tool(item)
		case aNameList:
			ok = (item.Kind == WordValue || item.Kind == StringValue) && isName(item.Str)
		default:
			ok = item.Kind == StringValue
			if item.Kind == WordValue || item.Kind == bareValue || item.Kind == NumberValue {
				p.unquoted(item)
				return false
			}
		}
		if !ok {
			p.complain("P140", item.Span, example(s), "%s wants %s", name.Text(), wanted(s))
			return false
		}
	}
	return true
}

func isInt(text string) bool {
	_, err := strconv.ParseInt(text, 10, 64)
	return err == nil
}

// mostOfAnything bounds numbers, so that sums of them do not overflow.
const mostOfAnything = 1e15

// ranged checks a number.
func (p *parser) ranged(s *spec, name diag.Span, v *Value) bool {
	if s.form == aWhole && !isInt(v.Str) {
		p.complain("P140", v.Span, example(s), "%s wants %s", name.Text(), wanted(s))
		return false
	}
	hint := "at least " + strconv.FormatInt(s.least, 10)
	if s.positive {
		hint = "more than 0"
	}
	if n := v.Float(); n < float64(s.least) || s.positive && n <= 0 || n > mostOfAnything {
		p.complain("P144", v.Span, hint, "%s cannot be %s", name.Text(), brief(v.Str))
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
			p.complain("P160", v.Span, hint, "%s is no duration for %s", brief(v.Span.Text()), name.Text())
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
func (p *parser) chosen(s *spec, name diag.Span, v *Value) bool {
	code := s.code
	if code == "" {
		code = "P141"
	}
	var listed []string
	for _, c := range s.choices {
		if c.word == v.Str && (v.Kind == WordValue || v.Kind == StringValue) {
			if c.means != "" {
				v.Str = c.means
			}
			v.Kind, v.parts = WordValue, nil
			return true
		}
		if !c.quiet {
			listed = append(listed, c.word)
		}
	}
	p.complain(code, v.Span, diag.Suggest(v.Str, listed), "%s cannot be %s", name.Text(), brief(v.Span.Text()))
	return false
}

// wanted says in words what a property takes.
func wanted(s *spec) string {
	switch s.form {
	case aName:
		return article(s.of) + " by its name"
	case aNameList:
		return "a list of " + s.of + "s by their names"
	case aTool:
		return "the name of a tool"
	case aToolList:
		return "a list of tools"
	case aTextList:
		return "a list of texts"
	case aWhole:
		return "a whole number"
	case aNumber:
		return "a number"
	case aBool:
		return "true or false"
	case aDuration:
		return "a duration"
	case aChoice:
		return "a word"
	case aVerify:
		return "auto, none, a command or a list of commands"
	case aBlock:
		return "a block of properties below it"
	case anObject, aConstants, aFormulas:
		return "entries: a key and a value each"
	}
	return "a text"
}

func article(noun string) string {
	if strings.IndexByte("aeiou", noun[0]) >= 0 {
		return "an " + noun
	}
	return "a " + noun
}

// example is a hint that shows the property as it could be written.
func example(s *spec) string {
	text := `"…"`
	switch s.form {
	case aCommand:
		return "for example " + s.name + `: "make test", or nothing there and the commands indented below`
	case aName:
		if s.of == "prompt" {
			return "declare the text as prompt NAME: and write " + s.name + ": NAME"
		}
		text = "NAME"
	case aNameList:
		text = "[NAME, NAME]"
	case aTool:
		text = "builtin.verify"
	case aToolList:
		text = "[read_file, mcp.server.tool]"
	case aTextList:
		text = `["one", "two"]`
	case aWhole:
		text = strconv.FormatInt(max(s.least, 3), 10)
	case aNumber:
		text = "0.5"
	case aBool:
		text = "true"
	case aDuration:
		text = `"30m"`
	case aChoice:
		text = s.choices[0].word
	case aVerify:
		text = `["make test"]`
	case aBlock:
		return "begin a new line and indent the properties: " + s.props[0].name + ": …"
	case anObject, aConstants:
		text = `{ key: "value" }`
	case aFormulas:
		return `begin a new line and indent the entries: total: "1 + 1"`
	}
	return "for example " + s.name + ": " + text
}
