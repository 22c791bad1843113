package syntax

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-ci/pawl/runner/lang/diag"
)

// kind is the kind of a token.
type kind uint8

const (
	endOfFile kind = iota
	endOfLine
	word   // a name, possibly dotted
	number // 3, -1.5, 2e3
	bare   // text that is neither, such as 30m or bug-fixer
	quoted // "text"
	arrow
	colon
	comma
	equals
	question
	openList
	closeList
	openObject
	closeObject
	openCount
	closeCount
	junk // a character that begins nothing
)

// token is a piece of a line.
type token struct {
	kind    kind
	escaped bool // quoted: holds a backslash
	dotted  bool // word: holds a dot
	open    bool // quoted: the closing quote is missing
	start   int
	end     int
}

// The classes of bytes.
const (
	isLetter  = 1 << iota // begins a word
	isDigit               // continues one
	isBare                // continues text that is no word
	isControl             // cannot stand in a file
	isBlank
)

var classes = func() (table [256]uint8) {
	for c := range table {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_':
			table[c] = isLetter
		case c >= '0' && c <= '9':
			table[c] = isDigit
		case c == ' ', c == '\t':
			table[c] = isBlank
		case c < ' ' && c != '\n' && c != '\r', c == 0x7f:
			table[c] = isControl
		case c >= utf8.RuneSelf, strings.IndexByte("-/.@+$%&*~!<>|\\", byte(c)) >= 0:
			table[c] = isBare
		}
	}
	return table
}()

// scanner cuts lines into tokens. It never moves past the end of a line by
// itself: the parser does, because it knows where a line means what.
type scanner struct {
	src      string
	pos      int // behind tok
	tok      token
	comments []diag.Span
	file     *diag.File
}

func (s *scanner) text(t token) string { return s.src[t.start:t.end] }

func (s *scanner) span(start, end int) diag.Span {
	return diag.Span{File: s.file, Start: start, End: end}
}

func (s *scanner) at(t token) diag.Span { return s.span(t.start, t.end) }

func (s *scanner) set(k kind, start, end int) {
	s.tok = token{kind: k, start: start, end: end}
	s.pos = end
}

// single are the tokens of one character.
var single = [128]kind{
	':': colon, ',': comma, '=': equals, '?': question, '[': openList, ']': closeList,
	'{': openObject, '}': closeObject, '(': openCount, ')': closeCount,
}

// ended makes the token endOfLine. It stands behind the token before it, where
// what is missing is missing; the scanner stands at offset i, at the line's end.
func (s *scanner) ended(before, i int) {
	if s.tok.kind != endOfLine {
		s.tok = token{kind: endOfLine, start: before, end: before}
	}
	s.pos = i
}

// next reads the next token of the line; at its end, and again and again, it is
// endOfLine. Control characters are skipped: they are reported once per file.
func (s *scanner) next() {
	before, i := s.pos, s.pos
	for i < len(s.src) && (s.src[i] == ' ' || classes[s.src[i]]&(isBlank|isControl) != 0) {
		i++
	}
	if i == len(s.src) {
		s.ended(before, i)
		return
	}
	switch c := s.src[i]; {
	case classes[c]&isLetter != 0:
		s.word(i)
	case c == '\n', c == '\r' && strings.HasPrefix(s.src[i:], "\r\n"):
		s.ended(before, i)
	case c == '"':
		s.quoted(i)
	case c < utf8.RuneSelf && single[c] != 0:
		s.set(single[c], i, i+1)
	case c == '#' && strings.HasPrefix(s.src[i:], "##"):
		s.comment(i)
		s.ended(before, s.pos)
	case c == '-' && strings.HasPrefix(s.src[i:], "->"):
		s.set(arrow, i, i+2)
	default:
		s.other(i)
	}
}

// word reads a name, its dots, and whatever makes it no name after all.
func (s *scanner) word(start int) {
	i, dotted := start+1, false
	for i < len(s.src) {
		class := classes[s.src[i]]
		if class&(isLetter|isDigit) != 0 {
			i++
			continue
		}
		if s.src[i] == '.' && i+1 < len(s.src) && classes[s.src[i+1]]&(isLetter|isDigit) != 0 {
			dotted = true
			i++
			continue
		}
		if class&isBare != 0 && !s.endsBare(i) {
			s.bare(start, i)
			return
		}
		break
	}
	s.tok = token{kind: word, dotted: dotted, start: start, end: i}
	s.pos = i
}

