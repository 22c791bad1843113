package diag

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestPositions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.StringMatching(`[a-c\n\r]{0,60}`), rapid.StringMatching(`[aé漢\n\r]{0,40}`)).Draw(t, "text")
		f := NewFile("w.iter", text)
		offset := rapid.IntRange(-3, len(text)+3).Draw(t, "offset")
		inside := min(max(offset, 0), len(text))
		before := text[:inside]
		line := strings.Count(before, "\n") + 1
		column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
		if got := f.Position(offset); got != (Position{line, column}) {
			t.Fatalf("offset %d of %q is %v, want %d:%d", offset, text, got, line, column)
		}
		if want := strings.TrimSuffix(strings.Split(text, "\n")[line-1], "\r"); f.Line(line) != want {
			t.Fatalf("line %d of %q is %q", line, text, f.Line(line))
		}
	})
	f := NewFile("w.iter", "a\nb")
	if f.Line(0) != "" || f.Line(3) != "" {
		t.Error("a line outside the file has a text")
	}
}

func TestSpans(t *testing.T) {
	t.Parallel()
	f := NewFile("w.iter", "one\ntwo é three\n")
	two, three := Span{f, 4, 7}, Span{f, 11, 16}
	if got := two.To(three).Text(); got != "two é three" {
		t.Errorf("joined: %q", got)
	}
	if got := three.Sub(1, 3).Text(); got != "hr" {
		t.Errorf("part: %q", got)
	}
	if three.String() != "w.iter:2:7" || three.EndPosition() != (Position{2, 12}) {
		t.Errorf("three stands at %s to %v", three, three.EndPosition())
	}
	var none Span
	if !none.IsZero() || none.Text() != "" || none.String() != "" || none.Position() != (Position{}) || none.EndPosition() != (Position{}) {
		t.Error("the zero span is somewhere")
	}
	if (Span{f, 5, 99}).Text() != "" || (Span{f, 5, 4}).Text() != "" {
		t.Error("a span outside the file has a text")
	}
}

