package syntax

import "strings"

// body reads the lines below the current one that are indented deeper than
// indent as text: their common indentation is removed, line ends become line
// feeds, blank lines at the beginning and the end are dropped. The parser must
// stand at the end of a line; it then stands on the first line behind the text.
// The text is empty when there is none.
func (p *parser) body(indent int) Text {
	end := p.lineEnd(p.pos)
	if end == len(p.src) {
		p.finish()
		return Text{Span: p.span(end, end)}
	}
	e := p.extent(end+1, indent)
	p.pos = e.next
	p.line(e.next)
	if e.count == 0 {
		return Text{Span: p.span(end, end)}
	}
	if e.count == 1 {
		from := e.first + p.removed(e.first, e.common)
		return Text{Value: p.src[from:e.last], Span: p.span(from, e.last)}
	}
	return p.join(e)
}

// extent is what a first look at a body finds.
type extent struct {
	first  int // where its first line begins
	last   int // where its last line ends, without the line end
	next   int // where the line behind it begins
	count  int // of lines from the first to the last, blank ones included
	common int // indentation to be removed
}

// extent looks at the lines from start on that belong to a body.
func (p *parser) extent(start, indent int) extent {
	e := extent{next: start}
	tabbed, blanks := false, 0
	for start < len(p.src) {
		end := p.lineEnd(start)
		spaces := start
		for spaces < end && p.src[spaces] == ' ' {
			spaces++
		}
		stop := start + len(strings.TrimRight(p.src[start:end], "\r"))
		if blank := strings.TrimLeft(p.src[spaces:stop], " \t") == ""; blank {
			blanks++
		} else {
			depth := spaces - start
			if p.src[spaces] == '\t' && depth <= indent {
				if !tabbed && !p.skipping {
					p.tab(p.span(spaces, spaces+1))
				}
				tabbed, depth = true, indent+1
			}
			if depth <= indent {
				break
			}
			if e.count == 0 {
				e.first, e.common, blanks = start, depth, 0
			}
			e.common = min(e.common, depth)
			e.count += blanks + 1
			e.last, blanks = stop, 0
		}
		start = min(end+1, len(p.src))
		e.next = start
	}
	return e
}

// removed is how much of the line at start is taken away as common indentation.
func (p *parser) removed(start, common int) int {
	n := 0
	for n < common && start+n < len(p.src) && p.src[start+n] == ' ' {
		n++
	}
	if n < common {
		for start+n < len(p.src) && p.src[start+n] == '\t' {
			n++
		}
	}
	return n
}

// join builds a body of several lines.
func (p *parser) join(e extent) Text {
	var b strings.Builder
	b.Grow(e.last - e.first)
	runs := make([]run, 0, e.count)
	for start := e.first; ; {
		end := min(p.lineEnd(start), e.last)
		stop := end
		for stop > start && p.src[stop-1] == '\r' && stop != e.last {
			stop--
		}
		from := start + p.removed(start, e.common)
		if strings.TrimLeft(p.src[start:stop], " \t") == "" {
			from = stop
		}
		r := run{val: b.Len(), src: from, size: stop - from}
		b.WriteString(p.src[from:stop])
		if end == e.last {
			runs = append(runs, r)
			break
		}
		b.WriteByte('\n')
		r.size++
		runs = append(runs, r)
		start = p.lineEnd(start) + 1
	}
	return Text{Value: b.String(), Span: p.span(runs[0].src, e.last), runs: runs}
}
