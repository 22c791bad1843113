package scan

import "strings"

// NextLine moves to the first token of the next line that holds anything.
func (s *Scanner) NextLine() {
	end := s.LineEnd(s.Pos)
	if end == len(s.Src) {
		s.finish()
		return
	}
	s.Line(end + 1)
}

func (s *Scanner) finish() {
	s.set(EndOfFile, len(s.Src), len(s.Src))
	s.First, s.Indent = len(s.Src), -1
}

// Line moves to the first token of the first line, from the one that begins at
// start on, that holds anything.
func (s *Scanner) Line(start int) {
	for start < len(s.Src) {
		i := start
		for i < len(s.Src) && s.Src[i] == ' ' {
			i++
		}
		spaces := i
		for i < len(s.Src) && classes[s.Src[i]]&(isBlank|isControl) != 0 {
			i++
		}
		if i < len(s.Src) && !s.skippable(i) {
			s.begin(start, spaces, i)
			return
		}
		end := s.LineEnd(i)
		if end == len(s.Src) {
			break
		}
		start = end + 1
	}
	s.finish()
}

// skippable reports whether nothing but a comment stands on the line from i on,
// and keeps the comment.
func (s *Scanner) skippable(i int) bool {
	switch s.Src[i] {
	case '\n':
		return true
	case '\r':
		return strings.HasPrefix(s.Src[i:], "\r\n")
	case '#':
		s.comment(i)
		return true
	}
	return false
}

// tabColumns is how deep a tab indents, once it has been told to be odd.
const tabColumns = 2

// begin reads the first token of a line, whose spaces end at spaces.
func (s *Scanner) begin(start, spaces, first int) {
	s.Indent = spaces - start
	tabs := strings.Count(s.Src[spaces:first], "\t")
	if tabs > 0 && !s.Tabbed {
		s.odd(TabbedLine, spaces, first)
	}
	s.Tabbed = tabs > 0
	s.Indent += tabColumns * tabs
	s.Pos = first
	s.First = first
	s.Next()
}

func (s *Scanner) odd(what Oddity, start, end int) {
	if !s.Quiet {
		s.Odd(what, start, end)
	}
}

// Closes reports whether the token is a closing bracket.
func (s *Scanner) Closes() bool {
	return s.Tok.Kind == CloseList || s.Tok.Kind == CloseObject || s.Tok.Kind == CloseCount
}
