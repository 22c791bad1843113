package diag

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// draw renders one error at the text between « and », which are taken out.
func draw(t *testing.T, marked string) string {
	t.Helper()
	start := strings.Index(marked, "«")
	end := strings.Index(marked, "»") - len("«")
	f := NewFile("w.iter", strings.NewReplacer("«", "", "»", "").Replace(marked))
	var list List
	list.Errorf("C001", Span{f, start, end}, "", "there is no node x")
	return render(t, list, false)
}

func render(t *testing.T, list List, color bool) string {
	t.Helper()
	var b strings.Builder
	if err := Render(&b, list, color); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestCarets(t *testing.T) {
	t.Parallel()
	const head = "w.iter:1:%: error[C001]: there is no node x\n"
	for name, test := range map[string]struct{ marked, column, line, underline string }{
		"a word":              {"a -> «reviewer» when ok", "6", "a -> reviewer when ok", "     ^~~~~~~~"},
		"one character":       {"«a» -> b", "1", "a -> b", "^"},
		"nothing, in a line":  {"a -> «» b", "6", "a ->  b", "     ^"},
		"the end of the line": {"a ->«»\nb", "5", "a ->", "    ^"},
		"the end of the file": {"a ->«»", "5", "a ->", "    ^"},
		"CRLF":                {"a ->«»\r\nb", "5", "a ->", "    ^"},
		"several lines":       {"a «-> {\n b\n}»", "3", "a -> {", "  ^~~~"},
		"tabs":                {"\ta\t«b\tc» d", "4", "    a   b   c d", "        ^~~~~"},
		"wide characters":     {"漢字 «漢字» x", "4", "漢字 漢字 x", "     ^~~~"},
		"behind wide ones":    {"日本語 -> «x»", "8", "日本語 -> x", "          ^"},
		"combining":           {"e\u0301e\u0301 «x»", "6", "e\u0301e\u0301 x", "   ^"},
		"emoji":               {"😀 «😀»", "3", "😀 😀", "   ^~"},
		"control characters":  {"a\x1b[31m\x00 «b»", "9", "a␛[31m␀ b", "        ^"},
		"hidden characters":   {"a\u202e\u200b «b»", "5", "a�� b", "    ^"},
		"broken UTF-8":        {"\xff\xfe «b\xff»", "4", "�� b�", "   ^~"},
		"an empty line":       {"«»\na", "1", "", "^"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			line := "    1 | " + test.line + "\n"
			if test.line == "" {
				line = "    1 |\n"
			}
			want := strings.Replace(head, "%", test.column, 1) + line + "      | " + test.underline + "\n"
			if got := draw(t, test.marked); got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}

// A long line is cut around the place.
func TestLongLines(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, marked       string
		begins, ends, here string
	}{
		{"place at the beginning", "«start»" + strings.Repeat(" word", 100_000), "start", "…", "start"},
		{"place in the middle", strings.Repeat("word ", 100_000) + "«middle»" + strings.Repeat(" word", 100_000), "…", "…", "middle"},
		{"place at the end", strings.Repeat("word ", 100_000) + "«end»", "…", "end", "end"},
		{"a place that is long itself", "x «" + strings.Repeat("y", 100_000) + "»", "x", "…", ""},
		{"wide characters", strings.Repeat("漢", 100_000) + "«x»" + strings.Repeat("漢", 100_000), "…", "…", "x"},
		{"tabs", strings.Repeat("\t", 100_000) + "«x»" + strings.Repeat("\t", 100_000), "…", "…", "x"},
		{"combining", strings.Repeat("\u0301", 100_000) + "«x»", "…", "x", "x"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			lines := strings.Split(draw(t, test.marked), "\n")
			source, under := strings.TrimPrefix(lines[1], "    1 | "), strings.TrimPrefix(lines[2], "      | ")
			if n := columns(lines[1]); n > 165 {
				t.Errorf("the line has %d columns: %s", n, lines[1])
			}
			if !strings.HasPrefix(source, test.begins) || !strings.HasSuffix(source, test.ends) {
				t.Errorf("drawn as %q", source)
			}
			if strings.TrimLeft(under, " ~^") != "" || columns(under) > columns(source)+1 {
				t.Errorf("underlined by %q", under)
			}
			if at := strings.Index(source, test.here); test.here != "" && columns(source[:at]) != strings.Index(under, "^") {
				t.Errorf("the caret misses %q:\n%s\n%s", test.here, source, under)
			}
		})
	}
}

func columns(text string) int {
	n := 0
	for _, r := range text {
		n += runeWidth(r)
	}
	return n
}

func TestHintsAndRelated(t *testing.T) {
	t.Parallel()
	f := NewFile("w.iter", "agent a:\n  model: \"m\"\nagent a:\n")
	list := List{{
		Code: "P121", Severity: Error, Span: Span{f, 28, 29}, Message: "node a is declared\ntwice\x1b", Hint: "rename one of them",
		Related: []Related{{Span{f, 6, 7}, "the first one is here"}},
	}, {
		Code: "C006", Severity: Warning, Message: "without a place",
	}}
	want := `w.iter:3:7: error[P121]: node a is declared␊twice␛
    3 | agent a:
      |       ^
       hint: rename one of them
w.iter:1:7: note: the first one is here
    1 | agent a:
      |       ^
warning[C006]: without a place
`
	if got := render(t, list, false); got != want {
		t.Errorf("got\n%s", got)
	}
	colored := render(t, list, true)
	for _, style := range []string{styleError, styleWarning, styleNote, styleGutter} {
		colored = strings.ReplaceAll(colored, style, "")
	}
	if colored = strings.ReplaceAll(colored, styleEnd, ""); colored != want {
		t.Errorf("colours change more than the style:\n%s", colored)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestRenderReportsWriteErrors(t *testing.T) {
	t.Parallel()
	list := List{{Code: "C006", Severity: Error, Message: "x"}}
	for name, err := range map[string]error{"Render": Render(brokenWriter{}, list, false), "WriteJSON": WriteJSON(brokenWriter{}, list)} {
		if err == nil || err.Error() != "write diagnostics: disk full" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Whatever stands in a file, a drawing has the lines that it should have, no
// control character, and a caret that stands under the line or just behind it.
func TestRenderAnything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a\t漢\x00\r\n é\x{301}]{0,400}`)).Draw(t, "text")
		f := NewFile("w.iter", text)
		start := rapid.IntRange(0, len(text)).Draw(t, "start")
		end := rapid.IntRange(start, len(text)).Draw(t, "end")
		var list List
		list.Errorf("C001", Span{f, start, end}, "", "message")
		var b strings.Builder
		if err := Render(&b, list, false); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(b.String(), "\n")
		if len(lines) != 4 || !utf8.ValidString(b.String()) {
			t.Fatalf("drawn as %q", b.String())
		}
		for _, r := range b.String() {
			if r != '\n' && visible(r) != "" && r != utf8.RuneError {
				t.Fatalf("%U is drawn: %q", r, b.String())
			}
		}
		if !strings.Contains(lines[2], "^") || columns(lines[2]) > max(columns(lines[1]), 8)+1 {
			t.Fatalf("underlined by %q below %q", lines[2], lines[1])
		}
	})
}

func BenchmarkRender(b *testing.B) {
	f := NewFile("w.iter", strings.Repeat("word ", 200_000)+"reviewer"+strings.Repeat(" word", 200_000))
	var list List
	list.Errorf("C001", Span{f, 1_000_000, 1_000_008}, "did you mean x?", "there is no node reviewer")
	for b.Loop() {
		var sink strings.Builder
		if err := Render(&sink, list, true); err != nil {
			b.Fatal(err)
		}
	}
}
