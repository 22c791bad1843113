package scan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// told are the oddities of a text with the lines that are neither blank nor
// comments, each as indentation and first token.
func told(text string) (lines, odd []string) {
	s := Scanner{Src: text}
	s.Odd = func(what Oddity, start, end int) {
		odd = append(odd, fmt.Sprintf("%d:%q", what, text[start:end]))
	}
	for s.Line(0); s.Tok.Kind != EndOfFile; s.NextLine() {
		lines = append(lines, fmt.Sprintf("%d%s", s.Indent, s.Text(s.Tok)))
	}
	return lines, odd
}

func TestLines(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text       string
		lines, odd []string
	}{
		{"", nil, nil},
		{"\n \n\r\n  \r\n## a\n  ## b", nil, nil},
		{"a\n  b\n\n ## c\nd", []string{"0a", "2b", "0d"}, nil},
		{"a\r\n  b\r\n", []string{"0a", "2b"}, nil},
		{"\ta\n\t\tb\nc\n \td", []string{"2a", "4b", "0c", "3d"}, []string{`0:"\t"`, `0:"\t"`}},
		{"# a\n# b\nc\n  # d", []string{"0c"}, []string{`1:"#"`, `1:"#"`}},
		{"a ## b\n\t\n\t## c", []string{"0a"}, nil},
		{"a # b\n# c\n# d\ne\n# f", []string{"0a", "0e"}, []string{`1:"#"`, `1:"#"`}},
	} {
		lines, odd := told(test.text)
		if !slices.Equal(lines, test.lines) || !slices.Equal(odd, test.odd) {
			t.Errorf("%q: lines %q, odd %q", test.text, lines, odd)
		}
	}
}

func TestQuiet(t *testing.T) {
	t.Parallel()
	s := Scanner{Src: "\ta\n# b\n", Quiet: true, Odd: func(Oddity, int, int) { t.Error("something is told") }}
	for s.Line(0); s.Tok.Kind != EndOfFile; s.NextLine() {
	}
	if want := [][2]int{{3, 6}}; !slices.Equal(s.Comments, want) {
		t.Errorf("comments are %v", s.Comments)
	}
}

func TestBody(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, value, next string }{
		{"p:", "", ""},
		{"p:\n", "", ""},
		{"p:\nq", "", "q"},
		{"p:\n  a", "a", ""},
		{"p:\n\n  a\n\n\nq", "a", "q"},
		{"p:\n    a\n  b\n   c\nq", "  a\nb\n c", "q"},
		{"p:\r\n  a\r\n \r\n  b\r\nq", "a\n\nb", "q"},
		{"p:\n  ## a\n  # b \"\n", "## a\n# b \"", ""},
		{"p:\n  a\tb\n  \tc\nq", "a\tb\n\tc", "q"},
		{"p:\n\ta\n\tb\nq", "a\nb", "q"},
		{"p:\n\ta\n\t\tb\nq", "a\n\tb", "q"},
	} {
		s := Scanner{Src: test.text, Odd: func(Oddity, int, int) {}}
		s.Line(0)
		if body := s.Body(0); body.Value != test.value || s.Text(s.Tok) != test.next {
			t.Errorf("%q: %q, then %q", test.text, body.Value, s.Text(s.Tok))
		}
	}
	s := Scanner{Src: "\tp:\n\t\ta\n\tq:\n"}
	tabs := 0
	s.Odd = func(Oddity, int, int) { tabs++ }
	s.Line(0)
	if body := s.Body(s.Indent); body.Value != "a" || s.Text(s.Tok) != "q" || tabs != 2 {
		t.Errorf("a body among tabs is %q, then %q, %d tabs told", body.Value, s.Text(s.Tok), tabs)
	}
}

