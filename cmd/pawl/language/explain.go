package language

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/runner/lang/diag"
)

func explainCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "explain [CODE|WORD]...",
		Short: "Explain a diagnostic: why it is there, a bad and a good example",
		Long: "Explains diagnostics by their codes. A word that is no code lists the diagnostics\n" +
			"that speak of it, and nothing at all lists every diagnostic there is.",
		Example: "  pawl explain C019\n  pawl explain\n  pawl explain loop\n  pawl explain --json C019 P100",
		RunE: func(_ *cobra.Command, args []string) error {
			return explain(a, args)
		},
	}
}

// explain prints rules. One code alone is explained; a list of rules, from words
// or from nothing, is one line each.
func explain(a *cli.App, args []string) error {
	p := printer{a.Out, a.Colors(a.Out)}
	if len(args) == 0 {
		return explained(a, p, nil, diag.Rules())
	}
	var whole, listed []diag.Rule
	for _, arg := range args {
		if rule, known := diag.Lookup(codeOf(arg)); known {
			whole = append(whole, rule)
			continue
		}
		found := about(arg)
		if len(found) == 0 {
			return cli.Usage(fmt.Errorf("there is no diagnostic %s", arg), nearestCode(arg))
		}
		listed = append(listed, found...)
	}
	return explained(a, p, whole, listed)
}

func explained(a *cli.App, p printer, whole, listed []diag.Rule) error {
	if a.JSON {
		if len(whole) == 1 && len(listed) == 0 {
			return a.WriteJSON(whole[0])
		}
		return a.WriteJSON(append(whole, listed...))
	}
	var b strings.Builder
	for i, rule := range whole {
		if i > 0 {
			b.WriteString("\n")
		}
		p.rule(&b, rule)
	}
	if len(whole) > 0 && len(listed) > 0 {
		b.WriteString("\n")
	}
	p.list(&b, listed)
	if _, err := io.WriteString(p.out, b.String()); err != nil {
		return cli.Host(fmt.Errorf("write explanation: %w", err), "")
	}
	return nil
}

// codeOf reads a code as people write it: in any case, and without the zeros.
func codeOf(arg string) diag.Code {
	code := strings.ToUpper(strings.Trim(arg, "[]"))
	if len(code) > 1 && len(code) < 4 && code[0] >= 'A' && code[0] <= 'Z' {
		code = code[:1] + strings.Repeat("0", 4-len(code)) + code[1:]
	}
	return diag.Code(code)
}

// about are the rules that speak of a word in their titles or reasons.
func about(word string) []diag.Rule {
	var found []diag.Rule
	if len(word) < 3 {
		return nil
	}
	for _, r := range diag.Rules() {
		if strings.Contains(strings.ToLower(r.Title+"\n"+r.Why), strings.ToLower(word)) {
			found = append(found, r)
		}
	}
	return found
}

// nearestCode says what may have been meant.
func nearestCode(arg string) string {
	var codes []string
	for _, r := range diag.Rules() {
		codes = append(codes, string(r.Code))
	}
	hint := "pawl explain lists them all"
	if near := diag.Nearest(string(codeOf(arg)), codes); near != "" {
		rule, _ := diag.Lookup(diag.Code(near))
		hint = fmt.Sprintf("did you mean %s (%s)? %s", near, rule.Title, hint)
	}
	return hint
}

// printer writes rules for people.
type printer struct {
	out   io.Writer
	color bool
}

// The styles of an explanation, as terminals understand them.
const (
	bold  = "\x1b[1m"
	red   = "\x1b[1;31m"
	green = "\x1b[1;32m"
	plain = "\x1b[0m"
)

func (p printer) styled(style, text string) string {
	if !p.color {
		return text
	}
	return style + text + plain
}

// rule explains one rule, with what pawl says of its bad example.
func (p printer) rule(b *strings.Builder, r diag.Rule) {
	fmt.Fprintf(b, "%s\n\n%s\n\n", p.styled(bold, string(r.Code)+": "+r.Title), wrapped(r.Why))
	fmt.Fprintf(b, "%s\n\n%s\n", p.styled(red, "Wrong:"), indented(r.Bad))
	if said := p.said(r); said != "" {
		fmt.Fprintf(b, "pawl says:\n\n%s\n", indented(said))
	}
	fmt.Fprintf(b, "%s\n\n%s", p.styled(green, "Right:"), indented(r.Good))
}

// said is what validate draws for the bad example, about this rule.
func (p printer) said(r diag.Rule) string {
	s := cli.Compile("example.iter", r.Bad, cli.CompileOptions{Lookup: func(string) (string, bool) { return "", false }, Prices: budget.Prices()})
	var list diag.List
	for _, d := range s.Findings {
		if d.Code == r.Code {
			list = append(list, d)
		}
	}
	var b strings.Builder
	if err := diag.Render(&b, list, p.color); err != nil {
		return "" // a builder takes everything
	}
	return b.String()
}

// list prints rules under the titles of their families.
func (p printer) list(b *strings.Builder, rules []diag.Rule) {
	for i, family := range diag.Families() {
		some := ofFamily(rules, family)
		if len(some) == 0 {
			continue
		}
		if i > 0 && b.Len() > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(b, "%s\n", p.styled(bold, family.Title))
		for _, r := range some {
			fmt.Fprintf(b, "  %s  %s\n", r.Code, r.Title)
		}
	}
}

func ofFamily(rules []diag.Rule, family diag.Family) []diag.Rule {
	var some []diag.Rule
	seen := make(map[diag.Code]bool)
	for _, r := range rules {
		if r.Family == family.Name && !seen[r.Code] {
			seen[r.Code] = true
			some = append(some, r)
		}
	}
	return some
}

const lineWidth = 80

// wrapped breaks a paragraph into lines.
func wrapped(text string) string {
	var b strings.Builder
	column := 0
	for _, word := range strings.Fields(text) {
		width := len([]rune(word))
		if column > 0 && column+1+width > lineWidth {
			b.WriteString("\n")
			column = 0
		}
		if column > 0 {
			b.WriteString(" ")
			column++
		}
		b.WriteString(word)
		column += width
	}
	return b.String()
}

// indented sets an example off; its empty lines stay empty.
func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimRight(text, "\n") + "\n") {
		if strings.TrimSpace(line) != "" {
			b.WriteString("    ")
		}
		b.WriteString(line)
	}
	return b.String()
}
