package assist

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/symbols"
)

// Fix is a way to mend a finding.
type Fix struct {
	Title     string
	Edits     []Edit
	Preferred bool // the one to take when only one is wanted
}

var (
	didYouMean = regexp.MustCompile(`^did you mean (\S+)\? `)
	oneOf      = regexp.MustCompile(`(?:^|\? )one of: ([A-Za-z0-9_, .]+)$`)
	anyWord    = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)
)

// mostChoices is how many words of a closed set are offered one by one.
const mostChoices = 6

// Fixes lists the ways to mend a finding, the best first.
func (d *Document) Fixes(f diag.Diagnostic) []Fix {
	var fixes []Fix
	if m := didYouMean.FindStringSubmatch(f.Hint); m != nil {
		if at, ok := misspelt(f.Span, m[1]); ok {
			fixes = append(fixes, Fix{"Change to " + m[1], []Edit{{at, m[1]}}, true})
		}
	} else {
		fixes = append(fixes, d.choices(f)...)
	}
	switch f.Code {
	case "C001", "C002", "C003", "C030":
		fixes = append(fixes, d.declare(f)...)
	case "P109":
		fixes = append(fixes, Fix{"Begin the comment with ##", []Edit{{f.Span, "##"}}, true})
	case "P101":
		fixes = append(fixes, d.spaces(f)...)
	case "P161":
		fixes = append(fixes, Fix{"Delete it", []Edit{{d.deletion(f.Span), ""}}, false})
	case "C019":
		clause := "as " + d.freeLoop() + "(3)"
		fixes = append(fixes, Fix{"Bound the loop: " + clause, []Edit{{behind(f.Span), " " + clause}}, true})
	case "C012":
		fixes = append(fixes, d.fallback(f)...)
	}
	return fixes
}

// misspelt is the word under a span that is most likely a misspelling of right.
func misspelt(span diag.Span, right string) (diag.Span, bool) {
	text := span.Text()
	if len(text) > 1<<12 {
		return diag.Span{}, false
	}
	found, ok := diag.Span{}, false
	for _, m := range anyWord.FindAllStringIndex(text, -1) {
		if word := text[m[0]:m[1]]; word != right && diag.Nearest(word, []string{right}) == right {
			found, ok = span.Sub(m[0], m[1]), true // the last one: a path ends with what is wrong
		}
	}
	return found, ok
}

// choices offers the words of a small closed set.
func (d *Document) choices(f diag.Diagnostic) []Fix {
	m := oneOf.FindStringSubmatch(f.Hint)
	if m == nil || !symbolText(f.Span.Text()) {
		return nil
	}
	words := strings.Split(m[1], ", ")
	if len(words) > mostChoices {
		return nil
	}
	var fixes []Fix
	for _, word := range words {
		fixes = append(fixes, Fix{"Change to " + word, []Edit{{f.Span, word}}, false})
	}
	return fixes
}

// symbolText reports whether a text is one word, perhaps in quotes.
func symbolText(text string) bool {
	return anyWord.FindString(strings.Trim(text, `"`)) == strings.Trim(text, `"`) && text != ""
}

// templates are declarations for names that nobody has declared.
var templates = map[symbols.Kind]string{
	symbols.Node:   "agent %s:\n  model: \"${PAWL_MODEL:-gpt-5-mini}\"\n",
	symbols.Prompt: "prompt %s:\n  What is to be done.\n",
	symbols.Schema: "schema %s:\n  text: string\n",
}

// declare adds the declaration that is missing, in front of the one that wants
// it.
func (d *Document) declare(f diag.Diagnostic) []Fix {
	u := d.Names.At(f.Span.Start)
	if f.Code == "C030" {
		if ref := d.Names.RefAt(f.Span.Start); ref != nil && len(ref.Path) > 1 {
			u = d.Names.At(ref.Path[1].Span.Start)
		}
	}
	if u == nil || len(u.Symbols) > 0 || templates[u.Kind] == "" {
		return nil
	}
	line := d.lineOf(u.Span.Start)
	for spaces, filled := d.indent(line); line > 0 && (spaces > 0 || !filled); spaces, filled = d.indent(line) {
		line--
	}
	at := diag.Span{File: d.Source, Start: d.starts[line], End: d.starts[line]}
	text := strings.Replace(templates[u.Kind], "%s", u.Name, 1)
	return []Fix{{"Declare " + u.Kind.String() + " " + u.Name, []Edit{{at, text + "\n"}}, false}}
}

// spaces puts two spaces in the place of each tab of an indentation.
func (d *Document) spaces(f diag.Diagnostic) []Fix {
	line := d.lineOf(f.Span.Start)
	indent, _ := d.indent(line)
	at := diag.Span{File: d.Source, Start: d.starts[line], End: d.starts[line] + indent}
	return []Fix{{"Indent by spaces", []Edit{{at, strings.ReplaceAll(at.Text(), "\t", "  ")}}, true}}
}

// deletion is a whole declaration with the blank lines behind it.
func (d *Document) deletion(span diag.Span) diag.Span {
	line := d.lineOf(span.Start)
	last := d.blockEnd(line)
	for last+1 < len(d.starts) && strings.TrimSpace(d.line(last+1)) == "" {
		last++
	}
	end := len(d.Source.Text)
	if last+1 < len(d.starts) {
		end = d.starts[last+1]
	}
	return diag.Span{File: d.Source, Start: d.starts[line], End: end}
}

// behind is the place just behind a span.
func behind(s diag.Span) diag.Span { return diag.Span{File: s.File, Start: s.End, End: s.End} }

// fallback adds the edge that is taken when no condition holds.
func (d *Document) fallback(f diag.Diagnostic) []Fix {
	u := d.Names.At(f.Span.Start)
	if u == nil || u.Kind != symbols.Node {
		return nil
	}
	line := d.lineOf(f.Span.Start)
	indent, _ := d.indent(line)
	end := d.lineEnd(d.blockEnd(line))
	at := diag.Span{File: d.Source, Start: end, End: end}
	text := "\n" + strings.Repeat(" ", indent) + u.Name + " -> fail"
	return []Fix{{"Add the fallback " + u.Name + " -> fail", []Edit{{at, text}}, false}}
}

// freeLoop is a name that no loop has.
func (d *Document) freeLoop() string {
	name := "again"
	for n := 2; d.Names.Find(symbols.Loop, name) != nil; n++ {
		name = "again" + strconv.Itoa(n)
	}
	return name
}
