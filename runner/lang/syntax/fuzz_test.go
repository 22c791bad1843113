package syntax_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/syntax"
)

// nasty are texts that have broken parsers before.
var nasty = []string{
	"", "\x00", "\ufeff", "\ufeffagent a:", "\r", "\n\r\n", "\t", "\xff\xfe", "\"", "agent", "agent a", "agent a:", "agent a:\n", "agent a:\n ",
	"agent a:\n\tmodel: \"m\"", "agent a:\n  model:", "agent a:\n  model: \"", "agent a:\n  model: \"\\", "agent a:\n  model: \"\\u", "agent a:\n  model: \"\\ud800\\",
	"prompt p:", "prompt p:\n\n\n", "prompt p:\n  a\n b\n\tc\n   d", "prompt p:\n  \r\n", "prompt p: x\n  y", "prompt p:\n  a\r\n  b\r", "prompt p:\n\ta\n\t\tb",
	"schema s:\n  a: string [enum: ", "schema s:\n  a?: string[] [", "vars:\n  a: json = [[[[", "vars:\n  a: json = {{{{", "vars:\n  a: json = [\n\n\n", "vars:\n a: json = {\"a\": {\"b\": [}",
	"workflow w:\n  a -> b with {", "workflow w:\n  a -> b with {\n  c -> d", "workflow w:\n  a -> b with { x: {{", "workflow w:\n  a->b->c when as with (",
	"workflow w:\n  a -> b as l(", "workflow w:\n  verify: [", "workflow w:\n  budget:\n    mcp:\n      budget:", "workflow w:\n agent a:\n  agent b:\n   agent c:",
	"tool t:\n  command:\n", "tool t:\n  command:\n    x\n\n", "tool t:\n  with:\n    a:\n      b: c", "tool t:\n  with: {\n a: 1\n b: 2\n}", "# a\n# b\nagent a:", "#", "##", "agent a: ##", "–", "→ → →", "a: b: c", "]", "}}}}", "= = =",
	"agent é:\n", "agent a\xffb:\n  model: \xff\n", "vars:\n  é: ü = ö\n", "agent a:\n  tools: [a\n  b: c\n", "vars:\n  a: int = -\n  b: int = 1e\n  c: int = 1.\n  d: int = 00012\n  e: float = 1e400\n",
	"compute c:\n  expr:\n    a = \"1\"\n    = 2\n    b = = 3\n", "router r:\n  mode: [a:\n  b]\n", "  agent a:\n    model: \"m\"\n agent b:\n", "router r:\n  mode: [fan_out_all]\n", "mcp_server s:\n  env: { \"\": \"\", \"a\": }\n",
}

func seeds(f *testing.F) {
	f.Helper()
	for _, text := range nasty {
		f.Add(text)
	}
	for _, rule := range diag.Rules() {
		f.Add(rule.Bad)
	}
	names, err := filepath.Glob("testdata/*/*.iter")
	if err != nil || len(names) == 0 {
		f.Fatalf("no files in testdata: %v", err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
}

// Whatever the text, Parse returns, its spans lie in the file, its diagnostics
// are sorted and drawn, and it says the same thing the next time.
func FuzzParse(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		file := diag.NewFile("fuzz.iter", text)
		tree, list := syntax.Parse(file)
		checkTree(t, tree)
		checkList(t, file, list)
		var first, second bytes.Buffer
		again, other := syntax.Parse(file)
		if !reflect.DeepEqual(tree, again) {
			t.Error("the second tree is different")
		}
		if err := diag.Render(&first, list, true); err != nil {
			t.Error(err)
		}
		if err := diag.Render(&second, other, true); err != nil {
			t.Error(err)
		}
		if first.String() != second.String() {
			t.Error("the second list is different")
		}
	})
}

// everyByte is up to which length a file is cut at every byte.
const everyByte = 1000

// Cutting a file anywhere leaves the parser with something it can say.
func TestEveryPrefix(t *testing.T) {
	t.Parallel()
	for _, f := range append(testFiles(t, "ok"), testFiles(t, "err")...) {
		t.Run(filepath.Base(f.Name), func(t *testing.T) {
			t.Parallel()
			for i := 0; i < len(f.Text); i += 1 + len(f.Text)/everyByte {
				cut := diag.NewFile("cut.iter", f.Text[:i])
				tree, list := syntax.Parse(cut)
				checkTree(t, tree)
				checkList(t, cut, list)
			}
		})
	}
}

