package syntax

import "github.com/pawl-ci/pawl/runner/lang/syntax/scan"

// block is a run of lines that are indented deeper than the line they belong to.
type block struct {
	parent int // indentation of the line that the block belongs to
	own    int // indentation of the block's first line; -1 before it
	odd    int // the last wrong indentation, which is reported once
}

func below(indent int) block { return block{parent: indent, own: -1, odd: -1} }

// more reports whether the parser stands on a line of the block. Each line
// begins a statement, with a right to an error of its own.
func (p *parser) more(b *block) bool {
	p.muted = false
	if p.Tok.Kind == scan.EndOfFile || p.Indent <= b.parent {
		return false
	}
	switch {
	case b.own < 0:
		b.own = p.Indent
	case p.Indent == b.own:
		b.odd = -1
	case p.Indent != b.odd:
		b.odd = p.Indent
		if !p.Tabbed {
			p.fail("P102", p.span(p.First-p.Indent, p.First), "begin it in the same column as the line above it that it belongs with",
				"this line is indented by %d, the others of its block by %d", p.Indent, b.own)
		}
	default:
		p.muted = true
	}
	return true
}

// endLine ends a statement: nothing may follow on the line.
func (p *parser) endLine() {
	if p.resync {
		p.resync = false
		return
	}
	if p.Tok.Kind != scan.EndOfLine && p.Tok.Kind != scan.EndOfFile {
		p.unexpected("the end of the line")
	}
	p.NextLine()
}

// skip gives a statement up: the rest of its line, and the lines indented deeper
// than it with a bracket that closes them.
func (p *parser) skip(indent int) {
	if p.resync {
		p.resync = false
		return
	}
	muted := p.Quiet
	p.Quiet = true
	p.NextLine()
	for p.Tok.Kind != scan.EndOfFile && (p.Indent > indent || p.Indent == indent && p.Closes()) {
		p.NextLine()
	}
	p.Quiet = muted
}
