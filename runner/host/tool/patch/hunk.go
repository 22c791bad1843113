package patch

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

var hunkHeader = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@`)
})

// hunk reads a header and its lines.
func (p *parser) hunk() (Hunk, *Error) {
	h := Hunk{At: p.next + 1}
	m := hunkHeader().FindStringSubmatch(p.line(p.next))
	if m == nil {
		return h, &Error{At: h.At, Reason: quote(p.line(p.next)) + " is not a hunk header; write @@ -LINE,COUNT +LINE,COUNT @@"}
	}
	h.OldStart, h.OldLines = number(m[1]), number(m[2])
	h.NewStart, h.NewLines = number(m[3]), number(m[4])
	p.next++
	if p.counted(&h) {
		return h, nil
	}
	before := fmt.Sprintf("-%d,%d +%d,%d", h.OldStart, h.OldLines, h.NewStart, h.NewLines)
	p.delimited(&h)
	if len(h.Lines) == 0 {
		return h, &Error{At: h.At, Reason: "the hunk has no lines"}
	}
	h.Note = fmt.Sprintf("its header says %s, but its lines amount to -%d,%d +%d,%d",
		before, h.OldStart, h.OldLines, h.NewStart, h.NewLines)
	return h, nil
}

// number is a count or line of a header; an absent one is 1.
func number(s string) int {
	if s == "" {
		return 1
	}
	n, _ := strconv.Atoi(s)
	return n
}

// counted reads as many lines as the header says. It is false, and has read
// nothing, when that does not come out even.
func (p *parser) counted(h *Hunk) bool {
	old, added, i := h.OldLines, h.NewLines, p.next
	var lines []Line
	for ; (old > 0 || added > 0) && i < len(p.lines); i++ {
		l, ok := hunkLine(p.line(i))
		if !ok || !mark(&lines, l) {
			return false
		}
		if l.Op == ' ' || l.Op == '-' {
			old--
		}
		if l.Op == ' ' || l.Op == '+' {
			added--
		}
	}
	if old != 0 || added != 0 {
		return false
	}
	if l, ok := hunkLine(p.line(i)); ok && l.Op == '\\' && mark(&lines, l) {
		i++
	}
	if !p.endsHunk(i) {
		return false
	}
	h.Lines, p.next = lines, i
	return true
}

// endsHunk reports whether a hunk may be over before line i.
func (p *parser) endsHunk(i int) bool {
	l := p.line(i)
	if l == "" || l == "-- " || l == "--" || p.startsFile(i) {
		return true
	}
	_, more := hunkLine(l)
	return !more
}

// delimited reads lines up to the next header and counts them itself.
func (p *parser) delimited(h *Hunk) {
	h.OldLines, h.NewLines = 0, 0
	for ; p.next < len(p.lines) && !p.startsFile(p.next); p.next++ {
		l, ok := hunkLine(p.line(p.next))
		if !ok || !mark(&h.Lines, l) {
			break
		}
	}
	for n := len(h.Lines); n > 0 && h.Lines[n-1] == (Line{Op: ' '}) && p.line(p.next-1) == ""; n-- {
		h.Lines, p.next = h.Lines[:n-1], p.next-1 // a blank line before the next header
	}
	for _, l := range h.Lines {
		if l.Op != '+' {
			h.OldLines++
		}
		if l.Op != '-' {
			h.NewLines++
		}
	}
}

// hunkLine reads one line of a hunk; Op '\\' is the mark that the line before has
// no line end. An empty line is a kept one whose space was lost on the way.
func hunkLine(s string) (Line, bool) {
	if s == "" || s == "\r" {
		return Line{Op: ' ', Text: s}, true
	}
	switch s[0] {
	case ' ', '-', '+':
		return Line{Op: s[0], Text: s[1:]}, true
	case '\\':
		return Line{Op: '\\'}, strings.HasPrefix(s, "\\ ")
	}
	return Line{}, false
}

// mark appends l, or applies the mark that it is to the line before. It is false
// for a mark without one.
func mark(lines *[]Line, l Line) bool {
	if l.Op != '\\' {
		*lines = append(*lines, l)
		return true
	}
	if n := len(*lines); n > 0 {
		(*lines)[n-1].NoEnd = true
		return true
	}
	return false
}
