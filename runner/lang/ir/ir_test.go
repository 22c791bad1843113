package ir_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/ir"
	"pgregory.net/rapid"
)

// graph builds a workflow from lines such as "a b" or "a b loop 3"; the first
// node named is the entry.
func graph(t *testing.T, text string) *ir.Workflow {
	t.Helper()
	w := &ir.Workflow{Name: "w"}
	loops := map[string]*ir.Loop{}
	node := func(id string) *ir.Node {
		for _, n := range w.Nodes {
			if n.ID == id {
				return n
			}
		}
		n := &ir.Node{ID: id, Op: &ir.Compute{}}
		w.Nodes = append(w.Nodes, n)
		return n
	}
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		f := strings.Fields(line)
		e := &ir.Edge{From: node(f[0]), To: node(f[1])}
		if len(f) > 2 {
			if loops[f[2]] == nil {
				loops[f[2]] = &ir.Loop{Name: f[2], Max: 3}
				w.Loops = append(w.Loops, loops[f[2]])
			}
			e.Loop = loops[f[2]]
		}
		e.From.Edges = append(e.From.Edges, e)
	}
	w.Entry = w.Nodes[0]
	w.Seal()
	return w
}

func TestLoopBodies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, edges, want string }{
		{"back edge", "a b\nb a l\nb done", "l: a b"},
		{"forward edge", "s t\nt f l\nf t\nt done", "l: t f"},
		{"inner restarts", "a b\nb c\nc b in\nc a out\nc done", "in: b c; out: a b c"},
		{"shared header counts together", "h x a\nx h\nh y b\ny h\nh done", "a: h x y; b: h x y"},
		{"two edges, one counter", "a b\nb a l\nb c\nc a l\nc done", "l: a b c"},
		{"no cycle", "a b l\nb done", "l: "},
		{"outer cycle held only by an inner counter", "h a\na b x\nb a\nb h\nb done", "x: h a b"},
	} {
		w := graph(t, c.edges)
		var got []string
		for _, l := range w.Loops {
			var body []string
			for _, n := range w.Nodes {
				if l.Contains(n) {
					body = append(body, n.ID)
				}
			}
			got = append(got, l.Name+": "+strings.Join(body, " "))
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s: bodies %q, want %q", c.name, text, c.want)
		}
	}
}

// Whatever the graph and whatever choices a walk makes, counting loops bounds it
// once every cycle holds a counted edge.
func TestCountedCyclesEnd(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(2, 6).Draw(rt, "nodes")
		var lines []string
		for i := 1; i < n; i++ {
			lines = append(lines, fmt.Sprintf("n%d n%d", i-1, i))
		}
		for k := range rapid.IntRange(1, 5).Draw(rt, "back edges") {
			from := rapid.IntRange(0, n-1).Draw(rt, "from")
			to := rapid.IntRange(0, from).Draw(rt, "to")
			lines = append(lines, fmt.Sprintf("n%d n%d l%d", from, to, k))
		}
		w := graph(t, strings.Join(lines, "\n"))
		at, counts := w.Entry, map[*ir.Loop]int{}
		for steps := 0; ; steps++ {
			if steps > 20_000 {
				rt.Fatalf("the walk does not end:\n%s", strings.Join(lines, "\n"))
			}
			var open []*ir.Edge
			for _, e := range at.Edges {
				if e.Loop == nil || counts[e.Loop] < e.Loop.Max {
					open = append(open, e)
				}
			}
			if len(open) == 0 {
				return
			}
			// Going back whenever that is allowed is the longest walk.
			e := open[len(open)-1]
			for _, l := range e.Enters() {
				counts[l] = 0
			}
			if e.Loop != nil {
				counts[e.Loop]++
			}
			at = e.To
		}
	})
}

func schema(fields ...gates.Field) *ir.Schema {
	s := &ir.Schema{Name: "s"}
	for _, f := range fields {
		s.Fields = append(s.Fields, ir.Field{Field: f})
	}
	return s
}

