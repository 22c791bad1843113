package script

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/pawl-ci/pawl/budget"
)

const everything = `# every key there is
name: demo
model: demo-1
price: {input: 1.25, cached: "0.125", output: 10}
exchanges:
  - match:
      node: fix
      visit: 2
      turn: 3
      model: gpt-5
      schema: verdict
      tools: [read_file, run]
      contains: one
      not_contains: [two, three]
      anywhere: four
      not_anywhere: five
    times: 2
    replies:
      - tool_calls:
          - name: read_file
            args: {path: calc.go, n: 1.50, deep: {z: 1, a: [true, null]}}
          - {id: mine, name: run, args: "not json"}
          - name: list
      - json: {ok: false, text: "a\nb", n: 0x1F}
        usage: {input: 100, output: 20, cached: 50, reasoning: 5}
        finish: length
        delay: 200ms
  - match: {turn: 1}
    reply: {error: {status: 429, message: slow, code: rl, type: t, retry_after: 2}}
  - match: {turn: 2}
    reply: {error: {kind: hang}, delay: 1s}
  - reply:
      text: |
        Hello,
          you.
      usage: none
`

func parse(t *testing.T, text string) *Script {
	t.Helper()
	s, err := Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatalf("parse: %v", err)
	}
	return s
}

func TestParseEverything(t *testing.T) {
	t.Parallel()
	want := &Script{
		Name: "demo", Model: "demo-1",
		Price: &budget.Price{Input: 1_250_000, Cached: 125_000, CacheWrite: 1_250_000, Output: 10 * budget.Dollar},
		Exchanges: []Exchange{
			{
				Line: 6, Times: 2,
				Match: Match{
					Node: "fix", Visit: 2, Turn: 3, Model: "gpt-5", Schema: "verdict", Tools: []string{"read_file", "run"},
					Contains: []string{"one"}, NotContains: []string{"two", "three"},
					Anywhere: []string{"four"}, NotAnywhere: []string{"five"},
				},
				Replies: []Reply{
					{ToolCalls: []ToolCall{
						{Name: "read_file", Args: `{"path":"calc.go","n":1.50,"deep":{"z":1,"a":[true,null]}}`},
						{ID: "mine", Name: "run", Args: "not json"},
						{Name: "list", Args: "{}"},
					}},
					{
						Text: `{"ok":false,"text":"a\nb","n":31}`, Finish: "length", Delay: 200 * time.Millisecond,
						Usage: &Usage{Input: 100, Output: 20, Cached: 50, Reasoning: 5},
					},
				},
			},
			{Line: 28, Match: Match{Turn: 1}, Replies: []Reply{{Fault: &Fault{
				Status: 429, Message: "slow", Code: "rl", Type: "t", RetryAfter: "2",
			}}}},
			{Line: 30, Match: Match{Turn: 2}, Replies: []Reply{{Fault: &Fault{Kind: Hang}, Delay: time.Second}}},
			{Line: 32, Replies: []Reply{{Text: "Hello,\n  you.\n", NoUsage: true}}},
		},
	}
	if got := parse(t, everything); !reflect.DeepEqual(got, want) {
		t.Errorf("parsed\n%+v\nwant\n%+v", got, want)
	}
}

