package format

import (
	"strings"
	"unicode/utf8"

	"github.com/pawl-ci/pawl/runner/lang/syntax/grammar"
	"github.com/pawl-ci/pawl/runner/lang/syntax/scan"
)

// style is how a value is quoted.
type style int

const (
	asWritten style = iota
	word            // without quotes where that means the same; of an object, its keys
	text            // with quotes
	json            // keys with quotes
)

// styleOf is the style of a property's value.
func styleOf(p *grammar.Property) style {
	switch p.Form {
	case grammar.Name, grammar.NameList, grammar.Tool, grammar.ToolList, grammar.OneOf, grammar.Object, grammar.Constants:
		return word
	case grammar.Text, grammar.Command, grammar.Duration:
		return text
	}
	return asWritten
}

// value reads one value.
func (r *reader) value(s style) value {
	switch r.Tok.Kind {
	case scan.OpenList, scan.OpenObject:
		return value{group: r.group(s)}
	case scan.Quoted:
		written := r.take()
		if s == word {
			written = unquoted(written)
		}
		return value{text: written}
	}
	if s == text {
		return value{text: `"` + r.take() + `"`}
	}
	return value{text: r.take()}
}

// group reads what stands in brackets.
func (r *reader) group(s style) *group {
	closer := scan.CloseList
	if r.Tok.Kind == scan.OpenObject {
		closer = scan.CloseObject
	}
	g := &group{open: r.take()}
	if closer == scan.CloseList && r.Tok.Kind == scan.Word && r.Following() == ':' {
		g.open += r.take() + r.take()
	}
	var above []note
	g.head, above = r.breaks("", nil)
	for r.Tok.Kind != closer && r.Tok.Kind != scan.EndOfFile {
		m := item{notes: above, blank: r.blank(r.Tok.Start)}
		r.member(&m, s, closer == scan.CloseObject)
		m.tail, above = r.breaks("", nil)
		if r.Tok.Kind == scan.Comma {
			r.take()
			m.tail, above = r.breaks(m.tail, above)
		}
		g.items = append(g.items, m)
	}
	g.notes = above
	g.close = r.take()
	g.measure()
	return g
}

// member reads a member of a group, with its key if it has one.
func (r *reader) member(m *item, s style, keyed bool) {
	if !keyed {
		m.value = r.value(s)
		return
	}
	m.key = r.key(s)
	m.value = r.value(json)
}

// key reads a key and what separates it from its value.
func (r *reader) key(s style) string {
	quoted := r.Tok.Kind == scan.Quoted
	key := r.take()
	switch {
	case s == json && !quoted:
		key = `"` + key + `"`
	case s != json && quoted && scan.IsName(key[1:len(key)-1]):
		key = key[1 : len(key)-1]
	}
	r.take()
	return key + ": "
}

// breaks moves over line ends in brackets. The first comment behind something is
// its tail, unless it has one; the others stand above what follows.
func (r *reader) breaks(tail string, above []note) (string, []note) {
	for r.Tok.Kind == scan.EndOfLine {
		if r.pending() && tail == "" && len(above) == 0 {
			tail = r.note().text
		}
		r.NextLine()
		for r.pending() {
			above = append(above, r.note())
		}
	}
	return tail, above
}

// unquoted is a text without its quotes, if it can be read that way and is no
// other kind of value then.
func unquoted(quoted string) string {
	text := quoted[1 : len(quoted)-1]
	name, dotted, _ := strings.Cut(text, ".")
	if !scan.IsName(name) || name == "true" || name == "false" || len(text) > len(name) && !isDotted(dotted) {
		return quoted
	}
	return text
}

// isDotted reports whether text continues a name behind a dot.
func isDotted(text string) bool {
	for part := range strings.SplitSeq(text, ".") {
		if !scan.IsName("_"+part) || part == "" {
			return false
		}
	}
	return true
}

// measure finds out how long the group is on one line.
func (g *group) measure() {
	g.size = -1
	if g.head != "" || len(g.notes) > 0 {
		return
	}
	size := len(g.open) + len(g.close) + 2*len(g.padding())
	if g.open == enumOpen {
		size -= len(g.padding())
	}
	for i := range g.items {
		m := &g.items[i]
		if len(m.notes) > 0 || m.tail != "" || m.value.size() < 0 {
			return
		}
		if i > 0 {
			size += len(", ")
		}
		size += utf8.RuneCountInString(m.key) + m.value.size()
	}
	g.size = size
}

// size is how many characters the value has on one line, or -1.
func (v value) size() int {
	if v.group != nil {
		return v.group.size
	}
	return utf8.RuneCountInString(v.text)
}

const enumOpen = "[enum:"

// padding stands behind the opening bracket of a group on one line, and in braces
// also before the closing one.
func (g *group) padding() string {
	if len(g.items) > 0 && (g.open == "{" || g.open == enumOpen) {
		return " "
	}
	return ""
}