func TestFitCoercesAndReports(t *testing.T) {
	t.Parallel()
	s := schema(
		gates.Field{Name: "b", Kind: gates.Bool}, gates.Field{Name: "i", Kind: gates.Int}, gates.Field{Name: "f", Kind: gates.Float},
		gates.Field{Name: "l", Kind: gates.Strings}, gates.Field{Name: "e", Kind: gates.String, Enum: []string{"low", "high"}},
		gates.Field{Name: "j", Kind: gates.JSON}, gates.Field{Name: "o", Kind: gates.String, Optional: true},
	)
	for _, c := range []struct{ in, out, problem string }{
		{`{"b":"TRUE","i":"7","f":"1.5","l":"one","e":"low","j":{"x":[1]},"extra":1,"_meta":2}`,
			`{"b":true,"e":"low","f":1.5,"i":7,"j":{"x":[1]},"l":["one"]}`, ""},
		{`{"b":true,"i":7.0,"f":2,"l":[],"e":"high","j":null,"o":"x"}`, "", `field "j" (json) is missing`},
		{`{"b":1,"i":1,"f":1,"l":["a"],"e":"high","j":1}`, "", `field "b": want bool, got int "1"`},
		{`{"b":true,"i":1.5,"f":1,"l":["a"],"e":"high","j":1}`, "", `field "i": want int, got float "1.5"`},
		{`{"b":true,"i":1,"f":"NaN","l":["a"],"e":"high","j":1}`, "", `field "f": want float, got string "NaN"`},
		{`{"b":true,"i":1,"f":1,"l":[1],"e":"high","j":1}`, "", `field "l": want string[], got list "[1]"`},
		{`{"b":true,"i":1,"f":1,"l":[],"e":"mid","j":1}`, "", `field "e": want string (one of "low", "high"), got string "mid"`},
	} {
		v, err := ir.Decode([]byte(c.in))
		if err != nil {
			t.Fatal(err)
		}
		fitted, problems := s.Fit(v.(map[string]any))
		if got := strings.Join(problems, "; "); got != c.problem {
			t.Errorf("%s: problems %q, want %q", c.in, got, c.problem)
		}
		if c.problem != "" {
			continue
		}
		if raw, _ := ir.Encode(fitted); string(raw) != c.out {
			t.Errorf("%s fits as %s, want %s", c.in, raw, c.out)
		}
	}
}

func TestJSONSchema(t *testing.T) {
	t.Parallel()
	raw, strict := schema(gates.Field{Name: `a"b`, Kind: gates.String, Enum: []string{"x"}, Optional: true}, gates.Field{Name: "n", Kind: gates.Strings}).JSONSchema()
	want := `{"type":"object","properties":{"a\"b":{"type":["string","null"],"enum":["x",null]},"n":{"type":"array","items":{"type":"string"}}},"required":["a\"b","n"],"additionalProperties":false}`
	if string(raw) != want || !strict || !json.Valid(raw) {
		t.Errorf("schema %s (strict %t), want %s", raw, strict, want)
	}
	if _, strict := schema(gates.Field{Name: "j", Kind: gates.JSON}).JSONSchema(); strict {
		t.Error("a json field cannot be enforced strictly")
	}
}

type values map[string]any

func (v values) Lookup(ref *ir.Ref) (any, error) {
	got, ok := v[ref.String()]
	if !ok {
		return nil, fmt.Errorf("{{%s}} is missing", ref)
	}
	return got, nil
}

func ref(root ir.Root, path string, raw bool) ir.Part {
	return ir.Part{Ref: &ir.Ref{Root: root, Path: []string{path}, Raw: raw}}
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	scope := values{"vars.cmd": "make test && echo {{vars.x}}", "input.name": `it's "$HOME"`, "input.n": 3, "input.o": map[string]any{"b": 1, "a": "<"}}
	text := &ir.Template{Parts: []ir.Part{{Text: "n="}, ref(ir.RootInput, "n", false), {Text: " "}, ref(ir.RootInput, "o", false)}}
	if got, err := text.Render(scope, nil); err != nil || got != `n=3 {"a":"<","b":1}` {
		t.Errorf("rendered %q, %v", got, err)
	}
	if v, err := (&ir.Template{Parts: []ir.Part{ref(ir.RootInput, "n", false)}}).Value(scope); err != nil || v != 3 {
		t.Errorf("a single reference gives %#v, %v: want the int 3", v, err)
	}
	whole := &ir.Template{Parts: []ir.Part{ref(ir.RootVars, "cmd", false)}}
	if got, _ := whole.Command(scope); got != scope["vars.cmd"] {
		t.Errorf("a command that is one var becomes %q", got)
	}
	quoted := &ir.Template{Parts: []ir.Part{{Text: "echo "}, ref(ir.RootInput, "name", false), {Text: " "}, ref(ir.RootInput, "n", true)}}
	if got, _ := quoted.Command(scope); got != `echo 'it'\''s "$HOME"' 3` {
		t.Errorf("quoted command %q", got)
	}
	if _, err := (&ir.Template{Parts: []ir.Part{ref(ir.RootInput, "gone", false)}}).Render(scope, nil); err == nil {
		t.Error("a missing value renders as nothing")
	}
}

