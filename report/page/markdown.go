package page

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pawl-ci/pawl/report"
	"github.com/pawl-ci/pawl/report/words"
)

// Options are the settings of [Markdown].
type Options struct {
	// Limit is the most bytes to write; 0 is no limit. Whole sections are left
	// out, the least important first, and a note says which.
	Limit int
}

// GitHub's limits in bytes, for Options.Limit.
const (
	JobSummaryLimit = 1 << 20
	CommentLimit    = 65_536
)

// section is a part of the report that is shown whole or not at all.
type section struct {
	name string
	rank int // 0 stays longest
	body string
}

// Markdown writes the  The same summary and options give the same bytes:
// valid UTF-8, every fence closed. The error is w's.
func Markdown(w io.Writer, s report.Summary, o Options) error {
	d := &drawing{s: summary{&s}}
	sections := d.sections()
	_, err := io.WriteString(w, fit(sections, o.Limit, d.whole()))
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// drawing collects the text of one section and counts what it had to make
// visible.
type drawing struct {
	s      summary
	b      strings.Builder
	hidden int
}

func (d *drawing) printf(format string, args ...any) { fmt.Fprintf(&d.b, format, args...) }

// part is a section to be drawn.
type part struct {
	name  string
	title string
	rank  int
	draw  func()
}

// parts are the sections in order. The question of a parked run comes before the
// lines that answer it.
func (d *drawing) parts() []part {
	head := part{"summary", "", 0, d.head}
	next := part{"next", "What to do next", 1, d.next}
	gates := part{"gates", "Gates", 2, d.gates}
	rest := []part{
		{"path", "Path taken", 6, d.path},
		{"timeline", "Timeline", 8, d.timeline},
		{"verification", "Verification", 3, d.verification},
		{"changes", "Changes", 5, d.changes},
		{"money", "Tokens and money", 7, d.money},
		{"tools", "Tools", 10, d.tools},
		{"where", "Where everything lies", 9, d.where},
	}
	warnings := part{"warnings", "Worth knowing", 4, d.warnings}
	if d.s.Status == report.Parked {
		gates.title = "The question"
		return append([]part{head, gates, next, warnings}, rest...)
	}
	return append([]part{head, next, warnings}, slices.Insert(rest, 3, gates)...)
}

func (d *drawing) sections() []section {
	var out []section
	for _, p := range d.parts() {
		d.b.Reset()
		p.draw()
		body := strings.TrimRight(d.b.String(), "\n")
		if body == "" {
			continue
		}
		if p.title != "" {
			body = "### " + p.title + "\n\n" + body
		}
		out = append(out, section{p.name, p.rank, body + "\n"})
	}
	return append(out, d.footer()...)
}

func (d *drawing) footer() []section {
	if d.hidden == 0 {
		return nil
	}
	text := fmt.Sprintf("*%s in text from elsewhere could not be seen; each is shown as its code, such as* `[U+202E]`.\n", words.Count(int64(d.hidden), "character"))
	return []section{{"note on hidden characters", 4, text}}
}

// whole says how to see everything.
func (d *drawing) whole() string {
	if d.s.RunID == "" {
		return ""
	}
	return "The whole report: " + words.Code("pawl report "+words.ShellWord(string(d.s.RunID))) + "."
}

// fit joins the sections within limit bytes.
func fit(sections []section, limit int, whole string) string {
	text := join(sections, "")
	if limit <= 0 || len(text) <= limit {
		return text
	}
	var gone []string
	for len(sections) > 1 {
		last := 0
		for i := range sections {
			if sections[i].rank >= sections[last].rank {
				last = i
			}
		}
		gone = append(gone, sections[last].name)
		sections = slices.Delete(sections, last, last+1)
		if text = join(sections, leftOut(gone, limit, whole)); len(text) <= limit {
			return text
		}
	}
	return cutLines(text, limit)
}

func leftOut(gone []string, limit int, whole string) string {
	names := slices.Sorted(slices.Values(gone))
	return strings.TrimSpace(fmt.Sprintf("*Left out to stay within %s bytes: %s.* %s", words.Number(int64(limit)), strings.Join(names, ", "), whole)) + "\n"
}

func join(sections []section, note string) string {
	bodies := make([]string, 0, len(sections)+1)
	for _, s := range sections {
		bodies = append(bodies, s.body)
	}
	if note != "" {
		bodies = append(bodies, note)
	}
	return strings.Join(bodies, "\n")
}

// cutLines is for limits that not even the first section fits: it holds no
// fence, so it may end after any line, and within one between characters.
func cutLines(text string, limit int) string {
	text = text[:limit]
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		return text[:i+1]
	}
	for !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	return text
}

// code draws untrusted text of at most n characters within a line.
func (d *drawing) code(text string, n int) string {
	_, hidden := words.Clean(text)
	d.hidden += hidden
	return words.Code(words.Clip(words.OneLine(text), n))
}

// fence draws untrusted text as a block of its own.
func (d *drawing) fence(info, text string) {
	text, hidden := words.Clean(text)
	d.hidden += hidden
	text = strings.TrimRight(text, "\n")
	around := words.FenceAround(text)
	d.printf("%s%s\n%s\n%s\n", around, info, text, around)
}

// row writes one table row; cells are drawn already.
func (d *drawing) row(cells ...string) { d.printf("| %s |\n", strings.Join(cells, " | ")) }

// table opens a table. A head that begins with ">" is aligned to the right.
func (d *drawing) table(heads ...string) {
	rules := make([]string, len(heads))
	for i, h := range heads {
		rules[i] = "---"
		if right, ok := strings.CutPrefix(h, ">"); ok {
			heads[i], rules[i] = right, "--:"
		}
	}
	d.row(heads...)
	d.row(rules...)
}