func TestParseLines(t *testing.T) {
	t.Parallel()
	text := `{"name": "rec", "price": {"input": "1", "output": 2}}

{"match": {"node": "é", "contains": ["😀", "a\/b"]}, "reply": {"json": {"z": 1, "a": 1.0}}}
{"reply": {"text": "last"}}
`
	s, err := Parse("x.jsonl", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != "rec" || s.Price.Output != 2*budget.Dollar || len(s.Exchanges) != 2 {
		t.Fatalf("parsed %+v", s)
	}
	first := s.Exchanges[0]
	if first.Line != 3 || first.Match.Node != "é" || first.Match.Contains[0] != "😀" || first.Match.Contains[1] != "a/b" {
		t.Errorf("first exchange: %+v", first)
	}
	if got := first.Replies[0].Text; got != `{"z":1,"a":1.0}` {
		t.Errorf("json reply = %s: the order and the digits must stay", got)
	}
	if headless, err := Parse("x.ndjson", []byte(`{"reply": {"text": "hi"}}`)); err != nil || headless.Name != "script" {
		t.Errorf("without a header: %+v, %v", headless, err)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	one := func(fields string) string { return "exchanges:\n  - " + fields + "\n" }
	cases := []struct{ name, text, want string }{
		{"empty", "", "f.yaml:1:1: the script is empty"},
		{"a list", "- 1", "f.yaml:1:1: script: want a mapping, this is a list"},
		{"no exchanges", "name: x", "f.yaml:1:1: the script has no exchanges"},
		{"empty exchanges", "exchanges: []", "f.yaml:1:1: the script has no exchanges"},
		{"exchanges of the wrong kind", "exchanges: 3", "f.yaml:1:12: exchanges: want a list, this is a number"},
		{"unknown key at the top", "nmae: x", `f.yaml:1:1: script: unknown key "nmae"; known are exchanges, model, name, price`},
		{"unknown key in an exchange", one("repyl: {text: hi}"), `f.yaml:2:5: exchange: unknown key "repyl"; known are match, replies, reply, times`},
		{"unknown key in a match", one("{match: {nod: x}, reply: {text: hi}}"), `f.yaml:2:14: match: unknown key "nod"`},
		{"unknown key in a reply", one("reply: {txt: hi}"), `f.yaml:2:13: reply: unknown key "txt"; known are delay, error, finish, json, text, tool_calls, usage`},
		{"unknown key in a call", one("reply: {tool_calls: [{nam: x}]}"), `tool call: unknown key "nam"; known are args, id, name`},
		{"unknown key in usage", one("reply: {text: x, usage: {in: 1}}"), `usage: unknown key "in"; known are cached, input, output, reasoning`},
		{"unknown key in an error", one("reply: {error: {staus: 500}}"), `error: unknown key "staus"; known are code, kind, message, retry_after, status, type`},
		{"key twice", "name: a\nname: b", "f.yaml:2:1: "},
		{"no reply", one("match: {turn: 1}"), "f.yaml:2:5: exchange: no reply"},
		{"both replies", one("{reply: {text: a}, replies: [{text: b}]}"), "reply and replies are both there"},
		{"no replies", one("replies: []"), "f.yaml:2:14: replies: the list is empty"},
		{"empty reply", one("reply: {delay: 1s}"), "want one of text, json, tool_calls, error"},
		{"text and json", one("reply: {text: a, json: 1}"), "text and json are both there"},
		{"error with text", one("reply: {text: a, error: {status: 500}}"), "an error goes with delay only"},
		{"number for text", one("reply: {text: 42}"), "f.yaml:2:19: text: want text, this is a number: put it in quotes"},
		{"turn 0", one("{match: {turn: 0}, reply: {text: a}}"), "turn: want a whole number from 1"},
		{"turn 1.5", one("{match: {turn: 1.5}, reply: {text: a}}"), "turn: want a whole number from 1"},
		{"turn in quotes", one(`{match: {turn: "1"}, reply: {text: a}}`), "turn: want a whole number from 1"},
		{"empty contains", one(`{match: {contains: ["a", ""]}, reply: {text: a}}`), "contains: an empty text matches everything"},
		{"call without a name", one("reply: {tool_calls: [{args: {}}]}"), "tool call: no name"},
		{"args of a wrong kind", one("reply: {tool_calls: [{name: x, args: [1]}]}"), "args: want a mapping or text, this is a list"},
		{"bad finish", one("reply: {text: a, finish: done}"), "finish: want one of stop, length, tool_calls, content_filter"},
		{"bad delay", one("reply: {text: a, delay: 5}"), "delay: want a duration such as 200ms"},
		{"negative delay", one("reply: {text: a, delay: -5s}"), "delay: want a duration"},
		{"bad usage", one("reply: {text: a, usage: lots}"), `usage: want a mapping or "none"`},
		{"negative usage", one("reply: {text: a, usage: {input: -1}}"), "input: want a whole number of tokens"},
		{"part above its whole", one("reply: {text: a, usage: {input: 1, cached: 2}}"), "a part is larger than its whole"},
		{"status 200", one("reply: {error: {status: 200}}"), "status: want a number from 400 to 599"},
		{"neither status nor kind", one("reply: {error: {message: x}}"), "want one of status (400 to 599) and kind (hang, cut, garbage, reset, empty)"},
		{"kind with status", one("reply: {error: {status: 500, kind: cut}}"), "want one of status"},
		{"kind with message", one("reply: {error: {kind: cut, message: x}}"), "kind goes with nothing else"},
		{"bad kind", one("reply: {error: {kind: slow}}"), "kind: want one of hang, cut, garbage, reset, empty"},
		{"bad retry_after", one("reply: {error: {status: 429, retry_after: soon}}"), "retry_after: want whole seconds"},
		{"price without output", "price: {input: 1}\n" + one("reply: {text: a}"), "price: want input and output"},
		{"bad price", "price: {input: x, output: 1}\n" + one("reply: {text: a}"), "input: want dollars per million tokens"},
		{"anchor", one("reply: &a {text: x}"), "anchors and aliases"},
		{"tag", one("reply: {text: !!str 5}"), "tags (!) are not read"},
		{"infinity", one("reply: {json: .inf}"), "has no JSON form"},
		{"number as key", one("reply: {json: {1: x}}"), "a key must be text"},
		{"two documents", "name: a\n---\nname: b\n", "a second document"},
		{"bad YAML", "exchanges: [", "f.yaml:1:"},
		{"merge key", one("reply: {json: {<<: {a: 1}}}"), "a key must be text"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("f.yaml", []byte(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want one with %q", err, c.want)
			}
			var at *Error
			if !errors.As(err, &at) || at.File != "f.yaml" || at.Line < 1 || at.Column < 1 {
				t.Errorf("error has no place: %#v", err)
			}
		})
	}
}

func TestParseLinesRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "f.jsonl:1:1: the script has no exchanges",
		"{\"reply\": {\"text\": \"a\"}}\n{\"é\": x}": "f.jsonl:2:7: not valid JSON",
		`{"reply": {"text": "a"}`:                    "not valid JSON: the line ends too early",
		`{"reply": {"text": "a"}} x`:                 "f.jsonl:1:26: text after the end of the value",
		`{"reply": {"text": "a"}, "reply": 1}`:       `f.jsonl:1:26: key "reply" is there twice`,
		`{"reply": {"tex": "a"}}`:                    `f.jsonl:1:12: reply: unknown key "tex"`,
		`[1]`:                                        "exchange: want a mapping, this is a list",
		`{"name": "x", "exchanges": []}`:             "f.jsonl:1:28: exchanges: in a file of lines",
		strings.Repeat("[", 2000):                    "nested more than 1000 deep",
		"\xff":                                       "not valid JSON",
	} {
		if _, err := Parse("f.jsonl", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%.60q): error %v, want one with %q", text, err, want)
		}
	}
}

