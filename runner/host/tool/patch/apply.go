package patch

import (
	"fmt"
	"slices"
	"strings"
)

// text is a file as lines. The last line may lack its end.
type text struct {
	lines []string
	noEnd bool
	crlf  bool // every line ended in CRLF, which was taken off
}

// Apply returns old with the file's hunks applied, and notes on what in them had
// to be corrected. A patch without carriage returns fits a file whose lines all
// end in CRLF, and leaves them so. The error is an *[Error]; then nothing fits.
func (f *File) Apply(old string) (content string, notes []string, err error) {
	t := f.split(old)
	var out []string
	from, shift := 0, 0 // line of t behind the hunk before; how far that one had moved
	noEnd := t.noEnd
	for i := range f.Hunks {
		h := &f.Hunks[i]
		at, reason := t.place(h, from, shift)
		if reason != "" {
			return "", nil, &Error{Path: f.Path(), Hunk: i + 1, At: h.At, Reason: reason}
		}
		stated := h.position()
		if note := h.note(i+1, at, stated+shift); note != "" {
			notes = append(notes, note)
		}
		out = append(out, t.lines[from:at]...)
		end := at + h.OldLines
		fresh := h.side('+')
		out = append(out, texts(fresh)...)
		if end == len(t.lines) {
			noEnd = h.leavesNoEnd(t.noEnd)
		}
		from, shift = end, at-stated
	}
	out = append(out, t.lines[from:]...)
	return text{out, noEnd, t.crlf}.join(), notes, nil
}

// leavesNoEnd reports whether the file's last line lacks its end after a hunk
// that reaches to it; had says whether it did before.
func (h *Hunk) leavesNoEnd(had bool) bool {
	last := h.Lines[len(h.Lines)-1]
	if last.Op == ' ' {
		return last.NoEnd || had
	}
	fresh := h.side('+')
	return len(fresh) > 0 && fresh[len(fresh)-1].NoEnd
}

func (f *File) split(s string) text {
	t := text{}
	if s == "" {
		return t
	}
	t.noEnd = !strings.HasSuffix(s, "\n")
	t.lines = strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	full := t.lines
	if t.noEnd {
		full = full[:len(full)-1]
	}
	t.crlf = len(full) > 0 && !f.hasReturns() && !slices.ContainsFunc(full, func(l string) bool { return !strings.HasSuffix(l, "\r") })
	if t.crlf {
		for i, l := range full {
			full[i] = strings.TrimSuffix(l, "\r")
		}
	}
	return t
}

func (f *File) hasReturns() bool {
	for i := range f.Hunks {
		if slices.ContainsFunc(f.Hunks[i].Lines, func(l Line) bool { return strings.HasSuffix(l.Text, "\r") }) {
			return true
		}
	}
	return false
}

func (t text) join() string {
	if len(t.lines) == 0 {
		return ""
	}
	end := "\n"
	if t.crlf {
		end = "\r\n"
	}
	s := strings.Join(t.lines, end)
	if !t.noEnd {
		s += end
	}
	return s
}

// side is one side of the hunk: '-' what must be there, '+' what will be.
func (h *Hunk) side(op byte) []Line {
	var lines []Line
	for _, l := range h.Lines {
		if l.Op == ' ' || l.Op == op {
			lines = append(lines, l)
		}
	}
	return lines
}

func texts(lines []Line) []string {
	all := make([]string, len(lines))
	for i, l := range lines {
		all[i] = l.Text
	}
	return all
}

// position is the 0-based line that the header states.
func (h *Hunk) position() int {
	if h.OldLines == 0 {
		return h.OldStart
	}
	return h.OldStart - 1
}

func (h *Hunk) note(n, at, expected int) string {
	note := h.Note
	if at != expected {
		if note != "" {
			note += "; "
		}
		note += fmt.Sprintf("its lines stand at line %d, not %d", at+1, expected+1)
	}
	if note == "" {
		return ""
	}
	return fmt.Sprintf("hunk %d: %s", n, note)
}

