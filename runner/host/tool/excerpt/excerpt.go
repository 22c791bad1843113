package excerpt

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// strong matches lines by which test runners and compilers say what failed.
var strong = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(--- FAIL|FAIL\b|FAILED\b|FAILURE\b|not ok\b|E  |✗|✘|✖|×|● )|` +
		`\b([Pp]anic(ked)?|fatal|FATAL|[Ee]rror|ERROR|FAILED|[A-Z]\w*(Error|Exception)|Traceback)\b[^a-z]|` +
		`\b(error|fatal|failed|FAIL|failure):?$|[Aa]ssertion.*failed|: failed|ERR! |\b[1-9]\d* (failed|failing|failures?|errors?)\b|\*\*\* `)
})

// harmless are words and lines that only look like failures.
var harmless = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(0|no) (errors?|fail(ed|ing|ures?)?)\b|^ok\s.*`)
})

// clues are the texts without one of which strong cannot match. Looking for them
// first keeps the rest of a long log cheap.
var clues = [][]byte{
	[]byte("rror"), []byte("ERR"), []byte("ail"), []byte("FAIL"), []byte("anic"), []byte("atal"), []byte("FATAL"), []byte("xception"),
	[]byte("raceback"), []byte("not ok"), []byte("E  "), []byte("***"), []byte("✗"), []byte("✘"), []byte("✖"), []byte("×"), []byte("● "),
}

// Failing reports whether a line of output looks like a failure.
func Failing(line []byte) bool {
	if placed(line) {
		return true
	}
	for _, c := range clues {
		if bytes.Contains(line, c) {
			return strong().Match(harmless().ReplaceAll(line, nil))
		}
	}
	return false
}

// placed reports whether a line begins with a place in a file, as compilers'
// messages do: "calc.go:12:3: …" or "calc.py:12: …".
func placed(line []byte) bool {
	line = bytes.TrimLeft(line, " \t")
	name, rest, found := bytes.Cut(line, []byte(":"))
	if !found || bytes.IndexByte(name, '.') < 1 || bytes.ContainsAny(name, " \t\"'=(") {
		return false
	}
	digits := 0
	for digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9' {
		digits++
	}
	return digits > 0 && digits < len(rest) && rest[digits] == ':'
}

// leftOut begins the line by which a command's output says that part of it was
// not even kept.
const leftOut = "[… "

const (
	longestShown = 400 // bytes of a line in an excerpt
	afterFailure = 2   // lines kept behind one that looks like a failure
	repeats      = 3   // equal lines in a row that are shown
)

// Of is output for a model: cleaned, and when it is longer than limit bytes the
// beginning, the end, the lines that look like failures, and how much is missing.
// The same output gives the same bytes.
func Of(out string, limit int) string {
	lines := tidy(out)
	size := 0
	for _, l := range lines {
		size += len(l) + 1
	}
	if size <= limit+1 {
		return strings.Join(lines, "\n")
	}
	const note = 200 // bytes for the last line
	p := picked{lines: lines, shown: make([]bool, len(lines)), room: limit - note}
	p.take(p.room/5, p.forwards)
	p.take(p.room/2, p.backwards)
	p.take(p.room, p.failures)
	p.take(p.room, p.backwards)
	shown, text := p.render()
	return fmt.Sprintf("%s\n[%d of %d bytes shown; run it again with a filter, such as | grep or | tail, to see others]", text, shown, size)
}

// tidy cuts output into lines as a terminal would show them: without colours,
// and of a line that is written over the last state. Long lines and runs of
// equal lines are cut.
func tidy(out string) []string {
	out = escapes().ReplaceAllString(out, "")
	var lines []string
	run := 0
	end := func() {
		if run > repeats {
			lines[len(lines)-1] = fmt.Sprintf("[the same line %d more times]", run-repeats+1)
		}
	}
	last := ""
	for line := range strings.SplitSeq(strings.TrimRight(out, "\n\r\t "), "\n") {
		line = strings.TrimRight(line, "\r \t")
		if i := strings.LastIndexByte(line, '\r'); i >= 0 {
			line = line[i+1:]
		}
		if more := len(line) - longestShown; more > 0 {
			line = fmt.Sprintf("%s… [%d more bytes]", strings.ToValidUTF8(line[:longestShown], ""), more)
		}
		if len(lines) > 0 && line == last && line != "" {
			if run++; run > repeats {
				continue
			}
		} else {
			end()
			run = 1
		}
		last = line
		lines = append(lines, line)
	}
	end()
	if len(lines) == 1 && lines[0] == "" {
		return nil
	}
	return lines
}

// escapes are terminal control sequences.
var escapes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[ -/]+[0-~]|[@-Z\\\\^_])")
})

// picked chooses lines within a number of bytes.
type picked struct {
	lines []string
	shown []bool
	room  int
}

// take shows the lines that choose names until budget bytes are spent or it has
// none left.
func (p *picked) take(budget int, choose func(yield func(int) bool)) {
	budget = min(budget, p.room)
	choose(func(i int) bool {
		if p.shown[i] {
			return true
		}
		cost := len(p.lines[i]) + 1
		if !(i > 0 && p.shown[i-1] || i+1 < len(p.lines) && p.shown[i+1]) {
			const gap = 48 // bytes of the mark that the line needs beside it
			cost += gap
		}
		if cost > budget {
			return false
		}
		p.shown[i] = true
		budget -= cost
		p.room -= cost
		return true
	})
}

func (p *picked) forwards(yield func(int) bool) {
	for i := range p.lines {
		if !yield(i) {
			return
		}
	}
}

func (p *picked) backwards(yield func(int) bool) {
	for i := len(p.lines) - 1; i >= 0; i-- {
		if !yield(i) {
			return
		}
	}
}

func (p *picked) failures(yield func(int) bool) {
	for i, l := range p.lines {
		if !Failing([]byte(l)) && !strings.HasPrefix(l, leftOut) {
			continue
		}
		for j := i; j <= min(i+afterFailure, len(p.lines)-1); j++ {
			if !yield(j) {
				return
			}
		}
	}
}

// render writes the shown lines with marks for the gaps, and counts the bytes of
// the lines.
func (p *picked) render() (size int, text string) {
	var b strings.Builder
	gap := 0
	for i, line := range p.lines {
		if !p.shown[i] {
			gap++
			continue
		}
		if gap > 0 {
			fmt.Fprintf(&b, "[… lines %d–%d …]\n", i-gap+1, i)
			gap = 0
		}
		b.WriteString(line)
		b.WriteByte('\n')
		size += len(line) + 1
	}
	if gap > 0 {
		fmt.Fprintf(&b, "[… lines %d–%d …]\n", len(p.lines)-gap+1, len(p.lines))
	}
	return size, strings.TrimSuffix(b.String(), "\n")
}
