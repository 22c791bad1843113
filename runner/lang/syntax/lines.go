package syntax

import "strings"

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
	if p.tok.kind == endOfFile || p.indent <= b.parent {
		return false
	}
	switch {
	case b.own < 0:
		b.own = p.indent
	case p.indent == b.own:
		b.odd = -1
	case p.indent != b.odd:
		b.odd = p.indent
		if !p.tabbed {
			p.fail("P102", p.span(p.first-p.indent, p.first), "begin it in the same column as the line above it that it belongs with",
				"this line is indented by %d, the others of its block by %d", p.indent, b.own)
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
	if p.tok.kind != endOfLine && p.tok.kind != endOfFile {
		p.unexpected("the end of the line")
	}
	p.nextLine()
}

// skip gives a statement up: the rest of its line, and the lines indented deeper
// than it with a bracket that closes them.
func (p *parser) skip(indent int) {
	if p.resync {
		p.resync = false
		return
	}
	muted := p.skipping
	p.skipping = true
	p.nextLine()
	for p.tok.kind != endOfFile && (p.indent > indent || p.indent == indent && p.closes()) {
		p.nextLine()
	}
	p.skipping = muted
}

func (p *parser) closes() bool {
	return p.tok.kind == closeList || p.tok.kind == closeObject || p.tok.kind == closeCount
}

// nextLine moves to the first token of the next line that holds anything.
func (p *parser) nextLine() {
	end := p.lineEnd(p.pos)
	if end == len(p.src) {
		p.finish()
		return
	}
	p.line(end + 1)
}

func (p *parser) finish() {
	p.set(endOfFile, len(p.src), len(p.src))
	p.first, p.indent = len(p.src), -1
}

// line moves to the first token of the first line, from the one that begins at
// start on, that holds anything.
func (p *parser) line(start int) {
	for start < len(p.src) {
		i := start
		for i < len(p.src) && p.src[i] == ' ' {
			i++
		}
		spaces := i
		for i < len(p.src) && classes[p.src[i]]&(isBlank|isControl) != 0 {
			i++
		}
		if i < len(p.src) && !p.skippable(start, i) {
			p.begin(start, spaces, i)
			return
		}
		end := p.lineEnd(i)
		if end == len(p.src) {
			break
		}
		start = end + 1
	}
	p.finish()
}

// skippable reports whether nothing but a comment stands on the line from i on,
// and keeps the comment.
func (p *parser) skippable(start, i int) bool {
	switch p.src[i] {
	case '\n':
		return true
	case '\r':
		return strings.HasPrefix(p.src[i:], "\r\n")
	case '#':
		p.comment(i)
		if !strings.HasPrefix(p.src[i:], "##") {
			if p.hashed != start && !p.skipping {
				p.warn("P109", p.span(i, i+1), "begin comments with ##", "a comment begins with a single #")
			}
			p.hashed = p.pos + 1
		}
		return true
	}
	return false
}

// begin reads the first token of a line, whose spaces end at spaces.
func (p *parser) begin(start, spaces, first int) {
	p.indent = spaces - start
	tabs := strings.Count(p.src[spaces:first], "\t")
	if tabs > 0 && !p.tabbed && !p.skipping {
		p.tab(p.span(spaces, first))
	}
	p.tabbed = tabs > 0
	p.indent += 2 * tabs
	p.pos = first
	p.first = first
	p.next()
}
