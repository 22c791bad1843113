package syntax

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/syntax/ast"
	"github.com/pawl-ci/pawl/runner/lang/syntax/scan"
)

// Parse reads a file. The tree can always be used, whatever the diagnostics say;
// they are sorted, and hold one error per thing that is wrong. Its cost grows
// with the length of the file and with nothing else.
func Parse(f *diag.File) (*File, diag.List) {
	p := &parser{
		Scanner: scan.Scanner{Src: f.Text}, file: f,
		out:      ast.NewFile(f, min(len(f.Text)/usualNode, mostNodes)),
		declared: make(map[string]diag.Span),
		props:    make([]Property, 0, 8),
	}
	p.Odd = p.oddity
	p.characters()
	p.Line(len(p.Src) - len(strings.TrimPrefix(p.Src, "\ufeff")))
	top := below(-1)
	for p.more(&top) {
		p.declaration()
	}
	p.workflows()
	p.comments()
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
	scan.Scanner
	file  *diag.File
	out   *File
	found diag.List

	resync bool // the statement was given up, and the token begins the next one
	closed int  // where the last closing bracket ends
	muted  bool // the statement has had its error: the rest would be echoes

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
}

func (p *parser) span(start, end int) diag.Span {
	return diag.Span{File: p.file, Start: start, End: end}
}

func (p *parser) at(t scan.Token) diag.Span { return p.span(t.Start, t.End) }

func (p *parser) comments() {
	if len(p.Comments) > 0 {
		p.out.Comments = make([]diag.Span, len(p.Comments))
	}
	for i, c := range p.Comments {
		p.out.Comments[i] = p.span(c[0], c[1])
	}
}

// mostPerLine bounds the diagnostics of one line: a line of a million errors is
// one error.
const mostPerLine = 16

func (p *parser) report(d diag.Diagnostic) {
	if d.Span.Start >= p.cap {
		p.cap, p.capped = p.LineEnd(min(d.Span.Start, len(p.Src)))+1, 0
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
	p.because(code, span, diag.Related{Span: first, Message: "the first one is here"}, hint, format, args...)
}

// because reports an error that another place explains.
func (p *parser) because(code diag.Code, span diag.Span, other diag.Related, hint, format string, args ...any) {
	if !p.muted {
		p.report(diag.Diagnostic{
			Code: code, Severity: diag.Error, Span: span, Hint: hint, Message: fmt.Sprintf(format, args...), Related: []diag.Related{other},
		})
	}
}

// oddity reports what the scanner finds odd.
func (p *parser) oddity(what scan.Oddity, start, end int) {
	if what == scan.HashComment {
		p.warn("P109", p.span(start, end), "begin comments with ##", "a comment begins with a single #")
		return
	}
	p.report(diag.Diagnostic{
		Code: "P101", Severity: diag.Error, Span: p.span(start, end), Message: "a tab in the indentation",
		Hint: "indent by spaces, two for each level",
	})
}

// unexpected reports the token, which stands where want should.
func (p *parser) unexpected(want string) {
	if p.Tok.Kind == scan.Junk {
		p.stray()
		return
	}
	p.fail("P100", p.at(p.Tok), "", "%s where %s is wanted", p.shown(), want)
}

// stray reports a character that begins nothing.
func (p *parser) stray() {
	r, _ := utf8.DecodeRuneInString(p.Text(p.Tok))
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
		p.fail("P105", p.at(p.Tok), hint, "%c cannot stand here", r)
		return
	}
	p.fail("P105", p.at(p.Tok), hint, "the character U+%04X cannot stand here", r)
}

// shown names the token in messages.
func (p *parser) shown() string {
	if p.Tok.Kind == scan.EndOfFile || p.Tok.Kind == scan.EndOfLine && p.Pos == len(p.Src) {
		return "the end of the file"
	}
	return p.named(p.Tok)
}

// named names a token that stands in a line.
func (p *parser) named(t scan.Token) string {
	switch t.Kind {
	case scan.EndOfLine:
		return "the end of the line"
	case scan.Quoted:
		return "text"
	}
	return diag.Brief(p.Text(t))
}

// characters reports what no text file should hold, once per kind and file.
func (p *parser) characters() {
	if controls, first := scan.Controls(p.Src); controls > 0 {
		p.complain("P105", p.span(first, first+1), "take it out, or write it as an escape in a string",
			"the file holds %s, the first one is U+%04X here", count(controls, "control character"), p.Src[first])
	}
	if wrong, first := scan.Broken(p.Src); wrong > 0 {
		p.complain("P105", p.span(first, first+1), "save the file as UTF-8",
			"the file is not UTF-8: %s cannot be read, the first one is here", count(wrong, "byte"))
		p.broken = true
	}
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
