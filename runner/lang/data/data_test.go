package data_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/pawl-ci/pawl/runner/lang/data"
	"github.com/pawl-ci/pawl/runner/lang/diag"
)

func read(t *testing.T, text string) *data.Value {
	t.Helper()
	v, list := data.Read(diag.NewFile("f", text))
	if v == nil || len(list) > 0 {
		t.Fatalf("%q: %v", text, list)
	}
	return v
}

// The same values in every way of writing them.
func TestPlain(t *testing.T) {
	t.Parallel()
	want := map[string]any{"a": 1, "b": []any{true, nil, "x y", 2.5}, "c": map[string]any{"é": "true", "n": -3}}
	for name, text := range map[string]string{
		"json":        `{"a": 1, "b": [true, null, "x y", 2.5], "c": {"é": "true", "n": -3}}`,
		"json, tabs":  "\uFEFF{\n\t\"a\": 1,\r\n\t\"b\": [true, null, \"x\\u0020y\", 2.5],\n\t\"c\": {\"\\u00e9\": \"true\", \"n\": -3}\n}\n",
		"yaml":        "a: 1\nb: [true, null, x y, 2.5]\nc:\n  é: \"true\"\n  n: -3\n",
		"yaml, lists": "# said\n---\na: 0x1\nb:\n  - true\n  - ~\n  - 'x y'\n  - 2.5\nc: {é: 'true', n: -3}\n",
		"yaml, CRLF":  "a: 1\r\nb:\r\n- true\r\n-\r\n- x\r\n  y\r\n- 2.5\r\nc:\r\n  \"é\": \"true\"\r\n  n: -3\r\n",
	} {
		if got := read(t, text).Plain(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %#v", name, got)
		}
	}
	if got := read(t, `{"n": 1e999}`).Plain(); !reflect.DeepEqual(got, map[string]any{"n": "1e999"}) {
		t.Errorf("a number beyond any float is %#v", got)
	}
}

// Every value stands where it says, whatever way of quoting it is written in.
func TestSpans(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"json":          `{"k": "é {{vars.x}} end"}`,
		"json, escapes": `{"k": "\u00e9 \"{{vars.x}}\" \ud83d\ude00\n{{end}}"}`,
		"plain":         "k: é {{vars.x}} end",
		"several lines": "k: é\n  {{vars.x}}\n\n  end",
		"single":        "k: 'é it''s {{vars.x}} end'",
		"double":        `k: "\xe9 \"\t{{vars.x}} end\U0001F600"`,
		"double, lines": "k: \"é\n  {{vars.x}} \\\n   end\"",
		"literal":       "k: |\n  é {{ x\n\n    {{vars.x}} end\n",
		"literal, CRLF": "k: |-\r\n  é\r\n  {{vars.x}} end\r\n",
		"folded":        "k: >-\n  é\n  {{vars.x}}\n  end\n",
		"in a list":     "k:\n - - z: |\n      é\n      {{vars.x}} end\n",
		"BOM":           "\uFEFFk: é {{vars.x}} end",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := read(t, text).Field("k")
			for v.Kind != data.Text {
				if v.Kind == data.List {
					v = v.Items[0]
				} else {
					v = v.Fields[0].Value
				}
			}
			for _, word := range []string{"{{vars.x}}", "end"} {
				i := strings.Index(v.Str, word)
				if i < 0 {
					t.Fatalf("read %q", v.Str)
				}
				if got := v.At(i, i+len(word)).Text(); got != word {
					t.Errorf("%q stands at %q", word, got)
				}
			}
			if got := v.At(0, len(strings.TrimRight(v.Str, "\n"))); got.Start < v.Span.Start || got.End > v.Span.End {
				t.Errorf("the text is at %v, its value at %v", got, v.Span)
			}
		})
	}
	root := read(t, "a: [1, \"b\"]\nc: {d: true}\n")
	for want, v := range map[string]*data.Value{"1": root.Field("a").Items[0], `"b"`: root.Field("a").Items[1], "true": root.Field("c").Field("d")} {
		if got := v.Span.Text(); got != want {
			t.Errorf("%s stands at %q", want, got)
		}
	}
	if got := root.Fields[1].At.Text(); got != "c" {
		t.Errorf("the key c stands at %q", got)
	}
	if root.Field("x") != nil || root.Field("a").Field("x") != nil {
		t.Error("a field that is not there was found")
	}
}

