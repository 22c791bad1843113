package scan

import (
	"strings"
	"testing"
)

func scanned(line string) string {
	var out []string
	s := Scanner{Src: line, Quiet: true}
	for s.Next(); s.Tok.Kind != EndOfLine; s.Next() {
		out = append(out, kindNames[s.Tok.Kind]+":"+s.Text(s.Tok))
	}
	return strings.Join(out, " ")
}

var kindNames = map[Kind]string{
	Word: "word", Number: "number", Bare: "bare", Quoted: "quoted", Arrow: "arrow", Colon: "colon", Comma: "comma", Equals: "equals",
	Question: "question", OpenList: "list", CloseList: "list", OpenObject: "object", CloseObject: "object", OpenCount: "count", CloseCount: "count", Junk: "junk",
}

func TestTokens(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"":                          "",
		"  ## all of it":            "",
		"a->b":                      "word:a arrow:-> word:b",
		"a-b->c":                    "bare:a-b arrow:-> word:c",
		"a -> b as l(3)":            "word:a arrow:-> word:b word:as word:l count:( number:3 count:)",
		"x?: string[]":              "word:x question:? colon:: word:string list:[ list:]",
		"mcp.server.tool.1":         "word:mcp.server.tool.1",
		"a. b":                      "bare:a. word:b",
		"-1.5e-3 2 -x - 3":          "number:-1.5e-3 number:2 junk:- word:x junk:- number:3",
		"1. 1e 1.5.2 30m 1h30m 007": "bare:1. bare:1e bare:1.5.2 bare:30m bare:1h30m number:007",
		`"a" "b\"c" "d\\" "e`:       `quoted:"a" quoted:"b\"c" quoted:"d\\" quoted:"e`,
		`"a\`:                       `quoted:"a\`,
		`"##" ## "`:                 `quoted:"##"`,
		"a # b":                     "word:a",
		"a #":                       "word:a",
		"a # b\nc":                  "word:a",
		"a #b":                      "word:a junk:# word:b",
		"gpt-5:latest, x/y":         "bare:gpt-5 colon:: word:latest comma:, bare:x/y",
		"{{a.b}}":                   "object:{ object:{ word:a.b object:} object:}",
		"modèle “x” é漢":             "bare:modèle junk:“ word:x junk:” bare:é漢",
		"a\x00b\x07c":               "word:a word:b word:c",
		"a\tb":                      "word:a word:b",
		"a\rb\r\n":                  "word:a junk:\r word:b",
		"=>":                        "equals:= junk:>",
		"\xff\xfe":                  "bare:\xff\xfe",
	} {
		if got := scanned(line); got != want {
			t.Errorf("%q\n got %s\nwant %s", line, got, want)
		}
	}
}

// Tokens lie one behind the other, the scanner never leaves its line unasked, and
// it comes to the end: through every line, as statements and as text.
func FuzzScanner(f *testing.F) {
	for _, text := range []string{"", "a -> b", `"x\`, "\xff-", "é->“", "-", "1.", "##", "#", "a # b", "a.b-c", "\r\n", "\u2028x", "a:\n  b\r\n\n\tc\n# d\n", "\"\\u00e9\\n\\q\""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := Scanner{Src: text, Odd: func(_ Oddity, start, end int) {
			if start < 0 || start >= end || end > len(text) {
				t.Fatalf("something odd stands at %d:%d of %d bytes", start, end, len(text))
			}
		}}
		end := 0
		for s.Line(0); s.Tok.Kind != EndOfFile; s.NextLine() {
			line := s.LineEnd(s.First)
			for ; s.Tok.Kind != EndOfLine; s.Next() {
				if s.Tok.Start < end || s.Tok.End <= s.Tok.Start || s.Tok.End > line {
					t.Fatalf("token %+v behind %d, the line ends at %d", s.Tok, end, line)
				}
				end = s.Tok.End
			}
			if s.Pos > line {
				t.Fatalf("the scanner stands at %d, the line ends at %d", s.Pos, line)
			}
		}
		checkComments(t, text, s.Comments)
		checkBody(t, text)
		value, places := Unescape(text, 0, len(text), func(int, int) {})
		checkPlaces(t, text, Text{Value: value, End: len(text), Places: places})
	})
}

func checkComments(t *testing.T, text string, comments [][2]int) {
	t.Helper()
	end := 0
	for _, c := range comments {
		if c[0] < end || c[1] <= c[0] || c[1] > len(text) || text[c[0]] != '#' || strings.Contains(text[c[0]:c[1]], "\n") {
			t.Fatalf("a comment at %d:%d behind %d", c[0], c[1], end)
		}
		end = c[1]
	}
}

// checkBody reads everything as text below a line.
func checkBody(t *testing.T, text string) {
	t.Helper()
	text = ":\n" + text
	s := Scanner{Src: text, Quiet: true}
	s.Line(0)
	body := s.Body(0)
	checkPlaces(t, text, body)
	if strings.HasPrefix(body.Value, "\n") || strings.HasSuffix(body.Value, "\n") {
		t.Fatalf("the text %q begins or ends with a blank line", body.Value)
	}
}

// checkPlaces sees to it that the places of a text's bytes lie in it, in order.
func checkPlaces(t *testing.T, src string, text Text) {
	t.Helper()
	if text.Places == nil {
		if text.Value != src[text.Start:text.Start+len(text.Value)] {
			t.Fatalf("%q is said to stand at %d as it is", text.Value, text.Start)
		}
		return
	}
	last := text.Start
	for i := range text.Value {
		from, to := text.Places.At(len(text.Value), i, i+1)
		if from < last || to <= from || to > text.End {
			t.Fatalf("byte %d of %q comes from %d:%d, behind %d", i, text.Value, from, to, last)
		}
		last = from
	}
}

func TestUnquoted(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text      string
		bracketed bool
		want      string
	}{
		{"a b  ", false, "a b"},
		{"a b\r\nc", false, "a b"},
		{"a, b] ## c", false, "a, b]"},
		{"a#b ## c", false, "a#b"},
		{"a #1 # c", false, "a #1"},
		{"a, b", true, "a"},
		{"a b] c", true, "a b"},
		{"x {{a, b}}}", true, "x {{a, b}}"},
		{"x {{a, b", true, "x {{a"},
	} {
		s := Scanner{Src: test.text}
		end := s.Unquoted(0, test.bracketed)
		if test.text[:end] != test.want || s.Pos < end {
			t.Errorf("%q ends as %q, the scanner stands at %d", test.text, test.text[:end], s.Pos)
		}
	}
}
