package syntax

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pawl-ci/pawl/runner/lang/diag"
)

// Parse reads a file. The tree can always be used, whatever the diagnostics say;
// they are sorted, and hold one error per thing that is wrong. Its cost grows
// with the length of the file and with nothing else.
func Parse(f *diag.File) (*File, diag.List) {
	p := &parser{
		scanner: scanner{src: f.Text, file: f},
		out:     &File{Source: f, nodes: make(map[string]*Node, min(len(f.Text)/usualNode, mostNodes))},
		hashed:  -1,
		props:   make([]Property, 0, 8),
	}
	p.characters()
	p.line(len(p.src) - len(strings.TrimPrefix(p.src, "\ufeff")))
	top := below(-1)
	for p.more(&top) {
		p.declaration()
	}
	p.workflows()
	p.out.Comments = p.comments
	p.found.Sort()
	return p.out, p.found
}

// The table of nodes is made for as many as a file of that length usually has.
const (
	usualNode = 256 // bytes
	mostNodes = 1 << 14
)

// parser reads one file.
type parser struct {
	scanner
	out   *File
	found diag.List

	indent   int  // of the line on which the token stands
	first    int  // where the first token of that line begins
	tabbed   bool // that line is indented by tabs
	hashed   int  // where the line behind the last single-# comment begins
	resync   bool // the statement was given up, and the token begins the next one
	skipping bool // lines are passed over: nothing is reported about them
	closed   int  // where the last closing bracket ends
	muted    bool // the statement has had its error: the rest would be echoes

	cap       int // where the line ends on which diagnostics are counted
	capped    int // how many it has had
	malformed map[string]bool
	broken    bool // the file is not UTF-8

	declared map[string]diag.Span // the variables of the file
	shadowed map[string]diag.Span // those of the workflow

	// Lists grow here and are copied when they are complete.
	props   []Property
	values  []Value
	entries []Entry
	fields  []Field
	idents  []Ident
}

// mostPerLine bounds the diagnostics of one line: a line of a million errors is
// one error.
const mostPerLine = 16

func (p *parser) report(d diag.Diagnostic) {
	if d.Span.Start >= p.cap {
		p.cap, p.capped = p.lineEnd(min(d.Span.Start, len(p.src)))+1, 0
	}
	if p.capped++; p.capped <= mostPerLine {
		p.found.Add(d)
	}
}

func (p *parser) warn(code diag.Code, span diag.Span, hint, message string) {
	p.report(diag.Diagnostic{Code: code, Severity: diag.Warning, Span: span, Hint: hint, Message: message})
}

// fail reports an error of form. It is the last one of the statement.
func (p *parser) fail(code diag.Code, span diag.Span, hint, format string, args ...any) {
	p.complain(code, span, hint, format, args...)
	p.muted = true
}

// complain reports an error that does not keep the parser from reading on.
func (p *parser) complain(code diag.Code, span diag.Span, hint, format string, args ...any) {
	if p.muted || p.broken && !utf8.ValidString(span.Text()) {
		return
	}
	p.report(diag.Diagnostic{Code: code, Severity: diag.Error, Span: span, Hint: hint, Message: fmt.Sprintf(format, args...)})
}

// again reports something that was there before.
func (p *parser) again(code diag.Code, span, first diag.Span, hint, format string, args ...any) {
	if p.muted {
		return
	}
	p.report(diag.Diagnostic{
		Code: code, Severity: diag.Error, Span: span, Hint: hint, Message: fmt.Sprintf(format, args...),
		Related: []diag.Related{{Span: first, Message: "the first one is here"}},
	})
}

func (p *parser) tab(span diag.Span) {
	p.report(diag.Diagnostic{
		Code: "P101", Severity: diag.Error, Span: span, Message: "a tab in the indentation",
		Hint: "indent by spaces, two for each level",
	})
}

// unexpected reports the token, which stands where want should.
func (p *parser) unexpected(want string) {
	if p.tok.kind == junk {
		p.stray()
		return
	}
	p.fail("P100", p.at(p.tok), "", "%s where %s is wanted", p.shown(), want)
}

// stray reports a character that begins nothing.
func (p *parser) stray() {
	r, _ := utf8.DecodeRuneInString(p.text(p.tok))
	hint := ""
	switch {
	case r == '#':
		hint = "comments begin with ##"
	case strings.ContainsRune("'`´‘’‚“”„«»", r):
		hint = `text stands in plain double quotes: "…"`
	case strings.ContainsRune("→⇒➔–—−", r):
		hint = "an edge is written with ->"
	case r == '-':
		hint = "members of a block stand on lines of their own, without a dash"
	}
	if r < utf8.RuneSelf || strings.ContainsRune("‘’‚“”„«»´→⇒➔–—−", r) {
		p.fail("P105", p.at(p.tok), hint, "%c cannot stand here", r)
		return
	}
	p.fail("P105", p.at(p.tok), hint, "the character U+%04X cannot stand here", r)
}