// What is written as JSON is read back, with each letter at its place.
func TestJSONRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.StringMatching(`[a-z"\\\n\t {}é😀<&]{0,30}`), rapid.String()).Draw(t, "text")
		raw, err := json.Marshal(map[string]any{"k": text, "n": rapid.Float64().Draw(t, "n")})
		if err != nil {
			t.Fatal(err)
		}
		v, list := data.Read(diag.NewFile("f", string(raw)))
		if v == nil || len(list) > 0 {
			t.Fatalf("%s: %v", raw, list)
		}
		got := v.Field("k")
		if want := strings.ToValidUTF8(text, "\uFFFD"); got.Str != want && utf8.ValidString(text) {
			t.Fatalf("%s is read as %q", raw, got.Str)
		}
		for i, r := range got.Str {
			var back string
			if json.Unmarshal([]byte(`"`+got.At(i, i+1).File.Text[got.At(i, i+1).Start:got.At(i+len(string(r)), len(got.Str)).Start]+`"`), &back) != nil || back != string(r) {
				t.Fatalf("%s: byte %d (%q) stands at %q", raw, i, r, got.At(i, i+1).Text())
			}
		}
	})
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, at, message string }{
		{"", "f:1:1", "the file is empty"},
		{"# only a remark\n", "f:1:1", "the file is empty"},
		{"a: 1\n---\nb: 2\n", "f:3:1", "a second document: a file holds one"},
		{"a: &x 1\nb: *x\n", "f:1:4", "anchors and aliases (& and *) are not read"},
		{"a: !!str 1\n", "f:1:4", "tags (!) are not read"},
		{"a: 1\n  b: 2\n", "f:1:4", "not valid YAML: "},
		{"a: [1, 2\n", "f:1:4", "not valid YAML: "},
		{"? [a]\n: b\n", "f:2:1", "not valid YAML: "},
		{"a: .inf\n", "f:1:4", "inf cannot be read"},
		{`{"a": 1`, "f:1:8", "not valid JSON: the file ends too early"},
		{"{\"a\": 1,\n  b: 2}", "f:2:3", "not valid JSON: invalid character 'b'"},
		{`{"a": 1} x`, "f:1:10", "not valid JSON: text after the end of the value"},
		{strings.Repeat("[", 200) + strings.Repeat("]", 200), "f:1:102", "values are nested more than 100 deep"},
		{strings.Repeat("- ", 200) + "x", "f:1:", "values are nested more than 100 deep"},
		{`{"a": ` + strings.Repeat("[", 200), "f:1:107", "values are nested more than 100 deep"},
		{strings.Repeat("[a,", 50_000), "f:1:", "values are nested more than 100 deep"},
		{strings.Repeat("a", 300_000), "f:1:1", "f has 300000 bytes: at most 262144 are read"},
	} {
		v, list := data.Read(diag.NewFile("f", c.text))
		if v != nil || len(list) != 1 || list[0].Code != "P180" || !strings.HasPrefix(list[0].Message, c.message) || !strings.HasPrefix(list[0].Span.String(), c.at) {
			t.Errorf("%.40q: %v %v at %v, want %s: %s", c.text, v, list, list[0].Span, c.at, c.message)
		}
	}
}

// A key that is there twice is an error at the second place; reading goes on.
func TestDuplicateKeys(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"a: 1\nb:\n  c: 1\n  c: 2\na: 2\n", `{"a": 1, "b": {"c": 1, "c": 2}, "a": 2}`} {
		v, list := data.Read(diag.NewFile("f", text))
		if len(list) != 2 || list[0].Code != "P128" || list[0].Span.Start >= list[1].Span.Start || list[1].Related[0].Span.Start > 2 {
			t.Errorf("%q: %v", text, list)
		}
		if want := map[string]any{"a": 1, "b": map[string]any{"c": 1}}; !reflect.DeepEqual(v.Plain(), want) {
			t.Errorf("%q is read as %v", text, v.Plain())
		}
	}
}

// Whatever the text: no panic, spans that lie in the file, and a value or a reason.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"a: 1\nb: [x, 'y', \"z\\n\"]\n", `{"a": {"b": [1, 2.5e3, null, true, "\ud83d\ude00"]}}`, "a: |\n  x\n\n   y\nb: >-\n  z\n", "\uFEFF? a\n: b\n",
		"a: 'it''s\n\n  so'\n", "- - -\n", "a: \"x\\\n  y\"\n", "a: !!x\n", "{\"a\":1,}", "\"\\", "a: |\n\n\n", "<<: {a: 1}\n", "a:\r\n  b\r\n", "\xff: \xfe\n", "? |\n  k\n: v\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, list := data.Read(diag.NewFile("f", text))
		if v == nil && len(list) == 0 {
			t.Fatal("neither a value nor a reason")
		}
		for _, d := range list {
			inside(t, d.Span)
		}
		if v != nil {
			walk(t, v)
			v.Plain()
		}
	})
}

func walk(t *testing.T, v *data.Value) {
	inside(t, v.Span)
	for i := range v.Str {
		inside(t, v.At(i, i+1))
	}
	for _, item := range v.Items {
		walk(t, item)
	}
	for _, f := range v.Fields {
		inside(t, f.At)
		walk(t, f.Value)
	}
}

func inside(t *testing.T, s diag.Span) {
	if s.File == nil || s.Start < 0 || s.End < s.Start || s.End > len(s.File.Text) {
		t.Fatalf("a span lies outside of the file: %d to %d", s.Start, s.End)
	}
}
