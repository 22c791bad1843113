package reporttest

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Marker is put into hostile text by tests: it may be seen in code and nowhere
// else.
const Marker = "ZQX"

// CheckMarkdown is a strict reader of the markdown that page writes: it knows no
// more of the language than page uses. Untrusted text stands in fences, code
// spans and code elements; it never opens, closes or moves anything.
func CheckMarkdown(text string) error {
	if !utf8.ValidString(text) {
		return fmt.Errorf("not valid UTF-8")
	}
	for _, r := range text {
		if r != '\n' && r != '\t' && r != '\ufe0f' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			return fmt.Errorf("character %U is in the text", r)
		}
	}
	c := checker{}
	for n, line := range strings.Split(text, "\n") {
		if err := c.line(line); err != nil {
			return fmt.Errorf("line %d: %w: %.200q", n+1, err, line)
		}
	}
	if c.fence != "" || c.details != 0 {
		return fmt.Errorf("at the end a fence of %d backticks and %d details are open", len(c.fence), c.details)
	}
	return nil
}

type checker struct {
	fence   string
	chart   []string // lines of a mermaid fence; nil outside
	cells   int      // bars of the table's head; 0 outside
	details int
}

var (
	openFence = regexp.MustCompile("^(`{3,})(sh|text|json|mermaid)$")
	codeTag   = regexp.MustCompile(`<code>[^<>|]*(<wbr>[^<>|]*)*</code>`)
	plainList = regexp.MustCompile(`^- [\pL\pN ,.;:'()%+×–\\_&#;-]+$`)
	trusted   = regexp.MustCompile(`^[\pL\pN\pM ,.;:'()%+×–−·→…✓✗❌✅⚠️⏸🛑⏳*|#&;$?\\_=-]*$`)
)

func (c *checker) line(line string) error {
	if c.fence != "" {
		return c.inFence(line)
	}
	if m := openFence.FindStringSubmatch(line); m != nil {
		c.fence, c.cells = m[1], 0
		if m[2] == "mermaid" {
			c.chart = []string{}
		}
		return nil
	}
	if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
		return fmt.Errorf("a fence of another kind")
	}
	if plainList.MatchString(line) {
		return nil // a warning in plain words
	}
	rest, err := withoutCode(line)
	if err != nil {
		return err
	}
	return c.outside(line, rest)
}

func (c *checker) inFence(line string) error {
	if line == c.fence {
		chart := c.chart
		c.fence, c.chart = "", nil
		if chart != nil {
			return CheckFlowchart(strings.Join(chart, "\n"))
		}
		return nil
	}
	if c.chart != nil {
		c.chart = append(c.chart, line)
	}
	return nil
}

// outside judges a line whose code is gone.
func (c *checker) outside(line, rest string) error {
	for _, tag := range []string{"<details open><summary>", "<details><summary>"} {
		if after, ok := strings.CutPrefix(rest, tag); ok {
			c.details++
			rest = strings.TrimSuffix(after, "</summary>")
		}
	}
	if rest == "</details>" {
		c.details--
		rest = ""
	}
	if strings.Contains(rest, Marker) {
		return fmt.Errorf("untrusted text outside of code")
	}
	if !trusted.MatchString(rest) {
		return fmt.Errorf("unexpected text outside of code: %q", rest)
	}
	bars := strings.Count(line, "|")
	switch {
	case !strings.HasPrefix(line, "|"):
		c.cells = 0
		if bars > 0 {
			return fmt.Errorf("a bar outside of a table")
		}
	case c.cells == 0:
		c.cells = bars
	case c.cells != bars:
		return fmt.Errorf("%d bars in a table of %d", bars, c.cells)
	}
	return nil
}

// withoutCode cuts code spans and elements out of a line.
func withoutCode(line string) (string, error) {
	line = codeTag.ReplaceAllString(line, "")
	var out strings.Builder
	for {
		i := strings.IndexByte(line, '`')
		if i < 0 {
			return out.String() + line, nil
		}
		n := len(line[i:]) - len(strings.TrimLeft(line[i:], "`"))
		end := closing(line[i+n:], n)
		if end < 0 {
			return "", fmt.Errorf("a code span is not closed")
		}
		span := line[i+n : i+n+end]
		if strings.ContainsAny(span, "<>|") || strings.TrimSpace(span) == "" {
			return "", fmt.Errorf("a code span holds %q", span)
		}
		out.WriteString(line[:i])
		line = line[i+n+end+n:]
	}
}

// closing finds a run of exactly n backticks.
func closing(text string, n int) int {
	for i := 0; i < len(text); {
		if text[i] != '`' {
			i++
			continue
		}
		run := len(text[i:]) - len(strings.TrimLeft(text[i:], "`"))
		if run == n {
			return i
		}
		i += run
	}
	return -1
}

const labelText = `"(?:[\pL\p{Nd} _,/·…×]|#[0-9]{1,7};|<br/>)*"`

var (
	vertexLine = regexp.MustCompile(`^  n[0-9]+(?:\[` + labelText + `\]|\(\[` + labelText + `\]\)|\{\{` + labelText + `\}\}|\{` + labelText + `\}|\[\[` + labelText + `\]\]|\(\(` + labelText + `\)\))(?::::[a-z]+)?$`)
	arrowLine  = regexp.MustCompile(`^  n[0-9]+ (?:-->|==>|-\.->)(?:\|` + labelText + `\|)? n[0-9]+$`)
	styleLine  = regexp.MustCompile(`^  (?:classDef [a-z]+ |linkStyle [0-9]+(?:,[0-9]+)* )[a-z]+[a-z0-9#:, -]*$`)
	vertexName = regexp.MustCompile(`n[0-9]+`)
)

// CheckFlowchart is a strict reader of the flowcharts that diagram draws: every
// line is one known form, and arrows join nodes that were drawn before.
func CheckFlowchart(text string) error {
	lines := strings.Split(text, "\n")
	if lines[0] != "flowchart LR" && lines[0] != "flowchart TD" {
		return fmt.Errorf("a flowchart begins with %q", lines[0])
	}
	drawn, arrows := map[string]bool{}, 0
	for _, line := range lines[1:] {
		switch {
		case vertexLine.MatchString(line):
			drawn[vertexName.FindString(line)] = true
		case arrowLine.MatchString(line):
			arrows++
			ends := vertexName.FindAllString(line, -1)
			if !drawn[ends[0]] || !drawn[ends[len(ends)-1]] {
				return fmt.Errorf("an arrow joins nodes that are not there: %q", line)
			}
		case !styleLine.MatchString(line):
			return fmt.Errorf("not a line of a flowchart: %q", line)
		}
	}
	for _, line := range lines {
		if numbers, ok := strings.CutPrefix(line, "  linkStyle "); ok {
			for _, n := range strings.Split(strings.Fields(numbers)[0], ",") {
				if i := 0; !inRange(n, &i, arrows) {
					return fmt.Errorf("linkStyle %s of %d arrows", n, arrows)
				}
			}
		}
	}
	return nil
}

func inRange(text string, i *int, n int) bool {
	_, err := fmt.Sscan(text, i)
	return err == nil && *i < n
}