// place finds where the hunk belongs, at or behind line from, or says why it
// does not.
func (t text) place(h *Hunk, from, shift int) (at int, reason string) {
	old := h.side('-')
	at = h.position() + shift
	if len(old) == 0 {
		if at < from || at > len(t.lines) {
			return 0, fmt.Sprintf("it adds lines after line %d, but the file has %d; give it lines to stand beside", at, len(t.lines))
		}
		return at, ""
	}
	if at >= from && t.matches(old, at) {
		return at, ""
	}
	found := t.find(old, from)
	switch {
	case len(found) == 1:
		return found[0], ""
	case len(found) > 1:
		return 0, fmt.Sprintf("its lines stand at %s, and none of these is line %d; give it more lines around the change",
			lineList(found), at+1)
	}
	return 0, t.mismatch(h, at, from)
}

// matches reports whether old stands at line at. A line that the patch says has
// no end must be the last one.
func (t text) matches(old []Line, at int) bool {
	if at < 0 || at+len(old) > len(t.lines) {
		return false
	}
	for i, l := range old {
		if t.lines[at+i] != l.Text || l.NoEnd && !(t.noEnd && at+i == len(t.lines)-1) {
			return false
		}
	}
	return true
}

// find lists the places behind line from where old stands.
func (t text) find(old []Line, from int) []int {
	var found []int
	for at := from; at+len(old) <= len(t.lines); at++ {
		if t.matches(old, at) {
			found = append(found, at)
		}
	}
	return found
}

// mismatch explains why the hunk stands nowhere behind line from.
func (t text) mismatch(h *Hunk, at, from int) string {
	old := h.side('-')
	if fresh := h.side('+'); len(fresh) > 0 && len(t.find(fresh, from)) > 0 {
		return "the file already reads as the hunk would make it, at " + lineList(t.find(fresh, from))
	}
	if found := t.find(old, 0); len(found) > 0 {
		return fmt.Sprintf("its lines stand at %s, before the end of the hunk ahead of it; put hunks in the order of the file", lineList(found))
	}
	if len(t.lines) == 0 {
		return "the file is empty"
	}
	// The stretch of the file where most lines agree shows what is different.
	best, agree := -1, 0
	for i := max(from-len(old), 0); i < len(t.lines); i++ {
		if n := t.agreeing(old, i); n > agree || n == agree && n > 0 && abs(i-at) < abs(best-at) {
			best, agree = i, n
		}
	}
	if best < 0 {
		return fmt.Sprintf("none of the lines it keeps or removes is in the file; the first is %s", quote(old[0].Text))
	}
	for i, l := range old {
		n := best + i
		switch {
		case n >= len(t.lines):
			return fmt.Sprintf("it fits best at line %d, but there the file ends after line %d, where the patch has %s", best+1, len(t.lines), quote(l.Text))
		case t.lines[n] != l.Text:
			return fmt.Sprintf("it fits best at line %d, but line %d of the file is %s where the patch has %s%s",
				best+1, n+1, quote(t.lines[n]), quote(l.Text), onlySpace(t.lines[n], l.Text))
		}
	}
	return "the patch says that the file ends without a line end, which it does not"
}

func (t text) agreeing(old []Line, at int) int {
	n := 0
	for i, l := range old {
		if at+i < len(t.lines) && t.lines[at+i] == l.Text && strings.TrimSpace(l.Text) != "" {
			n++
		}
	}
	return n
}

func onlySpace(a, b string) string {
	if strings.Join(strings.Fields(a), " ") == strings.Join(strings.Fields(b), " ") {
		return " (only white space differs)"
	}
	return ""
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

// lineList names 0-based lines for a message.
func lineList(at []int) string {
	const most = 5
	if len(at) == 1 {
		return fmt.Sprintf("line %d", at[0]+1)
	}
	var names []string
	for _, n := range at[:min(len(at), most)] {
		names = append(names, fmt.Sprint(n+1))
	}
	list := "lines " + strings.Join(names, ", ")
	if len(at) > most {
		list += fmt.Sprintf(" and %d more", len(at)-most)
	}
	return list
}
