package diag

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"
)

// File is one registered source text. It is immutable; spans are byte offsets
// into it and stay valid for ever.
type File struct {
	Name  string // as the user wrote it; shown in messages
	Text  string
	lines []int // byte offset of each line's first byte
	ascii bool  // every byte is one character
}

// NewFile registers text under name.
func NewFile(name, text string) *File {
	f := &File{Name: name, Text: text, lines: make([]int, 1, strings.Count(text, "\n")+1)}
	for at := 0; ; {
		n := strings.IndexByte(text[at:], '\n')
		if n < 0 {
			break
		}
		at += n + 1
		f.lines = append(f.lines, at)
	}
	f.ascii = isASCII(text)
	return f
}

func isASCII(text string) bool {
	for len(text) >= 8 {
		if (text[0]|text[1]|text[2]|text[3]|text[4]|text[5]|text[6]|text[7])&0x80 != 0 {
			return false
		}
		text = text[8:]
	}
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Position is a place a person can find: 1-based line and 1-based column,
// where a column counts characters, not bytes.
type Position struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// Position translates a byte offset; offsets outside the text are clamped.
func (f *File) Position(offset int) Position {
	offset = min(max(offset, 0), len(f.Text))
	line := sort.SearchInts(f.lines, offset+1)
	start := f.lines[line-1]
	if f.ascii {
		return Position{line, offset - start + 1}
	}
	return Position{line, utf8.RuneCountInString(f.Text[start:offset]) + 1}
}

// Line returns the text of the 1-based line without its line end, or "".
func (f *File) Line(n int) string {
	if n < 1 || n > len(f.lines) {
		return ""
	}
	end := len(f.Text)
	if n < len(f.lines) {
		end = f.lines[n] - 1
	}
	return strings.TrimSuffix(f.Text[f.lines[n-1]:end], "\r")
}

// Span is a half-open range of bytes in a file. The zero Span points nowhere.
type Span struct {
	File       *File
	Start, End int
}

// IsZero reports whether the span points nowhere.
func (s Span) IsZero() bool { return s.File == nil }

// Text is the source text under the span.
func (s Span) Text() string {
	if s.File == nil || s.Start < 0 || s.End > len(s.File.Text) || s.Start > s.End {
		return ""
	}
	return s.File.Text[s.Start:s.End]
}

// Sub is the span of s.Text()[start:end].
func (s Span) Sub(start, end int) Span { return Span{s.File, s.Start + start, s.Start + end} }

// To is the span from the start of s to the end of t, both in one file.
func (s Span) To(t Span) Span { return Span{s.File, s.Start, max(s.End, t.End)} }

// Position is where the span starts, or the zero Position.
func (s Span) Position() Position {
	if s.File == nil {
		return Position{}
	}
	return s.File.Position(s.Start)
}

// EndPosition is the place just behind the span, or the zero Position.
func (s Span) EndPosition() Position {
	if s.File == nil {
		return Position{}
	}
	return s.File.Position(max(s.Start, s.End))
}

// String is where the span starts, as file:line:column, or "" for the zero Span.
func (s Span) String() string {
	if s.File == nil {
		return ""
	}
	p := s.Position()
	return fmt.Sprintf("%s:%d:%d", s.File.Name, p.Line, p.Column)
}
