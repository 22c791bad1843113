package source

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestReadYAMLPlaces(t *testing.T) {
	t.Parallel()
	root, err := ReadYAML("f", []byte("a: 1\nlist:\n  - é: {x: y}\n  - |\n    text\n"))
	if err != nil {
		t.Fatal(err)
	}
	items := root.Field("list")
	for what, c := range map[string]struct{ got, want Place }{
		"root": {root.At, Place{1, 1}}, "list": {items.At, Place{3, 3}}, "first item": {items.Items[0].At, Place{3, 5}},
		"inner": {items.Items[0].Field("é").At, Place{3, 8}}, "x": {items.Items[0].Field("é").Fields[0].At, Place{3, 9}},
		"y": {items.Items[0].Field("é").Field("x").At, Place{3, 12}}, "literal": {items.Items[1].At, Place{4, 5}},
	} {
		if c.got != c.want {
			t.Errorf("%s at %v, want %v", what, c.got, c.want)
		}
	}
	if root.Field("nothing") != nil || items.Field("a") != nil {
		t.Error("a field that is not there was found")
	}
}

func TestYAMLNumbersKeepTheirDigits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"1": "1", "-5": "-5", "1.50": "1.50", "0x1F": "31", "1_000": "1000", "0o17": "15", "+5": "5",
	} {
		root, err := ReadYAML("f", []byte("n: "+text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if n := root.Field("n"); n.JSON() != want || n.Source != text || n.Kind != Number {
			t.Errorf("%s is read as %s, written as %s (%s)", text, n.JSON(), n.Source, n.Kind)
		}
	}
}

// Reading JSON and writing it again changes nothing but white space.
func FuzzReadLines(f *testing.F) {
	for _, seed := range []string{
		`{"b": [1, 2.50, -0, 1e400, null, true], "a": "\u003c\ud83d\ude00\n"}`, `{"": {"x": {}}, "y": []}`, `{"a":1,"a":2}`, `[`, `{"a" 1}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if strings.ContainsAny(line, "\n") {
			return
		}
		root, err := ReadLines("f", []byte(line), "items", "item")
		if err != nil {
			return
		}
		read := root.JSON()
		if items := root.Field("items").Items; len(items) == 1 {
			read = items[0].JSON()
		} else {
			read = strings.TrimSuffix(strings.TrimSuffix(read, `"items":[]}`), ",") + "}"
		}
		if strings.TrimSpace(line) == "" {
			line = "{}"
		}
		if !reflect.DeepEqual(decode(t, read), decode(t, line)) {
			t.Fatalf("%s became %s", line, read)
		}
	})
}

func decode(t *testing.T, text string) (v any) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return v
}