func TestConditions(t *testing.T) {
	t.Parallel()
	out := map[string]any{"ok": true, "text": "false", "n": 4, "word": "maybe"}
	env := func() map[string]any { return map[string]any{"output": out, "vars": map[string]any{"max": 3}} }
	expr := func(src string) *ir.Cond {
		e, err := ir.CompileExpr(src, diag.Span{})
		if err != nil {
			t.Fatal(err)
		}
		return &ir.Cond{Expr: e}
	}
	for _, c := range []struct {
		cond *ir.Cond
		want string
	}{
		{&ir.Cond{Field: "ok"}, "true"}, {&ir.Cond{Field: "ok", Not: true}, "false"}, {&ir.Cond{Field: "text"}, "false"},
		{&ir.Cond{Field: "gone"}, `condition "gone": the output has no such field`},
		{&ir.Cond{Field: "word"}, `condition "word": want bool, got string "maybe"`},
		{expr("output.n > vars.max && output.ok"), "true"}, {expr("output.n == 5"), "false"},
		{expr("output.n"), `expression "output.n": want bool, got int "4"`},
	} {
		got, err := c.cond.Holds(out, env)
		if text := fmt.Sprint(got); err != nil && err.Error() != c.want || err == nil && text != c.want {
			t.Errorf("%s: %v, %v, want %s", c.cond, got, err, c.want)
		}
	}
	for _, src := range []string{"now()", "keys(output)", "1 +", ""} {
		if _, err := ir.CompileExpr(src, diag.Span{}); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: error %v, want one line", src, err)
		}
	}
}

// What a node that has not run yet would have given is null, however deep one
// asks; what has run is as strict as before.
func TestOutputsOfANodeThatHasNotRunAreNull(t *testing.T) {
	t.Parallel()
	env := map[string]any{
		"outputs": map[string]any{"ran": map[string]any{"a": map[string]any{"b": 1}, "list": []any{1, 2}}},
		"output":  map[string]any{}, "input": map[string]any{},
	}
	for src, want := range map[string]string{
		"outputs.fixer": "<nil>", "outputs.fixer.summary": "<nil>", "outputs.fixer.a.b.c": "<nil>", `outputs["fixer"].a`: "<nil>",
		"outputs.fixer == nil || outputs.fixer.n > 1": "true", "outputs.ran.a.b": "1", "outputs.ran.list[1]": "2", "outputs.ran.none": "<nil>",
		"outputs.fixer.n ?? 7": "7", "output.a.b": "error", "outputs.fixer.n > 1": "error", "len(outputs.ran.list)": "2",
	} {
		e, err := ir.CompileExpr(src, diag.Span{})
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		v, err := e.Eval(env)
		if got := fmt.Sprint(v); err == nil && got != want || err != nil && want != "error" {
			t.Errorf("%s is %v, %v, want %s", src, v, err, want)
		}
	}
}

func TestDigestIsAboutMeaning(t *testing.T) {
	t.Parallel()
	a, b := graph(t, "a b\nb a l\nb done"), graph(t, "a b\nb a l\nb done")
	if a.Digest() != b.Digest() {
		t.Error("the same workflow has two digests")
	}
	b.Loops[0].Max++
	if a.Digest() == b.Digest() || a.Node("b").Digest() == b.Node("b").Digest() || a.Node("a").Digest() != b.Node("a").Digest() {
		t.Error("a changed bound must change its node's digest and the workflow's, and no other node's")
	}
}

func FuzzDecodeEncode(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.5,"x",null,true]}`, `1e400`, `"\ud800"`, `[[[[]]]]`, `{"a":1}{`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := ir.Decode([]byte(text))
		if err != nil {
			return
		}
		raw, err := ir.Encode(v)
		if err != nil {
			t.Fatalf("decoded %q but cannot encode it: %v", text, err)
		}
		again, err := ir.Decode(raw)
		if err != nil {
			t.Fatalf("encoded %q does not decode: %v", raw, err)
		}
		if second, _ := ir.Encode(again); string(second) != string(raw) {
			t.Fatalf("%q encodes as %q, then as %q", text, raw, second)
		}
	})
}
