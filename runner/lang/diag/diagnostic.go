package diag

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Severity orders diagnostics by what they stop. The zero value is invalid, so
// that a forgotten severity is a bug and not a silent warning.
type Severity int

// The severities. Only an Error keeps a workflow from running.
const (
	Warning Severity = iota + 1
	Error
)

// String is the word shown to a person.
func (s Severity) String() string {
	switch s {
	case Warning:
		return "warning"
	case Error:
		return "error"
	}
	return "invalid severity"
}

// Code names a rule: C001–C036 keep the meaning users know from the original
// language, P100 and up are ours.
type Code string

// Related points at a second place that explains the first one.
type Related struct {
	Span    Span
	Message string
}

// Diagnostic is one finding. Message is a single line that names the thing;
// Hint says what would be right.
type Diagnostic struct {
	Code     Code
	Severity Severity
	Span     Span
	Message  string
	Hint     string
	Related  []Related
}

// List is a set of diagnostics. A pointer to it collects; sorted, it prints the
// same bytes whatever order the rules ran in.
type List []Diagnostic

// Add appends d. It panics on a code the register does not hold.
func (l *List) Add(d Diagnostic) {
	if _, known := Lookup(d.Code); !known {
		panic("diag: code not in the register: " + string(d.Code))
	}
	*l = append(*l, d)
}

// Errorf adds an error at span.
func (l *List) Errorf(code Code, span Span, hint, format string, args ...any) {
	l.Add(Diagnostic{Code: code, Severity: Error, Span: span, Hint: hint, Message: fmt.Sprintf(format, args...)})
}

// Warnf adds a warning at span.
func (l *List) Warnf(code Code, span Span, hint, format string, args ...any) {
	l.Add(Diagnostic{Code: code, Severity: Warning, Span: span, Hint: hint, Message: fmt.Sprintf(format, args...)})
}

// HasErrors reports whether anything in the list stops a run.
func (l List) HasErrors() bool {
	return slices.ContainsFunc(l, func(d Diagnostic) bool { return d.Severity == Error })
}

// Sort orders by file, offset, code and message, and drops exact repeats.
func (l *List) Sort() {
	slices.SortStableFunc(*l, compare)
	*l = slices.CompactFunc(*l, func(a, b Diagnostic) bool { return compare(a, b) == 0 })
}

func compare(a, b Diagnostic) int {
	return cmp.Or(
		strings.Compare(fileName(a.Span), fileName(b.Span)),
		cmp.Compare(a.Span.Start, b.Span.Start),
		cmp.Compare(a.Span.End, b.Span.End),
		strings.Compare(string(a.Code), string(b.Code)),
		strings.Compare(a.Message, b.Message),
	)
}

func fileName(s Span) string {
	if s.File == nil {
		return ""
	}
	return s.File.Name
}

// longestQuote is how many bytes of a stranger's text a message quotes.
const longestQuote = 40

// Brief makes text fit to be quoted in a message: its first line, and of that not
// more than can be read at a glance.
func Brief(text string) string {
	cut := strings.IndexAny(text, "\r\n")
	if cut < 0 {
		cut = len(text)
	}
	if cut > longestQuote {
		for cut = longestQuote; cut > 0 && !utf8.RuneStart(text[cut]); cut-- {
		}
	}
	if cut == len(text) {
		return text
	}
	return text[:cut] + "…"
}
