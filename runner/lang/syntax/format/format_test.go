package format_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/front"
	"github.com/pawl-ci/pawl/runner/lang/syntax"
	"github.com/pawl-ci/pawl/runner/lang/syntax/format"
)

var update = flag.Bool("update", false, "write the second files of testdata anew")

// Each archive of testdata shows a file and how it is laid out.
func TestLayout(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(name)
			if err != nil || len(archive.Files) != 2 {
				t.Fatalf("want two files, before and after: %v", err)
			}
			got := formatted(t, string(archive.Files[0].Data))
			if *update {
				archive.Files[1].Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want := string(archive.Files[1].Data); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func formatted(t testing.TB, text string) string {
	t.Helper()
	out, wrong := format.Source(diag.NewFile("in.iter", text))
	if len(wrong) > 0 {
		t.Fatalf("refused: %v\n%s", wrong, text)
	}
	return out
}

func TestSmallFiles(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want string }{
		{"", ""},
		{"\n \n\t\n", ""},
		{"\ufeff", ""},
		{"## only this", "## only this\n"},
		{"\ufeff# a\r\n\r\n\r\n   ## b \t\r\n", "## a\n\n## b\n"},
		{"#\n##\n###", "##\n##\n###\n"},
		{"#!/usr/bin/pawl\nagent a :", "##!/usr/bin/pawl\nagent a:\n"},
		{"agent a: # x\n tools: [ # y\n  b # z\n ]", "agent a:  ## x\n  tools: [  ## y\n    b  ## z\n  ]\n"},
		{"prompt p:\r\n\r\n\t\r\n     a  \r\n\r\n\r\n       b\r\n\r\n", "prompt p:\n  a  \n\n\n    b\n"},
		{"prompt p:\n## not its text\nprompt q:\n x", "prompt p:\n\n## not its text\nprompt q:\n  x\n"},
		{"prompt p: ## its comment\n  ## its text", "prompt p:  ## its comment\n  ## its text\n"},
		{"vars:\n a:string[]=[\"x\"]", "vars:\n  a: string[] = [\"x\"]\n"},
		{"vars:\n a:json={b:1}", "vars:\n  a: json = { \"b\": 1 }\n"},
		{"schema s:\n a?:string[enum:\"x\",\"y\",]", "schema s:\n  a?: string [enum: \"x\", \"y\"]\n"},
		{"agent a:\n\n\n  model: m\n\n\n  session: \"fork\"\n  timeout: 30m\n\n", "agent a:\n  model: \"m\"\n\n  session: fork\n  timeout: \"30m\"\n"},
		{"agent a:\n tools:[\"read_file\",\"a.b.1\",\"a-b\",\"a.\",\".a\",\"true\",\"a.b c\"]", "agent a:\n  tools: [read_file, a.b.1, \"a-b\", \"a.\", \".a\", \"true\", \"a.b c\"]\n"},
		{"agent a:\n input:\"x\"\n output:\"true\"", "agent a:\n  input: x\n  output: \"true\"\n"},
		{"compute c:\n expr:\n  \"a\" = \"1\"\n  b: \"2\"", "compute c:\n  expr:\n    a: \"1\"\n    b: \"2\"\n"},
		{"workflow w:\n verify: \"auto\"\n a -> b with {\"x\":{y:[{}]}}", "workflow w:\n  verify: \"auto\"\n  a -> b with { x: { \"y\": [{}] } }\n"},
		{"workflow w:\n a -> b with {} as l(3) when not ok ## c", "workflow w:\n  a -> b when not ok as l(3) with {}  ## c\n"},
		{"workflow w:\n a -> b with { ## c\n }", "workflow w:\n  a -> b with {  ## c\n  }\n"},
		{"workflow w:\n a -> b with {\n\n ## c\n\n\n ## d\n\n }", "workflow w:\n  a -> b with {\n    ## c\n\n    ## d\n  }\n"},
		{"mcp_server s:\n env: {\"A\":\"b\",\"a b\":\"c\"}", "mcp_server s:\n  env: { A: \"b\", \"a b\": \"c\" }\n"},
	} {
		if got := formatted(t, test.text); got != test.want {
			t.Errorf("%q\ngives %q\nwant  %q", test.text, got, test.want)
		}
		keeps(t, test.text)
	}
}

// Where the form is wrong nothing is written; what is missing or there twice does
// not keep a file from being laid out.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"agent a:\n  model: \"":                    "P103",
		"agent a:\n\tmodel: \"m\"":                 "P101",
		"agent a:\n  modle: \"m\"\n  session: new": "P123 P141",
		"agent a:\n  model: gpt-5":                 "P107",
		"\xff":                                     "P105",
		"router r:\nagent a:\nagent a:\n  model: \"m\"\n  model: \"n\"": "",
		"schema s:\n  f: int [enum: \"x\"]\nworkflow a:\nworkflow b:":   "",
		"workflow a:\n  x -> y when a when b":                           "P111",
	} {
		var codes []string
		_, wrong := format.Source(diag.NewFile("wrong.iter", text))
		for _, d := range wrong {
			codes = append(codes, string(d.Code))
		}
		if got := strings.Join(codes, " "); got != want {
			t.Errorf("%q is refused for %q, want %q", text, got, want)
		}
	}
}

