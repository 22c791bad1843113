package syntax_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/syntax"
)

// at finds part in the text's value and returns what its span covers.
func at(t *testing.T, text syntax.Text, part string) string {
	t.Helper()
	i := strings.Index(text.Value, part)
	if i < 0 {
		t.Fatalf("%q is not in %q", part, text.Value)
	}
	return text.At(i, i+len(part)).Text()
}

func TestTextInStrings(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ source, value, part, covers string }{
		{`plain {{x}}`, "plain {{x}}", "{{x}}", "{{x}}"},
		{`a\n{{x}}`, "a\n{{x}}", "{{x}}", "{{x}}"},
		{`\"{{x}}\"`, `"{{x}}"`, "{{x}}", "{{x}}"},
		{`\"{{x}}\"`, `"{{x}}"`, `"`, `\"`},
		{`\u00e9{{x}}\ud83d\ude00{{y}}`, "é{{x}}😀{{y}}", "{{y}}", "{{y}}"},
		{`\u00e9{{x}}\ud83d\ude00{{y}}`, "é{{x}}😀{{y}}", "😀", `\ud83d\ude00`},
		{`\u00e9{{x}}\ud83d\ude00{{y}}`, "é{{x}}😀{{y}}", "}😀{", `}\ud83d\ude00{`},
		{`\\\\{{x}}`, `\\{{x}}`, "{{x}}", "{{x}}"},
		{`\t`, "\t", "\t", `\t`},
		{`é{{x}}`, "é{{x}}", "{{x}}", "{{x}}"},
		{``, "", "", ""},
	} {
		f := silent(t, "agent a:\n  model: \""+test.source+"\"\nworkflow w:\n  entry: a\n  a -> done\n")
		v := f.Node("a").Props.Value("model")
		if v.Str != test.value {
			t.Errorf("%s is %q, want %q", test.source, v.Str, test.value)
			continue
		}
		if got := at(t, v.Text(), test.part); got != test.covers {
			t.Errorf("%s: the place of %q covers %q, want %q", test.source, test.part, got, test.covers)
		}
		if whole := v.Text().Span.Text(); whole != `"`+test.source+`"` {
			t.Errorf("the span of the text is %s", whole)
		}
	}
}

func TestTextInBodies(t *testing.T) {
	t.Parallel()
	source := "prompt p:\r\n\r\n    one {{a}}\r\n\r\n      two {{b}} \t\r\n   \r\n    drei é {{c}}\r\n\r\n\r\nworkflow w:\r\n  entry: x\r\n"
	for _, eol := range []string{"\r\n", "\n"} {
		f := silent(t, strings.ReplaceAll(source, "\r\n", eol))
		body := f.Prompt("p").Body
		if want := "one {{a}}\n\n  two {{b}} \t\n\ndrei é {{c}}"; body.Value != want {
			t.Fatalf("got %q, want %q", body.Value, want)
		}
		for _, part := range []string{"{{a}}", "{{b}}", "{{c}}", "two {{b}}", "one"} {
			if got := at(t, body, part); got != part {
				t.Errorf("%q: the place of %q covers %q", eol, part, got)
			}
		}
		if got, want := body.At(0, len(body.Value)), body.Span; got != want {
			t.Errorf("%q: all of it is %v, want %v", eol, got, want)
		}
	}
}

// Offsets that make no sense are clamped.
func TestTextClamps(t *testing.T) {
	t.Parallel()
	f := silent(t, "prompt p:\n  one\n  two\nworkflow w:\n  entry: x\n")
	body := f.Prompt("p").Body
	for _, r := range [][2]int{{-5, -1}, {100, 200}, {5, 2}, {7, 7}, {0, 0}} {
		span := body.At(r[0], r[1])
		if span.Start < body.Span.Start || span.End > body.Span.End || span.Start > span.End {
			t.Errorf("At(%d, %d) is %d:%d, outside %d:%d", r[0], r[1], span.Start, span.End, body.Span.Start, body.Span.End)
		}
	}
}

// Any byte of a body that is not a line feed stands at its place in the file.
func TestTextPlacesEveryByte(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(rt, "eol")
		lines := rapid.SliceOfN(rapid.StringMatching(` {0,4}[a-zé#"{}\t ]{0,6}`), 1, 8).Draw(rt, "lines")
		var source strings.Builder
		source.WriteString("prompt p:" + eol)
		for _, line := range lines {
			source.WriteString("  " + line + eol)
		}
		source.WriteString("workflow w:" + eol + "  entry: x" + eol)
		file, _ := syntax.Parse(diag.NewFile("p.iter", source.String()))
		body := file.Prompt("p").Body
		for i := range len(body.Value) {
			if c := body.Value[i : i+1]; c != "\n" && body.At(i, i+1).Text() != c {
				rt.Fatalf("byte %d of %q is %q, its place covers %q", i, body.Value, c, body.At(i, i+1).Text())
			}
		}
		if trimmed := strings.TrimSpace(body.Value); trimmed != "" && !strings.Contains(source.String(), strings.SplitN(trimmed, "\n", 2)[0]) {
			rt.Fatalf("%q is not in %q", trimmed, source.String())
		}
	})
}

// What a string says is what was put into it.
func TestStringsRoundTrip(t *testing.T) {
	t.Parallel()
	escape := strings.NewReplacer("\\", `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`)
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringMatching(`[ -~é漢😀\n\t\r\\"]{0,30}`).Draw(rt, "text")
		source := "agent a:\n  model: \"" + escape.Replace(text) + "\" ## comment\nworkflow w:\n  entry: a\n"
		file, list := syntax.Parse(diag.NewFile("s.iter", source))
		if len(list) > 0 {
			rt.Fatalf("%s: %v", source, list)
		}
		v := file.Node("a").Props.Value("model")
		if v.Str != text {
			rt.Fatalf("%q came back as %q", text, v.Str)
		}
		i := rapid.IntRange(0, len(text)).Draw(rt, "from")
		j := rapid.IntRange(i, len(text)).Draw(rt, "to")
		if covers := v.Text().At(i, j).Text(); i == j && covers != "" || !strings.Contains(escape.Replace(text), covers) {
			rt.Fatalf("%q[%d:%d] covers %q", text, i, j, covers)
		}
	})
}