func TestUnescape(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, value, bad string }{
		{`plain`, `plain`, ""},
		{`\n\t\r\"\\`, "\n\t\r\"\\", ""},
		{`\u0041\u00e9\u6f22`, "Aé漢", ""},
		{`\ud83d\ude00`, "😀", ""},
		{`a\qb`, `a\qb`, `\q`},
		{`\q\n`, "\\q\n", `\q`},
		{`\é`, `\é`, `\é`},
		{`\u12 \uzzzz`, `\u12 \uzzzz`, `\u \u`},
		{`\ud83d`, `\ud83d`, `\u`},
		{`\ud83dx\n`, "\\ud83dx\n", `\u`},
		{`\ude00\ud83d`, `\ude00\ud83d`, `\u \u`},
		{`\u0000`, `\u0000`, `\u`},
		{`a\`, `a\`, ""},
	} {
		var bad []string
		src := `x"` + test.text + `"y`
		value, places := Unescape(src, 2, len(src)-2, func(start, end int) { bad = append(bad, src[start:end]) })
		if value != test.value || strings.Join(bad, " ") != test.bad {
			t.Errorf("%s: %q, bad %q", test.text, value, bad)
		}
		if places == nil != (value == test.text) {
			t.Errorf("%s: places are %v", test.text, places)
		}
	}
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	src := `ab\ncd\u00e9ef`
	value, places := Unescape(src, 0, len(src), nil)
	for _, test := range []struct{ part, covers string }{
		{"ab", "ab"}, {"b\n", `b\n`}, {"\n", `\n`}, {"\ncd", `\ncd`}, {"é", `\u00e9`}, {"\xa9e", `\u00e9e`}, {"ef", "ef"}, {value, src},
	} {
		i := strings.Index(value, test.part)
		if from, to := places.At(len(value), i, i+len(test.part)); src[from:to] != test.covers {
			t.Errorf("%q covers %q, want %q", test.part, src[from:to], test.covers)
		}
	}
	if from, to := places.At(len(value), len(value), len(value)); from != len(src) || to != len(src) {
		t.Errorf("the end is at %d:%d", from, to)
	}
	if from, to := Whole(3, 9).At(4, 1, 2); from != 3 || to != 9 {
		t.Errorf("a whole is %d:%d", from, to)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"bug-fixer": "bug_fixer", "a.b": "a_b", "fixer;": "fixer", "é1": "_1", "3rd": "", "---": "", "": "", strings.Repeat("a-", 50): "",
	} {
		if got := PlainName(text); got != want || got != "" && !IsName(got) {
			t.Errorf("%q could be %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]bool{"a": true, "_": true, "a1_B": true, "": false, "1a": false, "a-b": false, "é": false, "a b": false} {
		if IsName(text) != want {
			t.Errorf("%q is a name: %t", text, !want)
		}
	}
	if !IsLetter('a') || !IsLetter('_') || IsLetter('1') || IsLetter(0) || IsLetter(0xc3) {
		t.Error("a letter is none, or the other way round")
	}
}

// What eight bytes at a time find is what one at a time would.
func TestControls(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOfN(rapid.SampledFrom([]byte("abc é\x80\xff\n\n\r\t\x00\x1f\x7f\x0b ~")), 0, 40).Draw(t, "text"))
		want, first := 0, 0
		for i := range len(text) {
			c := text[i]
			odd := c < ' ' && c != '\n' && c != '\t' || c == 0x7f
			if c == '\r' && strings.HasPrefix(text[i:], "\r\n") {
				odd = false
			}
			if odd {
				if want++; want == 1 {
					first = i
				}
			}
		}
		if found, at := Controls(text); found != want || at != first {
			t.Fatalf("%q: %d from %d on, want %d from %d on", text, found, at, want, first)
		}
	})
}

func TestBroken(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOfN(rapid.SampledFrom([]byte("a\xc3\xa9\xe6\xbc\xa2\xff\x80")), 0, 20).Draw(t, "text"))
		found, first := Broken(text)
		if found == 0 != utf8.ValidString(text) || found > 0 && !utf8.ValidString(text[:first]) || found > 0 && utf8.ValidString(text[:first+1]) {
			t.Fatalf("%q: %d from %d on", text, found, first)
		}
	})
}

// A body holds what a naive reading finds.
func TestBodyIsWhatWasIndented(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.StringMatching(` {0,3}[a#"é]{0,4}`), 1, 8).Draw(t, "lines")
		depth := rapid.IntRange(1, 5).Draw(t, "depth")
		eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")
		text, least := "p:"+eol, 99
		for _, line := range lines {
			text += strings.Repeat(" ", depth) + line + eol
			if rest := strings.TrimLeft(line, " "); rest != "" {
				least = min(least, len(line)-len(rest))
			}
		}
		var want []string
		for _, line := range lines {
			if strings.TrimLeft(line, " ") == "" {
				line = ""
			} else {
				line = line[least:]
			}
			want = append(want, line)
		}
		for len(want) > 0 && want[0] == "" {
			want = want[1:]
		}
		for len(want) > 0 && want[len(want)-1] == "" {
			want = want[:len(want)-1]
		}
		s := Scanner{Src: text + "q"}
		s.Line(0)
		if body := s.Body(0); body.Value != strings.Join(want, "\n") || s.Text(s.Tok) != "q" {
			t.Fatalf("%q: %q, want %q, then %q", text, body.Value, strings.Join(want, "\n"), s.Text(s.Tok))
		}
	})
}
