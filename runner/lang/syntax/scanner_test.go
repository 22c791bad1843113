package syntax

import (
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/runner/lang/diag"
)

func scanned(line string) string {
	var out []string
	s := scanner{src: line, file: diag.NewFile("s.iter", line)}
	for s.next(); s.tok.kind != endOfLine; s.next() {
		out = append(out, kindNames[s.tok.kind]+":"+s.text(s.tok))
	}
	return strings.Join(out, " ")
}

var kindNames = map[kind]string{
	word: "word", number: "number", bare: "bare", quoted: "quoted", arrow: "arrow", colon: "colon", comma: "comma", equals: "equals",
	question: "question", openList: "list", closeList: "list", openObject: "object", closeObject: "object", openCount: "count", closeCount: "count", junk: "junk",
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
		"a # b":                     "word:a junk:# word:b",
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

// Tokens lie one behind the other, and the scanner never leaves its line.
func FuzzScanner(f *testing.F) {
	for _, line := range []string{"", "a -> b", `"x\`, "\xff-", "é->“", "-", "1.", "##", "#", "a.b-c", "\r\n", "\u2028x"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := scanner{src: text, file: diag.NewFile("s.iter", text)}
		line := s.lineEnd(0)
		end := 0
		for s.next(); s.tok.kind != endOfLine; s.next() {
			if s.tok.start < end || s.tok.end <= s.tok.start || s.tok.end > line {
				t.Fatalf("token %+v behind %d, the line ends at %d", s.tok, end, line)
			}
			end = s.tok.end
		}
		if s.pos > line {
			t.Fatalf("the scanner stands at %d, the line ends at %d", s.pos, line)
		}
	})
}
