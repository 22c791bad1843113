package assist

import (
	"regexp"
	"strings"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/lexicon"
	"github.com/pawl-ci/pawl/runner/lang/symbols"
	"github.com/pawl-ci/pawl/runner/lang/syntax/grammar"
)

// Hover is what there is to know about a place.
type Hover struct {
	Span     diag.Span
	Markdown string
}

// Hover says what stands at an offset, and why findings there were made. It is
// nil where there is nothing to say.
func (d *Document) Hover(offset int, findings diag.List) *Hover {
	h := d.about(offset)
	for _, f := range findings {
		rule, known := diag.Lookup(f.Code)
		if !known || offset < f.Span.Start || offset > f.Span.End {
			continue
		}
		if h == nil {
			h = &Hover{Span: f.Span}
		}
		if h.Markdown != "" {
			h.Markdown += "\n\n---\n\n"
		}
		h.Markdown += ruleText(rule)
	}
	return h
}

// ruleText is an entry of the register.
func ruleText(r diag.Rule) string {
	return "**" + string(r.Code) + "** " + r.Title + "\n\n" + r.Why + "\n\nRight:\n" + fenced(cut(r.Good))
}

// about is what stands at an offset.
func (d *Document) about(offset int) *Hover {
	if h := d.codeAt(offset); h != nil {
		return h
	}
	if h := d.referenceAt(offset); h != nil {
		return h
	}
	if u := d.Names.At(offset); u != nil {
		if len(u.Symbols) > 0 {
			var texts []string
			for _, s := range u.Symbols {
				texts = append(texts, d.describe(s))
			}
			return &Hover{u.Span, strings.Join(texts, "\n\n")}
		}
		if text := lexicon.Clause(u.Name); u.Kind == symbols.Node && text != "" {
			return &Hover{u.Span, "`" + u.Name + "` " + text}
		}
	}
	return d.wordAt(offset)
}

var codeWord = regexp.MustCompile(`\b[CP][0-9]{3}\b`)

// codeAt is a code of the register, which people write into comments.
func (d *Document) codeAt(offset int) *Hover {
	line := d.lineOf(offset)
	start := d.starts[line]
	for _, m := range codeWord.FindAllStringIndex(d.line(line), -1) {
		if offset < start+m[0] || offset > start+m[1] {
			continue
		}
		if rule, known := diag.Lookup(diag.Code(d.line(line)[m[0]:m[1]])); known {
			return &Hover{diag.Span{File: d.Source, Start: start + m[0], End: start + m[1]}, ruleText(rule)}
		}
	}
	return nil
}

// referenceAt is the part of a reference up to the name at an offset.
func (d *Document) referenceAt(offset int) *Hover {
	ref := d.Names.RefAt(offset)
	if ref == nil {
		return nil
	}
	last := len(ref.Path) - 1
	for i, s := range ref.Path {
		if offset <= s.Span.End {
			last = i
			break
		}
	}
	names := make([]string, last+1)
	for i := range names {
		names[i] = ref.Path[i].Name
	}
	span := ref.Path[0].Span.To(ref.Path[last].Span)
	m, known := d.Names.Member(ref.Scope, names...)
	text := "`" + strings.Join(names, ".") + "`"
	if m.Type != "" {
		text += ": " + m.Type
	}
	if known && m.Note != "" {
		text += "\n\n" + m.Note
	}
	if u := d.Names.At(ref.Path[last].Span.Start); u != nil && last > 0 && u.Span == ref.Path[last].Span {
		for _, s := range u.Symbols {
			text += "\n\n" + d.describe(s)
		}
		known = known || len(u.Symbols) > 0
	}
	if !known {
		return nil
	}
	return &Hover{span, text}
}

// wordAt is a word of the language at an offset.
func (d *Document) wordAt(offset int) *Hover {
	line := d.lineOf(offset)
	start, text := d.starts[line], d.line(line)
	from := min(offset-start, len(text))
	for from > 0 && wordByte(text[from-1]) {
		from--
	}
	to := from
	for to < len(text) && wordByte(text[to]) {
		to++
	}
	indent, _ := d.indent(line)
	chain := d.above(line, indent)
	if from == to || raw(chain) || commented(text[:from]) || quoted(text[:from]) {
		return nil
	}
	md := d.wordDoc(chain, text[:from], text[from:to], text[to:])
	if md == "" {
		return nil
	}
	return &Hover{diag.Span{File: d.Source, Start: start + from, End: start + to}, md}
}

// wordDoc is what the reference says about a word between two parts of its line.
func (d *Document) wordDoc(chain []head, before, word, after string) string {
	begins := strings.TrimSpace(before) == ""
	if strings.Contains(before, "->") {
		return prefixed(word, lexicon.Clause(word))
	}
	if begins && (len(chain) == 0 || word == "vars") {
		return prefixed(word, lexicon.Declaration(word))
	}
	if len(chain) == 0 {
		return ""
	}
	block, table := chain[0].word(0), propertiesOf(chain[0].word(0))
	if len(chain) > 1 {
		spec := grammar.Find(table, chain[1].word(0))
		if spec == nil || spec.Form != grammar.Block {
			return ""
		}
		block, table = spec.Name, spec.Props
	}
	key, _, valued := strings.Cut(strings.TrimSpace(before), ":")
	switch spec := grammar.Find(table, word); {
	case begins && spec != nil && strings.HasPrefix(strings.TrimLeft(after, " "), ":"):
		return d.propertyDoc(block, spec)
	case valued && (block == "schema" || block == "vars"):
		return prefixed(word, lexicon.Clause(word))
	case valued:
		if spec := grammar.Find(table, strings.TrimSpace(key)); spec != nil {
			return d.propertyDoc(block, spec)
		}
	}
	return ""
}

func prefixed(word, text string) string {
	if text == "" {
		return ""
	}
	return "`" + word + "`: " + text
}