func TestParseCollectsErrorsInOrder(t *testing.T) {
	t.Parallel()
	_, err := Parse("f.yaml", []byte("exchanges:\n  - match: {nod: x}\n    times: 0\n  - reply: {text: 1}\nmodel: 5\n"))
	var lines []string
	for _, line := range strings.Split(err.Error(), "\n") {
		lines = append(lines, strings.Join(strings.Split(line, ":")[:3], ":"))
	}
	want := []string{"f.yaml:2:5", "f.yaml:2:13", "f.yaml:3:12", "f.yaml:4:19", "f.yaml:5:8"}
	if !reflect.DeepEqual(lines, want) {
		t.Errorf("errors at %v, want %v:\n%v", lines, want, err)
	}
}

func TestParseBounds(t *testing.T) {
	t.Parallel()
	if _, err := Parse("big.yaml", make([]byte, maxSize+1)); err == nil || !strings.Contains(err.Error(), "longer than 16 MiB") {
		t.Errorf("error %v", err)
	}
	if s := parse(t, "\ufeffexchanges: [{reply: {text: hi}}]"); s.Exchanges[0].Replies[0].Text != "hi" {
		t.Errorf("byte order mark: %+v", s)
	}
}

func TestShadowedExchanges(t *testing.T) {
	t.Parallel()
	cases := []struct {
		earlier, later string
		shadowed       bool
	}{
		{"{}", "{node: a}", true},
		{"{node: a}", "{node: a}", true},
		{"{node: a}", "{node: b}", false},
		{"{node: a}", "{}", false},
		{"{node: a}", "{node: a, turn: 2}", true},
		{"{turn: 1, visit: 1}", "{turn: 1}", false},
		{"{contains: ab}", "{contains: [xaby, q]}", true},
		{"{contains: ab}", "{contains: a}", false},
		{"{anywhere: ab}", "{contains: ab}", true},
		{"{contains: ab}", "{anywhere: ab}", false},
		{"{not_contains: abc}", "{not_contains: b}", true},
		{"{not_contains: b}", "{not_contains: abc}", false},
		{"{not_contains: b}", "{not_anywhere: b}", true},
		{"{not_anywhere: b}", "{not_contains: b}", false},
		{"{tools: [a]}", "{tools: [b, a]}", true},
		{"{tools: [a, b]}", "{tools: [a]}", false},
		{"{schema: s}", "{schema: s, model: m}", true},
		{"{model: m}", "{schema: s}", false},
	}
	for _, c := range cases {
		text := "exchanges:\n  - {match: " + c.earlier + ", reply: {text: a}}\n  - {match: " + c.later + ", reply: {text: b}}\n"
		_, err := Parse("f.yaml", []byte(text))
		if (err != nil) != c.shadowed {
			t.Errorf("%s then %s: error %v", c.earlier, c.later, err)
		} else if err != nil && !strings.HasPrefix(err.Error(), "f.yaml:3:1: exchange 2 can never match: exchange 1 (line 2)") {
			t.Errorf("error reads %q", err)
		}
		bounded := strings.Replace(text, "reply: {text: a}", "times: 1, reply: {text: a}", 1)
		if _, err := Parse("f.yaml", []byte(bounded)); err != nil {
			t.Errorf("%s bounded by times: %v", c.earlier, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("a.yaml", []byte(everything))
	f.Add("a.yaml", []byte("exchanges: [{reply: {json: {a: [1, 2.5, ~, x]}}}]"))
	f.Add("a.yaml", []byte("? a\n: b\n&x c: *x\n"))
	f.Add("a.yaml", []byte("exchanges:\n- reply:\n    text: |2-\n      a\n"))
	f.Add("a.jsonl", []byte(`{"name":"x"}`+"\n"+`{"match":{"turn":1},"times":2,"reply":{"error":{"kind":"cut"}}}`))
	f.Add("a.jsonl", []byte(`{"reply":{"json":{"a":[1e400,"\ud800"]}}}`))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		s, err := Parse(name, data)
		if (s == nil) == (err == nil) {
			t.Fatalf("script %v with error %v", s, err)
		}
		if err == nil {
			NewHandler(s) // whatever parses can be served
			for _, e := range s.Exchanges {
				if len(e.Replies) == 0 {
					t.Fatal("an exchange without a reply was accepted")
				}
			}
			return
		}
		for line := range strings.Lines(err.Error()) {
			if !strings.HasPrefix(line, name+":") && !strings.Contains(name, "\n") {
				t.Fatalf("error without a place: %q", line)
			}
		}
	})
}
