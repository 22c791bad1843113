package scan

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind is the kind of a token.
type Kind uint8

// The kinds of token.
const (
	EndOfFile Kind = iota
	EndOfLine
	Word   // a name, possibly dotted
	Number // 3, -1.5, 2e3
	Bare   // text that is neither, such as 30m or bug-fixer
	Quoted // "text"
	Arrow
	Colon
	Comma
	Equals
	Question
	OpenList
	CloseList
	OpenObject
	CloseObject
	OpenCount // (
	CloseCount
	Junk // a character that begins nothing
)

// Token is a piece of a line: the bytes [Start, End) of the text.
type Token struct {
	Kind    Kind
	Escaped bool // Quoted: holds a backslash
	Dotted  bool // Word: holds a dot
	Open    bool // Quoted: the closing quote is missing
	Start   int
	End     int
}

// Oddity is something about a line that is read all the same.
type Oddity int

// The oddities.
const (
	TabbedLine  Oddity = iota // indentation by tabs; told once for a run of lines
	HashComment               // a comment with a single #; told once for a run of lines that have one
)

// Scanner reads lines and cuts them into tokens. It never moves past the end of
// a line by itself: the parser does, because it knows where a line means what.
type Scanner struct {
	Src    string
	Tok    Token
	Pos    int  // behind Tok
	Indent int  // of the line on which Tok stands; -1 behind the last one
	First  int  // where the first token of that line begins
	Tabbed bool // that line is indented by tabs, which count two columns each
	Quiet  bool // nothing odd is told: the lines are only passed over

	// Odd is told what is odd, with the bytes [start, end); it must not be nil.
	Odd func(what Oddity, start, end int)
	// Comments are the places of all comments, without trailing blanks.
	Comments [][2]int

	hashed int // where the line behind the last single-# comment begins; 0 before the first
}

// Text is the token as it is written.
func (s *Scanner) Text(t Token) string { return s.Src[t.Start:t.End] }

func (s *Scanner) set(k Kind, start, end int) {
	s.Tok = Token{Kind: k, Start: start, End: end}
	s.Pos = end
}

// single are the tokens of one character.
var single = [128]Kind{
	':': Colon, ',': Comma, '=': Equals, '?': Question, '[': OpenList, ']': CloseList,
	'{': OpenObject, '}': CloseObject, '(': OpenCount, ')': CloseCount,
}

// ended makes the token EndOfLine. It stands behind the token before it, where
// what is missing is missing; the scanner stands at offset i, at the line's end.
func (s *Scanner) ended(before, i int) {
	if s.Tok.Kind != EndOfLine {
		s.Tok = Token{Kind: EndOfLine, Start: before, End: before}
	}
	s.Pos = i
}

// Next reads the next token of the line; at its end, and again and again, it is
// EndOfLine. Control characters are skipped: they are reported once per file.
func (s *Scanner) Next() {
	before, i := s.Pos, s.Pos
	for i < len(s.Src) && (s.Src[i] == ' ' || classes[s.Src[i]]&(isBlank|isControl) != 0) {
		i++
	}
	if i == len(s.Src) {
		s.ended(before, i)
		return
	}
	switch c := s.Src[i]; {
	case classes[c]&isLetter != 0:
		s.word(i)
	case c == '\n', c == '\r' && strings.HasPrefix(s.Src[i:], "\r\n"):
		s.ended(before, i)
	case c == '"':
		s.quoted(i)
	case c < utf8.RuneSelf && single[c] != 0:
		s.set(single[c], i, i+1)
	case c == '#' && s.commented(i):
		s.comment(i)
		s.ended(before, s.Pos)
	case c == '-' && strings.HasPrefix(s.Src[i:], "->"):
		s.set(Arrow, i, i+2)
	default:
		s.other(i)
	}
}

