package format_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/syntax/format"
	"github.com/pawl-ci/pawl/runner/lang/syntax/scan"
)

// However the same statements are laid out, they end in the same layout.
func TestOneLayout(t *testing.T) {
	t.Parallel()
	texts := layable(t)
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.SampledFrom(texts).Draw(rt, "file")
		plain := respaced(text, plainly{})
		ugly := respaced(text, at{rt})
		want, _ := format.Source(diag.NewFile("plain.iter", plain))
		got, wrong := format.Source(diag.NewFile("ugly.iter", ugly))
		if len(wrong) > 0 {
			rt.Fatalf("refused: %v\n%s", wrong, ugly)
		}
		if got != want {
			rt.Fatalf("%s\nis laid out as\n%s\nand not as\n%s", ugly, got, want)
		}
	})
}

// Comments and blank lines may stand anywhere.
func TestCommentsAnywhere(t *testing.T) {
	t.Parallel()
	texts := layable(t)
	rapid.Check(t, func(rt *rapid.T) {
		lines := strings.Split(rapid.SampledFrom(texts).Draw(rt, "file"), "\n")
		for range rapid.IntRange(1, 6).Draw(rt, "edits") {
			i := rapid.IntRange(0, len(lines)-1).Draw(rt, "line")
			column := rapid.SampledFrom([]string{"", "  ", "    ", "      ", "\t", "   \t "}).Draw(rt, "column")
			switch rapid.IntRange(0, 3).Draw(rt, "edit") {
			case 0:
				lines[i] += column + rapid.SampledFrom([]string{"## behind", "##", "## a ## b "}).Draw(rt, "tail")
			case 1:
				lines = slices.Insert(lines, i, column+rapid.SampledFrom([]string{"## above", "# single", "#", "#{"}).Draw(rt, "above"))
			case 2:
				lines = slices.Insert(lines, i, column)
			case 3:
				lines = slices.Insert(lines, i, "", column, "## apart", "")
			}
		}
		keeps(rt, strings.Join(lines, rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(rt, "end")))
	})
}

// layable are the files of the corpus that can be laid out, in a fixed order.
func layable(t *testing.T) []string {
	t.Helper()
	var list []string
	texts := corpus(t)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if _, wrong := format.Source(diag.NewFile("file.iter", texts[name])); len(wrong) == 0 {
			list = append(list, texts[name])
		}
	}
	return list
}

// choice decides how something is spaced.
type choice interface {
	number(most int) int // from 0 on; 0 is how it is usually written
}

type plainly struct{}

func (plainly) number(int) int { return 0 }

type at struct{ *rapid.T }

func (c at) number(most int) int { return rapid.IntRange(0, most).Draw(c.T, "n") }

// respaced is a file without comments and blank lines, spaced as c decides.
func respaced(text string, c choice) string {
	r := &respacer{Scanner: scan.Scanner{Src: text, Quiet: true}, choice: c}
	if c.number(3) == 1 {
		r.WriteString("\ufeff")
	}
	r.step = 2 + c.number(3)
	for r.Line(len(text) - len(strings.TrimPrefix(text, "\ufeff"))); r.Tok.Kind != scan.EndOfFile; {
		r.statement()
	}
	if c.number(3) == 1 {
		return strings.ReplaceAll(r.String(), "\n", "\r\n")
	}
	return r.String()
}

type respacer struct {
	scan.Scanner
	strings.Builder
	choice
	step  int
	above []int // indentations of the blocks around
}

func (r *respacer) statement() {
	indent := r.Indent
	for len(r.above) > 0 && r.above[len(r.above)-1] >= indent {
		r.above = r.above[:len(r.above)-1]
	}
	if len(r.above) == 0 {
		r.WriteString(strings.Repeat("\n", r.number(2)))
	}
	column := len(r.above) * r.step
	r.WriteString(strings.Repeat(" ", column))
	first, second := r.Tok, scan.Token{}
	depth, before := 0, r.Tok
	for ; r.Tok.Kind != scan.EndOfLine && r.Tok.Kind != scan.EndOfFile || depth > 0; r.Next() {
		crossed := false
		for r.Tok.Kind == scan.EndOfLine {
			r.NextLine()
			crossed = true
		}
		if r.Tok != first {
			r.gap(before, crossed, depth, column)
		}
		switch {
		case r.Tok.Kind == scan.OpenList || r.Tok.Kind == scan.OpenObject:
			depth++
		case r.Closes() && r.Tok.Kind != scan.CloseCount:
			depth--
		}
		if second == (scan.Token{}) && r.Tok != first {
			second = r.Tok
		}
		before = r.Tok
		r.WriteString(r.Text(r.Tok))
	}
	r.WriteString(strings.Repeat(" ", r.number(2)) + "\n")
	word := r.Text(first)
	if word == "prompt" && len(r.above) == 0 || word == "command" && second == before {
		column += 1 + r.number(6)
		for line := range strings.SplitSeq(r.Body(indent).Value, "\n") {
			r.WriteString(strings.Repeat(" ", column) + line + "\n")
		}
		return
	}
	r.above = append(r.above, indent)
	r.NextLine()
}

// gap separates a token from the one before it.
func (r *respacer) gap(before scan.Token, crossed bool, depth, column int) {
	was := crossed || r.Tok.Start > before.End
	brace := before.Kind == scan.OpenObject
	switch {
	case strings.HasPrefix(r.Src[before.End:], "[]") && !was, before.Kind == scan.OpenList && r.Tok.Kind == scan.CloseList && !was:
		return // a type
	case depth > 0 && crossed, depth > 0 && (brace || before.Kind == scan.Comma) && r.number(2) == 1:
		r.WriteString("\n" + strings.Repeat(" ", column+10*depth+r.number(9)))
	case was, brace:
		r.WriteString(strings.Repeat(" ", 1+r.number(2)))
	default:
		r.WriteString(strings.Repeat(" ", r.number(1)))
	}
}
