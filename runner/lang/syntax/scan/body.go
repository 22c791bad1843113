package scan

import "strings"

// Body reads the lines below the current one that are indented deeper than
// indent as text: their common indentation is removed, line ends become line
// feeds, blank lines at the beginning and the end are dropped. The scanner
// must stand at the end of a line; it then stands on the first line behind the text.
// The text is empty when there is none.
func (s *Scanner) Body(indent int) Text {
	end := s.LineEnd(s.Pos)
	if end == len(s.Src) {
		s.finish()
		return Text{Start: end, End: end}
	}
	e := s.extent(end+1, indent)
	s.Pos = e.next
	s.Line(e.next)
	if e.count == 0 {
		return Text{Start: end, End: end}
	}
	if e.count == 1 {
		from := e.first + s.removed(e.first, e.common)
		return Text{Value: s.Src[from:e.last], Start: from, End: e.last}
	}
	return s.join(e)
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
func (s *Scanner) extent(start, indent int) extent {
	e := extent{next: start}
	tabbed, blanks := false, 0
	for start < len(s.Src) {
		end := s.LineEnd(start)
		spaces := start
		for spaces < end && s.Src[spaces] == ' ' {
			spaces++
		}
		stop := start + len(strings.TrimRight(s.Src[start:end], "\r"))
		if blank := strings.TrimLeft(s.Src[spaces:stop], " \t") == ""; blank {
			blanks++
		} else {
			depth := spaces - start
			for i := spaces; depth <= indent && s.Src[i] == '\t'; i++ {
				depth += tabColumns
			}
			if depth > indent && depth > spaces-start && !tabbed {
				s.odd(TabbedLine, spaces, spaces+1)
				tabbed = true
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
		start = min(end+1, len(s.Src))
		e.next = start
	}
	return e
}

// removed is how many bytes of the line at start are taken away as common
// indentation.
func (s *Scanner) removed(start, common int) int {
	i := start
	for columns := 0; columns < common && i < len(s.Src); i++ {
		switch s.Src[i] {
		case ' ':
			columns++
		case '\t':
			columns += tabColumns
		default:
			return i - start
		}
	}
	return i - start
}

// join builds a body of several lines.
func (s *Scanner) join(e extent) Text {
	var b strings.Builder
	b.Grow(e.last - e.first)
	places := make(Places, 0, e.count)
	for start := e.first; ; {
		end := min(s.LineEnd(start), e.last)
		stop := end
		for stop > start && s.Src[stop-1] == '\r' && stop != e.last {
			stop--
		}
		from := start + s.removed(start, e.common)
		if strings.TrimLeft(s.Src[start:stop], " \t") == "" {
			from = stop
		}
		r := run{val: b.Len(), src: from, size: stop - from}
		b.WriteString(s.Src[from:stop])
		if end == e.last {
			places = append(places, r)
			break
		}
		b.WriteByte('\n')
		r.size++
		places = append(places, r)
		start = s.LineEnd(start) + 1
	}
	return Text{Value: b.String(), Start: places[0].src, End: e.last, Places: places}
}
