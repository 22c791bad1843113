package assist

import (
	"slices"
	"strings"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/symbols"
	"github.com/pawl-ci/pawl/runner/lang/syntax"
)

// Document is one version of a file. It does not change, and may be read by many
// goroutines.
type Document struct {
	Source *diag.File
	Names  *symbols.Index
	// Tools are the names that agents may list; nil when nobody knows them.
	Tools []string

	unread diag.List // errors about what the tree does not hold
	starts []int     // of the lines
}

// complete are the errors of the parser about trees that hold all that is written:
// they speak of what is missing or does not go together.
var complete = []diag.Code{"C006", "C023", "C025", "P125", "P129"}

// Read parses a file for questions about it. tools are the names of the tools
// that agents may list.
func Read(f *diag.File, tools []string) *Document {
	tree, found := syntax.Parse(f)
	d := &Document{Source: f, Names: symbols.New(tree), Tools: tools, starts: []int{0}}
	for _, e := range found {
		if e.Severity == diag.Error && !slices.Contains(complete, e.Code) {
			d.unread = append(d.unread, e)
		}
	}
	for at := 0; ; {
		n := strings.IndexByte(f.Text[at:], '\n')
		if n < 0 {
			return d
		}
		at += n + 1
		d.starts = append(d.starts, at)
	}
}

// lineOf is the number of the line that holds an offset, from 0.
func (d *Document) lineOf(offset int) int {
	i, found := slices.BinarySearch(d.starts, offset)
	if found {
		return i
	}
	return i - 1
}

// line is a line without its end.
func (d *Document) line(n int) string {
	end := len(d.Source.Text)
	if n+1 < len(d.starts) {
		end = d.starts[n+1] - 1
	}
	return strings.TrimSuffix(d.Source.Text[d.starts[n]:end], "\r")
}

// lineEnd is where a line ends, without its line end.
func (d *Document) lineEnd(n int) int { return d.starts[n] + len(d.line(n)) }

// indent is by how many spaces a line is indented, and whether anything but a
// comment stands on it.
func (d *Document) indent(n int) (spaces int, filled bool) {
	text := d.line(n)
	rest := strings.TrimLeft(text, " \t")
	return len(text) - len(rest), rest != "" && rest[0] != '#'
}

// head is a line that others are indented below.
type head struct {
	line   int
	indent int
	words  []string // its first two words
	text   string   // without indentation and comment
}

func (h head) word(n int) string {
	if n < len(h.words) {
		return h.words[n]
	}
	return ""
}

func (d *Document) head(n int) head {
	text := d.line(n)
	h := head{line: n, text: strings.TrimLeft(text, " \t")}
	h.indent = len(text) - len(h.text)
	if i := strings.Index(h.text, "##"); i >= 0 {
		h.text = h.text[:i]
	}
	h.text = strings.TrimRight(h.text, " \t")
	rest := h.text
	for range 2 {
		end := 0
		for end < len(rest) && wordByte(rest[end]) {
			end++
		}
		if end == 0 {
			break
		}
		h.words = append(h.words, rest[:end])
		rest = strings.TrimLeft(rest[end:], " \t")
	}
	return h
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// above are the headers that a line with the given indentation belongs to, the
// outermost first.
func (d *Document) above(line, indent int) []head {
	var chain []head
	for n := line - 1; n >= 0 && indent > 0; n-- {
		if spaces, filled := d.indent(n); filled && spaces < indent {
			chain = append(chain, d.head(n))
			indent = spaces
		}
	}
	slices.Reverse(chain)
	return chain
}

// raw reports whether what stands below these headers is text: a prompt's or a
// command's.
func raw(chain []head) bool {
	if len(chain) > 0 && chain[0].word(0) == "prompt" {
		return true
	}
	return len(chain) > 1 && chain[0].word(0) == "tool" && chain[1].text == "command:"
}

// siblings are the lines of the block that a line belongs to and that begin in
// the same column.
func (d *Document) siblings(line, indent int) []head {
	var list []head
	look := func(n int) bool {
		spaces, filled := d.indent(n)
		if filled && spaces == indent && n != line {
			list = append(list, d.head(n))
		}
		return !filled || spaces >= indent
	}
	for n := line - 1; n >= 0 && look(n); n-- {
	}
	for n := line + 1; n < len(d.starts) && look(n); n++ {
	}
	return list
}

// blockEnd is the last line of what is indented below a line, the line itself
// when nothing is.
func (d *Document) blockEnd(line int) int {
	indent, _ := d.indent(line)
	last := line
	for n := line + 1; n < len(d.starts); n++ {
		text := strings.TrimLeft(d.line(n), " \t")
		if text == "" {
			continue
		}
		spaces := len(d.line(n)) - len(text)
		if spaces <= indent && !(spaces == indent && (text[0] == '}' || text[0] == ']')) {
			break
		}
		last = n
	}
	return last
}