// corpus is every valid file and every example at hand.
func corpus(t testing.TB) map[string]string {
	t.Helper()
	texts := make(map[string]string)
	for _, pattern := range []string{"../testdata/ok/*.iter", "../../../../testdata/workflows/*.iter", "../../../../docs/editor/testdata/*.iter"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("no files match %s: %v", pattern, err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			texts[name] = string(text)
		}
	}
	for _, rule := range diag.Rules() {
		texts[string(rule.Code)+" good"], texts[string(rule.Code)+" bad"] = rule.Good, rule.Bad
	}
	return texts
}

func TestCorpus(t *testing.T) {
	t.Parallel()
	formatted := 0
	for name, text := range corpus(t) {
		if keeps(t, text) {
			formatted++
		} else if strings.Contains(name, "testdata") {
			t.Errorf("%s is refused", name)
		}
	}
	if formatted < 100 {
		t.Errorf("only %d files could be laid out", formatted)
	}
}

// reporter is a test of any kind.
type reporter interface {
	Helper()
	Errorf(format string, args ...any)
}

// keeps checks all that is promised of a text that can be laid out: it means the
// same afterwards, its comments stay, and it does not change a second time. It
// reports whether the text could be laid out.
func keeps(t reporter, text string) bool {
	t.Helper()
	before := diag.NewFile("file.iter", text)
	out, wrong := format.Source(before)
	if len(wrong) > 0 {
		if out != "" {
			t.Errorf("%q is refused and laid out", text)
		}
		return false
	}
	after := diag.NewFile("file.iter", out)
	again, wrong := format.Source(after)
	if again != out || len(wrong) > 0 {
		t.Errorf("%q\nis laid out as %q\nand then as %q %v", text, out, again, wrong)
	}
	if out != "" && (!strings.HasSuffix(out, "\n") || strings.HasSuffix(out, "\n\n") || strings.HasPrefix(out, "\n")) {
		t.Errorf("%q begins or ends with blank lines, or has no end", out)
	}
	was, oldList := syntax.Parse(before)
	is, newList := syntax.Parse(after)
	if a, b := tree(was), tree(is); a != b {
		t.Errorf("%q\nlaid out as %q\nmeans something else:\n%s", text, out, firstDifference(a, b))
	}
	if a, b := comments(was), comments(is); !slices.Equal(a, b) {
		t.Errorf("%q\nlaid out as %q\nhas other comments: %q, %q", text, out, a, b)
	}
	if a, b := codes(oldList), codes(newList); !slices.Equal(a, b) {
		t.Errorf("%q\nlaid out as %q\nhas other findings: %q, %q", text, out, a, b)
	}
	if a, b := digest(before), digest(after); a != b {
		t.Errorf("%q\nlaid out as %q\nis another workflow", text, out)
	}
	return true
}

// comments are those of a file, as they are to be written.
func comments(f *syntax.File) []string {
	var all []string
	for _, c := range f.Comments {
		text := c.Text()
		if !strings.HasPrefix(text, "##") {
			text = "#" + text
		}
		all = append(all, text)
	}
	return all
}

// codes are the findings without those about comments, which are mended.
func codes(list diag.List) []string {
	var all []string
	for _, d := range list {
		if d.Code != "P109" {
			all = append(all, string(d.Code))
		}
	}
	return all
}

func digest(f *diag.File) string {
	w, list := front.Load(f, front.Options{})
	if w == nil || list.HasErrors() {
		return ""
	}
	return w.Digest()
}

func firstDifference(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	from := max(0, i-80)
	return a[from:min(len(a), i+80)] + "\n" + b[from:min(len(b), i+80)]
}