// endsBare reports whether text without quotes ends before the sign at i: it
// begins an arrow, or a typographic quote.
func (s *scanner) endsBare(i int) bool {
	if s.src[i] == '-' {
		return strings.HasPrefix(s.src[i:], "->")
	}
	if s.src[i] < utf8.RuneSelf {
		return false
	}
	r, size := utf8.DecodeRuneInString(s.src[i:])
	return size > 1 && !unicode.IsLetter(r) && !unicode.IsMark(r)
}

// bare reads on in text that is no word, from i.
func (s *scanner) bare(start, i int) {
	for i < len(s.src) && classes[s.src[i]]&(isLetter|isDigit|isBare) != 0 && !s.endsBare(i) {
		i++
		for i < len(s.src) && !utf8.RuneStart(s.src[i]) {
			i++
		}
	}
	s.set(bare, start, i)
}

// other reads what begins with neither a letter nor a mark of the language.
func (s *scanner) other(start int) {
	if end := s.numberEnd(start); end > start {
		if end < len(s.src) && classes[s.src[end]]&(isLetter|isDigit|isBare) != 0 && !s.endsBare(end) {
			s.bare(start, end)
			return
		}
		s.set(number, start, end)
		return
	}
	if c := s.src[start]; c >= utf8.RuneSelf && !s.endsBare(start) {
		s.bare(start, start)
		return
	}
	_, size := utf8.DecodeRuneInString(s.src[start:])
	s.set(junk, start, start+size)
}

// numberEnd is where the number that begins at i ends, or i.
func (s *scanner) numberEnd(i int) int {
	start := i
	if s.src[i] == '-' {
		i++
	}
	whole := s.digitsEnd(i)
	if whole == i {
		return start
	}
	i = whole
	if i < len(s.src) && s.src[i] == '.' {
		if end := s.digitsEnd(i + 1); end > i+1 {
			i = end
		}
	}
	if i < len(s.src) && (s.src[i] == 'e' || s.src[i] == 'E') {
		exp := i + 1
		if exp < len(s.src) && (s.src[exp] == '+' || s.src[exp] == '-') {
			exp++
		}
		if end := s.digitsEnd(exp); end > exp {
			i = end
		}
	}
	return i
}

func (s *scanner) digitsEnd(i int) int {
	for i < len(s.src) && s.src[i] >= '0' && s.src[i] <= '9' {
		i++
	}
	return i
}

// quoted reads a string, which ends at the latest with its line.
func (s *scanner) quoted(start int) {
	t := token{kind: quoted, start: start}
	i := start + 1
	for i < len(s.src) && s.src[i] != '"' && s.src[i] != '\n' {
		if s.src[i] == '\\' {
			t.escaped = true
			if i+1 < len(s.src) && s.src[i+1] != '\n' {
				i++
			}
		}
		i++
	}
	t.open = i >= len(s.src) || s.src[i] == '\n'
	if t.open {
		i = start + len(strings.TrimRight(s.src[start:i], "\r"))
	} else {
		i++
	}
	t.end = i
	s.tok, s.pos = t, i
}

// comment keeps the comment that begins at start and moves to its line's end.
func (s *scanner) comment(start int) {
	end := s.lineEnd(start)
	s.pos = end
	s.comments = append(s.comments, s.span(start, start+len(strings.TrimRight(s.src[start:end], " \t\r"))))
}

// lineEnd is the offset of the line feed that ends the line of i, or the end of
// the file.
func (s *scanner) lineEnd(i int) int {
	if n := strings.IndexByte(s.src[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(s.src)
}

// following is the character behind the token, blanks aside; 0 at the line's end.
func (s *scanner) following() byte {
	for i := s.pos; i < len(s.src); i++ {
		if c := s.src[i]; classes[c]&isBlank == 0 {
			if c == '\n' || c == '\r' {
				return 0
			}
			return c
		}
	}
	return 0
}