// word reads a name, its dots, and whatever makes it no name after all.
func (s *Scanner) word(start int) {
	i, dotted := start+1, false
	for i < len(s.Src) {
		class := classes[s.Src[i]]
		if class&(isLetter|isDigit) != 0 {
			i++
			continue
		}
		if s.Src[i] == '.' && i+1 < len(s.Src) && classes[s.Src[i+1]]&(isLetter|isDigit) != 0 {
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
	s.Tok = Token{Kind: Word, Dotted: dotted, Start: start, End: i}
	s.Pos = i
}

// endsBare reports whether text without quotes ends before the sign at i: it
// begins an arrow, or a typographic quote.
func (s *Scanner) endsBare(i int) bool {
	if s.Src[i] == '-' {
		return strings.HasPrefix(s.Src[i:], "->")
	}
	if s.Src[i] < utf8.RuneSelf {
		return false
	}
	r, size := utf8.DecodeRuneInString(s.Src[i:])
	return size > 1 && !unicode.IsLetter(r) && !unicode.IsMark(r)
}

// bare reads on in text that is no word, from i.
func (s *Scanner) bare(start, i int) {
	for i < len(s.Src) && classes[s.Src[i]]&(isLetter|isDigit|isBare) != 0 && !s.endsBare(i) {
		i++
		for i < len(s.Src) && !utf8.RuneStart(s.Src[i]) {
			i++
		}
	}
	s.set(Bare, start, i)
}

// other reads what begins with neither a letter nor a mark of the language.
func (s *Scanner) other(start int) {
	if end := s.numberEnd(start); end > start {
		if end < len(s.Src) && classes[s.Src[end]]&(isLetter|isDigit|isBare) != 0 && !s.endsBare(end) {
			s.bare(start, end)
			return
		}
		s.set(Number, start, end)
		return
	}
	if c := s.Src[start]; c >= utf8.RuneSelf && !s.endsBare(start) {
		s.bare(start, start)
		return
	}
	_, size := utf8.DecodeRuneInString(s.Src[start:])
	s.set(Junk, start, start+size)
}

// numberEnd is where the number that begins at i ends, or i.
func (s *Scanner) numberEnd(i int) int {
	start := i
	if s.Src[i] == '-' {
		i++
	}
	whole := s.digitsEnd(i)
	if whole == i {
		return start
	}
	i = whole
	if i < len(s.Src) && s.Src[i] == '.' {
		if end := s.digitsEnd(i + 1); end > i+1 {
			i = end
		}
	}
	if i < len(s.Src) && (s.Src[i] == 'e' || s.Src[i] == 'E') {
		exp := i + 1
		if exp < len(s.Src) && (s.Src[exp] == '+' || s.Src[exp] == '-') {
			exp++
		}
		if end := s.digitsEnd(exp); end > exp {
			i = end
		}
	}
	return i
}

func (s *Scanner) digitsEnd(i int) int {
	for i < len(s.Src) && s.Src[i] >= '0' && s.Src[i] <= '9' {
		i++
	}
	return i
}

// quoted reads a string, which ends at the latest with its line.
func (s *Scanner) quoted(start int) {
	t := Token{Kind: Quoted, Start: start}
	i := start + 1
	for i < len(s.Src) && s.Src[i] != '"' && s.Src[i] != '\n' {
		if s.Src[i] == '\\' {
			t.Escaped = true
			if i+1 < len(s.Src) && s.Src[i+1] != '\n' {
				i++
			}
		}
		i++
	}
	t.Open = i >= len(s.Src) || s.Src[i] == '\n'
	if t.Open {
		i = start + len(strings.TrimRight(s.Src[start:i], "\r"))
	} else {
		i++
	}
	t.End = i
	s.Tok, s.Pos = t, i
}

// Unquoted moves behind the text without quotes that begins at start and returns
// where it ends, blanks aside: at the end of the line or a comment, in brackets
// also at a comma or a closing bracket. References in braces are passed over.
func (s *Scanner) Unquoted(start int, bracketed bool) int {
	end := s.LineEnd(start)
	i, last := start, start+strings.LastIndex(s.Src[start:end], "}}")
	for i < end {
		c := s.Src[i]
		switch {
		case i < last && strings.HasPrefix(s.Src[i:end], "{{"):
			i += strings.Index(s.Src[i:end], "}}") + 1
		case c == '#' && i > start && s.Src[i-1] == ' ' && s.commented(i),
			bracketed && (c == ',' || c == ']' || c == '}'):
			end = i
			continue
		}
		i++
	}
	s.Pos = end
	return start + len(strings.TrimRight(s.Src[start:end], " \t\r"))
}

// commented reports whether the # at i begins a comment behind something: two of
// them do, and one that blanks set apart.
func (s *Scanner) commented(i int) bool {
	if strings.HasPrefix(s.Src[i:], "##") {
		return true
	}
	apart := i+1 == len(s.Src) || classes[s.Src[i+1]]&isBlank != 0 || s.Src[i+1] == '\n' || s.Src[i+1] == '\r'
	return apart && i > 0 && classes[s.Src[i-1]]&isBlank != 0
}

// comment keeps the comment that begins at start and moves to its line's end.
func (s *Scanner) comment(start int) {
	end := s.LineEnd(start)
	s.Pos = end
	if !strings.HasPrefix(s.Src[start:], "##") {
		if s.hashed == 0 || start > s.hashed && strings.Contains(s.Src[s.hashed:start], "\n") {
			s.odd(HashComment, start, start+1)
		}
		s.hashed = min(end+1, len(s.Src))
	}
	s.Comments = append(s.Comments, [2]int{start, start + len(strings.TrimRight(s.Src[start:end], " \t\r"))})
}

// LineEnd is the offset of the line feed that ends the line of i, or the end of
// the file.
func (s *Scanner) LineEnd(i int) int {
	if n := strings.IndexByte(s.Src[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(s.Src)
}

// Following is the character behind the token, blanks aside; 0 at the line's end.
func (s *Scanner) Following() byte {
	for i := s.Pos; i < len(s.Src); i++ {
		if c := s.Src[i]; classes[c]&isBlank == 0 {
			if c == '\n' || c == '\r' {
				return 0
			}
			return c
		}
	}
	return 0
}