// Whatever order diagnostics come in, they are sorted the same way, and said once.
func TestSort(t *testing.T) {
	t.Parallel()
	a, b := NewFile("a.iter", strings.Repeat("x", 20)), NewFile("b.iter", strings.Repeat("x", 20))
	want := List{
		{Code: "C001", Severity: Error, Message: "nowhere"},
		{Code: "C002", Severity: Error, Span: Span{a, 1, 3}, Message: "m"},
		{Code: "C001", Severity: Error, Span: Span{a, 5, 6}, Message: "m"},
		{Code: "C001", Severity: Error, Span: Span{a, 5, 6}, Message: "n"},
		{Code: "C003", Severity: Warning, Span: Span{a, 5, 6}, Message: "a"},
		{Code: "C001", Severity: Error, Span: Span{a, 5, 9}, Message: "m"},
		{Code: "C001", Severity: Error, Span: Span{b, 0, 1}, Message: "m"},
	}
	for seed := range uint64(50) {
		list := append(slices.Clone(want), want[3], want[6])
		rand.New(rand.NewPCG(seed, 1)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		if list.Sort(); !reflect.DeepEqual(list, want) {
			t.Fatalf("seed %d: %v", seed, list)
		}
	}
	if !want.HasErrors() || (List{want[4]}).HasErrors() || (List{}).HasErrors() {
		t.Error("errors are counted wrongly")
	}
}

func TestAddRefusesUnknownCodes(t *testing.T) {
	t.Parallel()
	defer func() {
		if r := recover(); r != "diag: code not in the register: P999" {
			t.Errorf("recovered %v", r)
		}
	}()
	var list List
	list.Warnf("P999", Span{}, "", "x")
}

func TestJSON(t *testing.T) {
	t.Parallel()
	f := NewFile("w.iter", "agent é:\n  model: x\n")
	list := List{{
		Code: "C003", Severity: Error, Span: Span{f, 8, 20}, Message: "a <b>", Hint: "h",
		Related: []Related{{Span{f, 6, 8}, "here"}},
	}, {Code: "C006", Severity: Warning, Message: "nowhere"}}
	var b strings.Builder
	if err := WriteJSON(&b, list); err != nil {
		t.Fatal(err)
	}
	want := `[
  {
    "code": "C003",
    "severity": "error",
    "file": "w.iter",
    "line": 1,
    "column": 8,
    "end_line": 2,
    "end_column": 11,
    "message": "a <b>",
    "hint": "h",
    "related": [
      {
        "file": "w.iter",
        "line": 1,
        "column": 7,
        "end_line": 1,
        "end_column": 8,
        "message": "here"
      }
    ]
  },
  {
    "code": "C006",
    "severity": "warning",
    "message": "nowhere"
  }
]
`
	if b.String() != want {
		t.Errorf("got\n%s", b.String())
	}
	b.Reset()
	if err := WriteJSON(&b, nil); err != nil || b.String() != "[]\n" {
		t.Errorf("an empty list is %q, %v", b.String(), err)
	}
}

func TestAnnotation(t *testing.T) {
	t.Parallel()
	f := NewFile("w.iter", "agent a:\n  model: x\n")
	d := Diagnostic{
		Code: "C003", Severity: Warning, Span: Span{f, 11, 16}, Message: "m", Hint: "h",
		Related: []Related{{Span{f, 6, 7}, "here"}},
	}
	want := Annotation{
		File: "w.iter", Line: 2, Column: 3, EndLine: 2, EndColumn: 8, Level: "warning", Title: "C003: unknown prompt",
		Message: "m\nhint: h\nw.iter:1:7: here",
	}
	if got := d.Annotation(); got != want {
		t.Errorf("got %+v", got)
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	properties := []string{"model", "mode", "max_tokens", "max_cost_usd", "tools", "input", "output", "user"}
	for word, want := range map[string]string{
		"modle": "model", "modell": "model", "mdoel": "model", "mod": "mode", "MODEL": "model", "maxtokens": "max_tokens", "max_tokesn": "max_tokens",
		"max_cost": "max_cost_usd", "inptu": "input", "ouput": "output", "tool": "tools", "usre": "user",
		"": "", "x": "", "xy": "", "banana": "", "mo": "", "in": "", strings.Repeat("model", 50): "",
	} {
		if got := Nearest(word, properties); got != want {
			t.Errorf("%q is near %q, want %q", word, got, want)
		}
	}
	if got := Nearest("ab", []string{"abc"}); got != "abc" {
		t.Errorf("ab is near %q", got)
	}
	if got := Nearest("aa1", []string{"aa3", "aa2"}); got != "aa2" {
		t.Errorf("of two that are equally near %q is taken", got)
	}
}

// The order of the candidates does not matter, an exact word wins, and a letter
// more or less or two swapped are found in any word of some length.
func TestNearestProperties(t *testing.T) {
	t.Parallel()
	words := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-e]{4,9}`), 1, 8, rapid.ID)
	rapid.Check(t, func(t *rapid.T) {
		candidates := words.Draw(t, "candidates")
		word := rapid.StringMatching(`[a-e]{1,9}`).Draw(t, "word")
		reversed := slices.Clone(candidates)
		slices.Reverse(reversed)
		if a, b := Nearest(word, candidates), Nearest(word, reversed); a != b {
			t.Fatalf("%q or %q, as the candidates stand", a, b)
		}
		if got := Nearest(candidates[0], candidates); got != candidates[0] {
			t.Fatalf("%q is near %q", candidates[0], got)
		}
		i := rapid.IntRange(0, len(candidates[0])-1).Draw(t, "i")
		if shorter := candidates[0][:i] + candidates[0][i+1:]; Nearest(shorter, candidates[:1]) != candidates[0] {
			t.Fatalf("%q does not lead to %q", shorter, candidates[0])
		}
	})
}

func TestSuggest(t *testing.T) {
	t.Parallel()
	if got := Suggest("beta", []string{"gamma", "betta", "alpha", "alpha"}); got != "did you mean betta? one of: alpha, betta, gamma" {
		t.Error(got)
	}
	if got := Suggest("", []string{"b", "a"}); got != "one of: a, b" {
		t.Error(got)
	}
	if got := Suggest("x", nil); got != "there is none to choose from" {
		t.Error(got)
	}
	many := make([]string, 10_000)
	for i := range many {
		many[i] = "node" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676))
	}
	if got := Suggest("zzz", many); len(got) > 600 || !strings.Contains(got, " more") {
		t.Errorf("the hint has %d bytes: %.80s", len(got), got)
	}
}

func TestBrief(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 30)
	for text, want := range map[string]string{"": "", "ab": "ab", "a\nb": "a…", "a\r\n": "a…", long: long[:40] + "…", "x" + long: "x" + long[:38] + "…"} {
		if got := Brief(text); got != want {
			t.Errorf("%q is quoted as %q, want %q", text, got, want)
		}
	}
}

func TestSeverity(t *testing.T) {
	t.Parallel()
	if Error.String() != "error" || Warning.String() != "warning" || Severity(0).String() != "invalid severity" {
		t.Error("a severity has the wrong word")
	}
}

// The seed's codes are all there, ours lie in their hundreds, and every entry is
// complete.
func TestRegister(t *testing.T) {
	t.Parallel()
	rules, err := readRegister()
	if err != nil {
		t.Fatal(err)
	}
	have := make(map[Code]bool)
	for i, r := range rules {
		have[r.Code] = true
		switch {
		case !regexp.MustCompile(`^(C0[0-3]\d|P1\d\d)$`).MatchString(string(r.Code)):
			t.Errorf("%s is no code of ours", r.Code)
		case i > 0 && r.Code <= rules[i-1].Code:
			t.Errorf("%s stands behind %s", r.Code, rules[i-1].Code)
		case r.Title == "" || strings.HasSuffix(r.Title, ".") || len(r.Title) > 60:
			t.Errorf("%s: title %q", r.Code, r.Title)
		case !strings.HasSuffix(r.Why, ".") || len(r.Why) < 40:
			t.Errorf("%s: why %q", r.Code, r.Why)
		case r.Bad == r.Good || !strings.HasSuffix(r.Bad, "\n") || !strings.HasSuffix(r.Good, "\n"):
			t.Errorf("%s: the examples are the same, or do not end with a line", r.Code)
		case r.Code != "C006" && !strings.Contains(r.Bad, "workflow ") || !strings.Contains(r.Good, "workflow "):
			t.Errorf("%s: an example is no complete file", r.Code)
		}
		if got, known := Lookup(r.Code); !known || got != r {
			t.Errorf("Lookup(%s) finds %v, %v", r.Code, got, known)
		}
	}
	for n := 1; n <= 36; n++ {
		code := Code("C0" + string(rune('0'+n/10)) + string(rune('0'+n%10)))
		if n != 15 && !have[code] {
			t.Errorf("%s of the original language is missing", code)
		}
	}
	if !slices.Equal(Rules(), rules) {
		t.Error("Rules lists something else")
	}
	if _, known := Lookup("C015"); known {
		t.Error("C015 was never given")
	}
}

func TestReadRule(t *testing.T) {
	t.Parallel()
	for _, entry := range []string{"", "P100", "P100 title\nwhy", "P100 title\nwhy\n--- bad\nx", "P100\nwhy\n--- bad\nx\n--- good\ny"} {
		if rule, err := readRule(entry); err == nil {
			t.Errorf("%q is read as %+v", entry, rule)
		}
	}
}

func TestRuleJSON(t *testing.T) {
	t.Parallel()
	rule, _ := Lookup("C019")
	raw, err := json.Marshal(rule)
	if err != nil || !strings.HasPrefix(string(raw), `{"code":"C019","family":"flow","title":"cycle without a loop bound","why":"`) {
		t.Errorf("%s, %v", raw, err)
	}
}