func TestNasty(t *testing.T) {
	t.Parallel()
	for _, text := range nasty {
		file := diag.NewFile("nasty.iter", text)
		tree, list := syntax.Parse(file)
		checkTree(t, tree)
		checkList(t, file, list)
		if len(list) == 0 {
			t.Errorf("%q: no diagnostics", text)
		}
	}
}

func checkList(t *testing.T, f *diag.File, list diag.List) {
	t.Helper()
	for _, d := range list {
		checkSpan(t, f, string(d.Code), d.Span)
		for _, r := range d.Related {
			checkSpan(t, f, string(d.Code)+" related", r.Span)
		}
		if d.Message == "" || strings.ContainsAny(d.Message, "\n") {
			t.Errorf("%s: message %q", d.Code, d.Message)
		}
	}
	sorted := slices.Clone(list)
	sorted.Sort()
	if !reflect.DeepEqual(sorted, list) {
		t.Errorf("the list is not sorted: %v", list)
	}
}

func checkSpan(t *testing.T, f *diag.File, what string, s diag.Span) {
	t.Helper()
	if s.File != f || s.Start < 0 || s.Start > s.End || s.End > len(f.Text) {
		t.Fatalf("%s: span %d:%d of a file of %d bytes", what, s.Start, s.End, len(f.Text))
	}
}

// checkTree walks the whole tree: every span lies in the file, every value has a
// kind, and every name that is plain reads as its span.
func checkTree(t *testing.T, tree *syntax.File) {
	t.Helper()
	walk(t, tree.Source, "File", reflect.ValueOf(tree).Elem())
}

var (
	spanType  = reflect.TypeFor[diag.Span]()
	textType  = reflect.TypeFor[syntax.Text]()
	valueType = reflect.TypeFor[syntax.Value]()
)

func walk(t *testing.T, f *diag.File, path string, v reflect.Value) {
	t.Helper()
	switch {
	case v.Type() == spanType:
		if s := v.Interface().(diag.Span); !s.IsZero() {
			checkSpan(t, f, path, s)
		}
		return
	case v.Type() == textType:
		checkText(t, f, path, v.Interface().(syntax.Text))
		return
	case v.Type() == valueType:
		checkValue(t, f, path, v.Interface().(syntax.Value))
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && v.Type() != reflect.TypeFor[*diag.File]() {
			walk(t, f, path, v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			walk(t, f, fmt.Sprintf("%s[%d]", path, i), v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() {
				walk(t, f, path+"."+field.Name, v.Field(i))
			}
		}
	}
}

func checkValue(t *testing.T, f *diag.File, path string, v syntax.Value) {
	t.Helper()
	if v.Kind < syntax.StringValue || v.Kind > syntax.BlockValue {
		t.Fatalf("%s: a value of kind %d", path, v.Kind)
	}
	checkSpan(t, f, path, v.Span)
	checkText(t, f, path, v.Text())
	v.Plain()
	for i, item := range v.Items() {
		checkValue(t, f, fmt.Sprintf("%s[%d]", path, i), item)
	}
	for _, e := range v.Entries() {
		checkSpan(t, f, path, e.Key.Span)
		checkValue(t, f, path+"."+e.Key.Name, e.Value)
	}
	for _, p := range v.Props() {
		checkSpan(t, f, path, p.Name)
		checkValue(t, f, path+"."+p.Key, p.Value)
	}
}

func checkText(t *testing.T, f *diag.File, path string, text syntax.Text) {
	t.Helper()
	n := len(text.Value)
	for _, i := range []int{0, n / 3, n / 2, n - 1, n} {
		s := text.At(i, min(i+2, n))
		checkSpan(t, f, path, s)
		if s.Start < text.Span.Start || s.End > text.Span.End {
			t.Fatalf("%s: At(%d) is %d:%d, outside of %d:%d", path, i, s.Start, s.End, text.Span.Start, text.Span.End)
		}
	}
}

// Twelve runs give the same bytes.
func TestDeterminism(t *testing.T) {
	t.Parallel()
	for _, f := range append(testFiles(t, "ok"), testFiles(t, "err")...) {
		var first []byte
		for run := range 12 {
			_, list := syntax.Parse(diag.NewFile(f.Name, f.Text))
			var out bytes.Buffer
			if err := diag.WriteJSON(&out, list); err != nil {
				t.Fatal(err)
			}
			if err := diag.Render(&out, list, true); err != nil {
				t.Fatal(err)
			}
			if run == 0 {
				first = out.Bytes()
			} else if !bytes.Equal(first, out.Bytes()) {
				t.Fatalf("%s: run %d differs", f.Name, run)
			}
		}
	}
}
