package patch

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestEdit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		content, before, after string
		all                    bool
		want                   string
		line, places           int
	}{
		"once":           {"a\nb\nc\n", "b", "B", false, "a\nB\nc\n", 2, 1},
		"lines":          {"a\nb\nc\n", "a\nb\n", "", false, "c\n", 1, 1},
		"all":            {"x\ny\nx\n", "x", "z", true, "z\ny\nz\n", 1, 2},
		"all, one":       {"x\n", "x", "z", true, "z\n", 1, 1},
		"CRLF":           {"a\r\nb\r\nc\r\n", "a\nb", "A\nB\nx", false, "A\r\nB\r\nx\r\nc\r\n", 1, 1},
		"CRLF, quoted":   {"a\r\nb\r\n", "a\r\n", "A\r\n", false, "A\r\nb\r\n", 1, 1},
		"mixed ends":     {"a\r\nb\nc\n", "b\n", "B\n", false, "a\r\nB\nc\n", 2, 1},
		"not UTF-8":      {"\xffa\xfe", "a", "b", false, "\xffb\xfe", 1, 1},
		"no line end":    {"a", "a", "b", false, "b", 1, 1},
		"regexp, dollar": {"a.b$1", "a.b$1", "$0", false, "$0", 1, 1},
	} {
		got, line, places, err := Edit(c.content, c.before, c.after, c.all)
		if err != nil || got != c.want || line != c.line || places != c.places {
			t.Errorf("%s: %q at line %d in %d places, %v; want %q, %d, %d", name, got, line, places, err, c.want, c.line, c.places)
		}
	}
}

func TestEditRefuses(t *testing.T) {
	t.Parallel()
	const file = "package calc\n\nfunc Add(a, b int) int {\n\treturn a - b\n}\n\nfunc Sub(a, b int) int {\n\treturn a - b\n}\n"
	for name, c := range map[string]struct {
		before, after string
		want          []string
	}{
		"empty":         {"", "x", []string{"is empty"}},
		"same":          {"Add", "Add", []string{"nothing would change"}},
		"twice":         {"return a - b", "return a + b", []string{"2 times, at lines 4, 8", "add lines around it"}},
		"white space":   {"func Add(a, b int) int {\n    return a - b\n}", "x", []string{"lines 3–5 differ from it only in white space:\n3: func Add(a, b int) int {\n4: \treturn a - b\n5: }\n"}},
		"one line off":  {"func Sub(a, b int) int {\n\treturn a + b\n}", "x", []string{"lines 7–9 come closest, but line 8 is not \"\\treturn a + b\":\n7: func Sub", "8: \treturn a - b"}},
		"one line":      {"func Mul(a, b int) int {", "x", []string{"these lines come closest:\n", "3: func Add(a, b int) int {", "7: func Sub(a, b int) int {"}},
		"nothing like":  {"SELECT * FROM t", "x", []string{"not in the file, nor anything like it"}},
		"only braces":   {"}}}", "x", []string{"nor anything like it"}},
		"after the end": {"\treturn a - b\n}\n\nfunc Mul() {}", "x", []string{"come closest"}},
	} {
		got, _, _, err := Edit(file, c.before, c.after, false)
		if err == nil || got != "" {
			t.Errorf("%s: no error", name)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v\nwant %q in it", name, err, want)
			}
		}
	}
}

func TestExplanationsAreShort(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("some words that are the same on every line "+strings.Repeat("x", 2000)+"\n", 500)
	_, _, _, err := Edit(long, strings.Repeat("some words that are the same on every line\n", 300), "y", false)
	if err == nil || len(err.Error()) > 8000 {
		t.Errorf("%d bytes", len(err.Error()))
	}
	_, _, _, err = Edit(strings.Repeat("x\n", 1000), "x", "y", false)
	if err == nil || !strings.Contains(err.Error(), "1000 times, at lines 1, 2, 3, 4, 5 and 995 more") {
		t.Errorf("many places: %v", err)
	}
}

func TestEditIsReplacement(t *testing.T) {
	t.Parallel()
	text := rapid.StringOfN(rapid.RuneFrom([]rune("ab\n\r ")), 0, 40, -1)
	rapid.Check(t, func(t *rapid.T) {
		content, before, after := text.Draw(t, "content"), text.Draw(t, "before"), text.Draw(t, "after")
		got, line, places, err := Edit(content, before, after, true)
		if err != nil {
			return
		}
		if CRLF(content) && !strings.Contains(before, "\r") {
			before = ToCRLF(before)
			if !strings.Contains(after, "\r") {
				after = ToCRLF(after)
			}
		}
		if got != strings.ReplaceAll(content, before, after) || places != strings.Count(content, before) || line < 1 {
			t.Fatalf("got %q, line %d, %d places", got, line, places)
		}
	})
}

func TestDelta(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		old, new       string
		added, removed int
	}{
		{"", "", 0, 0}, {"a\n", "a\n", 0, 0}, {"", "a\nb\n", 2, 0}, {"a\nb", "", 0, 2}, {"a\nb\nc\n", "a\nB\nc\n", 1, 1},
		{"a\nb\nc\n", "c\na\nb\n", 1, 1}, {"a", "a\n", 1, 1}, {"x\na\nb\ny\n", "x\nb\na\ny\n", 1, 1}, {"a\n\n\nb\n", "a\n\nb\n", 0, 1},
	} {
		if added, removed := Delta(c.old, c.new); added != c.added || removed != c.removed {
			t.Errorf("%q to %q: +%d −%d, want +%d −%d", c.old, c.new, added, removed, c.added, c.removed)
		}
	}
	before, after := strings.Repeat("a\n", 5000), strings.Repeat("b\n", 4000)
	if added, removed := Delta(before, after); added != 4000 || removed != 5000 {
		t.Errorf("a long one: +%d −%d", added, removed)
	}
}

func FuzzEdit(f *testing.F) {
	f.Add("func Add() {\n\treturn\n}\n", "func Add() {\n  return\n}", "x", false)
	f.Add("a\r\nb\r\n", "a\nb", "c\n", true)
	f.Fuzz(func(t *testing.T, content, before, after string, all bool) {
		got, _, places, err := Edit(content, before, after, all)
		if (err == nil) != (places > 0 && before != after && before != "" && (all || places == 1)) && err == nil {
			t.Fatalf("%d places, %v", places, err)
		}
		if err != nil && got != "" {
			t.Fatal("an error with a result")
		}
	})
}
