package assist

import (
	"strings"

	"github.com/pawl-ci/pawl/runner/lang/symbols"
)

// CandidateKind is what a candidate is, for the sign beside it.
type CandidateKind uint8

// The kinds of candidates.
const (
	Declaration CandidateKind = iota + 1
	Property
	Choice // a word of a closed set
	Name   // of something declared
	Member // of a path
	Clause
)

// Candidate is something that may be written at a place.
type Candidate struct {
	Label   string
	Kind    CandidateKind
	Symbol  symbols.Kind // of a Name
	Detail  string       // a few words beside the label
	Doc     string       // Markdown, or ""
	Insert  string       // what is written
	Snippet string       // the same with stops for the cursor ($1, $0), or ""
	Start   int          // what is written takes the place of the text [Start, End)
	End     int
}

// completion collects the candidates for one place.
type completion struct {
	d      *Document
	offset int
	line   int
	start  int    // of the line
	before string // the line up to the place
	after  string // the rest of it
	word   string // the part of a word in front of the place
	list   []Candidate
}

// Complete lists what may be written at an offset, in the order to be shown. It
// filters nothing by what is written already: editors do.
func (d *Document) Complete(offset int) []Candidate {
	offset = min(max(offset, 0), len(d.Source.Text))
	c := &completion{d: d, offset: offset, line: d.lineOf(offset)}
	c.start = d.starts[c.line]
	text := d.line(c.line)
	cut := min(offset-c.start, len(text))
	c.before, c.after = text[:cut], text[cut:]
	from := cut
	for from > 0 && wordByte(text[from-1]) {
		from--
	}
	c.word = text[from:cut]
	c.complete()
	return c.list
}

// add takes a candidate for the word at the place.
func (c *completion) add(n Candidate) {
	n.Start, n.End = c.offset-len(c.word), c.offset
	for n.End-c.offset < len(c.after) && wordByte(c.after[n.End-c.offset]) {
		n.End++
	}
	if n.Insert == "" {
		n.Insert = n.Label
	}
	c.list = append(c.list, n)
}

// rest is what follows the word at the place on its line.
func (c *completion) rest() string {
	i := 0
	for i < len(c.after) && wordByte(c.after[i]) {
		i++
	}
	return strings.TrimLeft(c.after[i:], " \t")
}

func (c *completion) indent() int {
	return len(c.before) - len(strings.TrimLeft(c.before, " \t"))
}

// complete looks at where the place is.
func (c *completion) complete() {
	text := strings.TrimLeft(c.before, " \t")
	chain := c.d.above(c.line, c.indent())
	body := raw(chain)
	if inner, inside := openBraces(c.before); inside && (body || quoted(c.before)) {
		c.reference(chain, inner)
		return
	}
	if body || commented(c.before) {
		return
	}
	switch {
	case len(chain) == 0:
		c.top(text)
	case c.inside(chain, text):
	case chain[0].word(0) == "vars" || chain[0].word(0) == "schema":
		c.typed(chain[0].word(0), text)
	case chain[0].word(0) == "workflow":
		c.workflow(chain, text)
	default:
		c.properties(propertiesOf(chain[0].word(0)), chain[0].word(0), text, chain)
	}
}

// openBraces is what stands behind the last {{ that is not closed.
func openBraces(before string) (inner string, inside bool) {
	i := strings.LastIndex(before, "{{")
	if i < 0 || strings.Contains(before[i:], "}}") {
		return "", false
	}
	return before[i+2:], true
}

// tail says in what the beginning of a line ends: in quotes, in a comment, or in
// neither.
func tail(before string) (inQuotes, inComment bool) {
	if strings.HasPrefix(strings.TrimLeft(before, " \t"), "#") {
		return false, true
	}
	for i := 0; i < len(before); i++ {
		switch {
		case inQuotes && before[i] == '\\':
			i++
		case before[i] == '"':
			inQuotes = !inQuotes
		case !inQuotes && strings.HasPrefix(before[i:], "##"):
			return false, true
		}
	}
	return inQuotes, false
}

func quoted(before string) bool { in, _ := tail(before); return in }

func commented(before string) bool { _, in := tail(before); return in }
