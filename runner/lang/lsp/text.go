package lsp

import (
	"sort"
	"strings"
	"unicode/utf8"

	"go.lsp.dev/protocol"

	"github.com/pawl-ci/pawl/runner/lang/diag"
)

// text is the text of a file as the protocol counts in it: lines end with LF,
// CRLF or CR, columns are units of the encoding that was agreed on.
type text struct {
	value    string
	starts   []int // of the lines
	encoding protocol.PositionEncodingKind
}

func newText(value string, encoding protocol.PositionEncodingKind) *text {
	t := &text{value: value, starts: make([]int, 1, strings.Count(value, "\n")+1), encoding: encoding}
	returns := strings.IndexByte(value, '\r') >= 0
	for at := 0; at < len(value); {
		n := strings.IndexByte(value[at:], '\n')
		if returns {
			n = strings.IndexAny(value[at:], "\r\n")
		}
		if n < 0 {
			break
		}
		at += n + 1
		if value[at-1] == '\r' && at < len(value) && value[at] == '\n' {
			at++
		}
		t.starts = append(t.starts, at)
	}
	return t
}

// lineEnd is where a line ends, without its line end.
func (t *text) lineEnd(line int) int {
	if line+1 == len(t.starts) {
		return len(t.value)
	}
	return t.starts[line] + len(strings.TrimRight(t.value[t.starts[line]:t.starts[line+1]], "\r\n"))
}

// width is how many units a character takes.
func (t *text) width(r rune, size int) int {
	switch {
	case t.encoding == protocol.PositionEncodingKindUTF8:
		return size
	case t.encoding == protocol.PositionEncodingKindUTF16 && r >= 0x10000:
		return 2
	}
	return 1
}

// offset is the byte that a position points at. Positions behind the end of a
// line or of the text mean that end; one inside a character means its beginning.
func (t *text) offset(p protocol.Position) int {
	if int64(p.Line) >= int64(len(t.starts)) {
		return len(t.value)
	}
	at, end := t.starts[p.Line], t.lineEnd(int(p.Line))
	for units := int64(0); at < end; {
		r, size := utf8.DecodeRuneInString(t.value[at:end])
		units += int64(t.width(r, size))
		if units > int64(p.Character) {
			break
		}
		at += size
	}
	return at
}

// places translates offsets of one text; it remembers the last one, so that many
// on one long line cost no more than one. It belongs to one goroutine.
type places struct {
	t      *text
	line   int
	offset int
	units  int
}

func (t *text) places() *places { return &places{t: t} }

// position is the place of a byte; offsets outside the text are clamped.
func (p *places) position(offset int) protocol.Position {
	t := p.t
	offset = min(max(offset, 0), len(t.value))
	line := sort.SearchInts(t.starts, offset+1) - 1
	if line != p.line || offset < p.offset {
		p.line, p.offset, p.units = line, t.starts[line], 0
	}
	end := min(offset, t.lineEnd(line))
	for p.offset < end {
		r, size := utf8.DecodeRuneInString(t.value[p.offset:])
		if p.offset+size > end {
			break
		}
		p.units += t.width(r, size)
		p.offset += size
	}
	return protocol.Position{Line: uint32(line), Character: uint32(p.units)}
}

func (p *places) span(s diag.Span) protocol.Range {
	return protocol.Range{Start: p.position(s.Start), End: p.position(max(s.Start, s.End))}
}

// apply is the text after a change.
func (t *text) apply(change protocol.TextDocumentContentChangeEvent) *text {
	switch change := change.(type) {
	case *protocol.TextDocumentContentChangeWholeDocument:
		return newText(change.Text, t.encoding)
	case *protocol.TextDocumentContentChangePartial:
		start, end := t.offset(change.Range.Start), t.offset(change.Range.End)
		end = max(start, end)
		return newText(t.value[:start]+change.Text+t.value[end:], t.encoding)
	}
	return t
}