// shown names the token in messages.
func (p *parser) shown() string {
	switch {
	case p.tok.kind == endOfFile || p.tok.kind == endOfLine && p.pos == len(p.src):
		return "the end of the file"
	case p.tok.kind == endOfLine:
		return "the end of the line"
	case p.tok.kind == quoted:
		return "text"
	}
	return brief(p.text(p.tok))
}

// brief makes text fit to be quoted in a message: its first line, and of that not
// more than can be read at a glance.
func brief(text string) string {
	const most = 40
	cut := strings.IndexAny(text, "\r\n")
	if cut < 0 {
		cut = len(text)
	}
	if cut > most {
		for cut = most; cut > 0 && !utf8.RuneStart(text[cut]); cut-- {
		}
	}
	if cut == len(text) {
		return text
	}
	return text[:cut] + "…"
}

// characters reports what no text file should hold, once per kind and file.
func (p *parser) characters() {
	if controls, first := p.controls(); controls > 0 {
		p.complain("P105", p.span(first, first+1), "take it out, or write it as an escape in a string",
			"the file holds %s, the first one is U+%04X here", count(controls, "control character"), p.src[first])
	}
	if utf8.ValidString(p.src) {
		return
	}
	p.broken = true
	wrong, first := 0, 0
	for i := 0; i < len(p.src); {
		r, size := utf8.DecodeRuneInString(p.src[i:])
		if r == utf8.RuneError && size == 1 {
			if wrong++; wrong == 1 {
				first = i
			}
		}
		i += size
	}
	p.report(diag.Diagnostic{
		Code: "P105", Severity: diag.Error, Span: p.span(first, first+1), Hint: "save the file as UTF-8",
		Message: fmt.Sprintf("the file is not UTF-8: %s cannot be read, the first one is here", count(wrong, "byte")),
	})
}

// controls counts control characters, carriage returns among them that end no
// line. It looks at eight bytes at a time: nearly always there is none.
func (p *parser) controls() (found, first int) {
	const ones = 0x0101010101010101
	const low = ones * 0x7f
	src := p.src
	for i := 0; i < len(src); {
		if i+8 <= len(src) {
			b := src[i : i+8]
			w := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
				uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
			small := ^(w&low + ones*(0x80-' ') | w)        // high bits of bytes below a blank
			feed, del := w^ones*'\n', w^ones*0x7f          // bytes that are 0 where a line feed or a DEL stands
			feed, del = feed&low+low|feed, del&low+low|del // high bits of bytes that are none
			if (small&feed|^del)&^low == 0 {
				i += 8
				continue
			}
		}
		for end := min(i+8, len(src)); i < end; i++ {
			c := src[i]
			if classes[c]&isControl != 0 || c == '\r' && !strings.HasPrefix(src[i:], "\r\n") {
				if found++; found == 1 {
					first = i
				}
			}
		}
	}
	return found, first
}

func count(n int, what string) string {
	if n == 1 {
		return "a " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// workflows sees to it that there is exactly one.
func (p *parser) workflows() {
	p.muted = false
	if len(p.out.Workflows) == 0 {
		p.complain("C006", p.span(0, 0), "add one: workflow NAME: with entry: NODE and edges such as NODE -> done", "the file has no workflow")
		return
	}
	first := p.out.Workflows[0]
	for _, w := range p.out.Workflows[1:] {
		p.again("C007", w.Span, first.Span, "put each workflow into a file of its own",
			"workflow %s is the second one, after %s: a file has one", w.Name.Name, first.Name.Name)
	}
}

// names finds repeats in one block: by looking through the list while it is
// short, by a map when it is not.
type names struct {
	base  int
	index map[string]diag.Span
}

// shortList is how many names are looked through.
const shortList = 12

func (p *parser) names() names { return names{base: len(p.idents)} }

// add takes a name in, or returns the place where it was given before.
func (p *parser) add(n *names, id Ident) (first diag.Span, repeated bool) {
	list := p.idents[n.base:]
	if n.index == nil {
		if i := slices.IndexFunc(list, func(x Ident) bool { return x.Name == id.Name }); i >= 0 {
			return list[i].Span, true
		}
		p.idents = append(p.idents, id)
		if len(list) == shortList {
			n.index = make(map[string]diag.Span, 4*shortList)
			for _, x := range p.idents[n.base:] {
				n.index[x.Name] = x.Span
			}
		}
		return diag.Span{}, false
	}
	if first, repeated = n.index[id.Name]; !repeated {
		n.index[id.Name] = id.Span
	}
	return first, repeated
}

func (p *parser) forget(n names) { p.idents = p.idents[:n.base] }
