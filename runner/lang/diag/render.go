package diag

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// The styles of a drawing, as terminals understand them.
const (
	styleError   = "\x1b[1;31m"
	styleWarning = "\x1b[1;33m"
	styleNote    = "\x1b[1;36m"
	styleGutter  = "\x1b[34m"
	styleEnd     = "\x1b[0m"
)

// Render draws the list for a person: where, what, the source line with the
// place underlined, the hint, and the places that explain the first one. Nothing
// that the source holds can steer the terminal: control and formatting
// characters are shown as pictures. Long lines are cut around the place.
func Render(w io.Writer, list List, color bool) error {
	var buf bytes.Buffer
	d := drawing{buf: &buf, color: color}
	for i := range list {
		buf.Reset()
		d.diagnostic(&list[i])
		if _, err := w.Write(buf.Bytes()); err != nil {
			return fmt.Errorf("write diagnostics: %w", err)
		}
	}
	return nil
}

// drawing draws into a buffer.
type drawing struct {
	buf   *bytes.Buffer
	color bool
}

func (d drawing) diagnostic(x *Diagnostic) {
	style := styleError
	if x.Severity != Error {
		style = styleWarning
	}
	d.head(x.Span, style, x.Severity.String()+"["+string(x.Code)+"]", x.Message)
	d.source(x.Span, style)
	if x.Hint != "" {
		d.buf.WriteString("       ")
		d.styled(styleNote, "hint: ")
		d.buf.WriteString(clean(x.Hint) + "\n")
	}
	for _, r := range x.Related {
		d.head(r.Span, styleNote, "note", r.Message)
		d.source(r.Span, styleNote)
	}
}

// head is the first line: file:line:column: what: message.
func (d drawing) head(s Span, style, what, message string) {
	if !s.IsZero() {
		d.buf.WriteString(clean(s.String()) + ": ")
	}
	d.styled(style, what+":")
	d.buf.WriteString(" " + clean(message) + "\n")
}

func (d drawing) styled(style, text string) {
	if d.color {
		text = style + text + styleEnd
	}
	d.buf.WriteString(text)
}

// source draws the line on which the span begins and underlines the span.
func (d drawing) source(s Span, style string) {
	if s.IsZero() {
		return
	}
	number := s.File.Position(s.Start).Line
	start := s.File.lines[number-1]
	line := s.File.Line(number)
	text, before, under := window(line, s.Start-start, s.End-start)
	d.styled(styleGutter, fmt.Sprintf("%5d |", number))
	if text != "" {
		d.buf.WriteString(" " + text)
	}
	d.buf.WriteByte('\n')
	d.styled(styleGutter, "      |")
	d.buf.WriteString(" " + strings.Repeat(" ", before))
	d.styled(style, "^"+strings.Repeat("~", max(under-1, 0)))
	d.buf.WriteByte('\n')
}

// How much of a line is shown, in columns.
const (
	lineShown   = 150 // at most
	lineLead    = 110 // in front of the place, as long as the line begins within
	lineContext = 40  // in front of the place otherwise
)

// window cuts a line around its bytes [from, to) and returns it as it is shown,
// with the columns in front of the place and those of the place itself. Its cost
// does not depend on the line's length.
func window(line string, from, to int) (text string, before, under int) {
	from = min(max(from, 0), len(line))
	to = min(max(to, from), len(line))
	begin := backwards(line, from, lineLead)
	if begin > 0 {
		begin = backwards(line, from, lineContext)
	}
	var b strings.Builder
	column := 0
	if begin > 0 {
		b.WriteString("…")
		column = 1
	}
	before, i := column, begin
	end := -1
	for i < len(line) && column < lineShown {
		if i <= from {
			before = column
		}
		if end < 0 && i >= to {
			end = column
		}
		shown, width, size := picture(line[i:], column)
		b.WriteString(shown)
		column += width
		i += size
	}
	if i <= from {
		before = column
	}
	if end < 0 {
		end = column
	}
	if i < len(line) {
		b.WriteString("…")
	}
	return b.String(), before, end - before
}

// backwards is the offset that lies the given number of columns in front of
// from, or 0.
func backwards(line string, from, columns int) int {
	for from > 0 && columns > 0 {
		r, size := utf8.DecodeLastRuneInString(line[:from])
		from -= size
		if r == '\t' {
			columns -= tabStop
			continue
		}
		columns -= max(runeWidth(r), 1)
	}
	return from
}

// tabStop is how far tabs are from each other in a drawing.
const tabStop = 4

// picture is the first character of text as it is shown in the given column: its
// columns, and its bytes in the source.
func picture(text string, column int) (shown string, width, size int) {
	if c := text[0]; c >= ' ' && c < 0x7f {
		return text[:1], 1, 1
	}
	r, size := utf8.DecodeRuneInString(text)
	if r == '\t' {
		width = tabStop - column%tabStop
		return "    "[:width], width, 1
	}
	shown = visible(r)
	if shown == "" {
		shown = text[:size]
		return shown, runeWidth(r), size
	}
	return shown, 1, size
}

// visible is the picture that stands for a character which would steer a
// terminal or hide, "" for a character that shows itself.
func visible(r rune) string {
	switch {
	case r < ' ':
		return string('␀' + r)
	case r == 0x7f:
		return "␡"
	case r == utf8.RuneError, r == '\u2028', r == '\u2029', unicode.In(r, unicode.Cc, unicode.Cf):
		return string(utf8.RuneError)
	}
	return ""
}

// clean makes text one line that cannot steer a terminal.
func clean(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return visible(r) != "" }) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if picture := visible(r); picture != "" {
			b.WriteString(picture)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// widths does not depend on the locale: the same list gives the same bytes.
var widths = runewidth.Condition{StrictEmojiNeutral: true}

func runeWidth(r rune) int {
	if r < 0x7f {
		return 1
	}
	return widths.RuneWidth(r)
}
