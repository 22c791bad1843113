package budget

import (
	"strings"
	"testing"
)

func mustTable(t *testing.T, text string) Table {
	t.Helper()
	table, err := ParseTable([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestLookup(t *testing.T) {
	t.Parallel()
	table := mustTable(t, `{"models": [
		{"match": "*", "input": 9, "output": 9},
		{"match": "gpt-*", "input": 8, "output": 8},
		{"match": "gpt-5*", "input": "7", "output": "7"},
		{"match": "gpt-5", "input": "1.25", "cached": 0.125, "cache_write": "$1.5", "output": 10},
		{"match": "vendor/special", "input": 0, "output": 0}
	]}`)
	for model, want := range map[string]Micros{
		"gpt-5": 1_250_000, "openai/gpt-5": 1_250_000, "openrouter/openai/gpt-5": 1_250_000,
		"gpt-5-mini": 7 * Dollar, "azure/gpt-5-mini": 7 * Dollar, "gpt-4o": 8 * Dollar, "llama": 9 * Dollar,
		"": 9 * Dollar, "vendor/special": 0, "x/vendor/special": 0, "special": 9 * Dollar, "gpt-5/": 7 * Dollar,
	} {
		if got, ok := table.Lookup(model); !ok || got.Input != want {
			t.Errorf("Lookup(%q) = %v, %v; want input %v", model, got, ok, want)
		}
	}
	price, _ := table.Lookup("gpt-5")
	if want := (Price{1_250_000, 125_000, 1_500_000, 10 * Dollar}); price != want {
		t.Errorf("price = %+v, want %+v", price, want)
	}
	price, _ = table.Lookup("gpt-4o")
	if want := (Price{8 * Dollar, 8 * Dollar, 8 * Dollar, 8 * Dollar}); price != want {
		t.Errorf("no discount given, but price = %+v", price)
	}
}

func TestLookupUnknown(t *testing.T) {
	t.Parallel()
	if _, ok := (Table{}).Lookup("gpt-5"); ok {
		t.Error("an empty table knows a price")
	}
	if price, ok := Prices().Lookup("nobody/knows-this"); ok {
		t.Errorf("unknown model costs %+v", price)
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	base := mustTable(t, `{"models": [{"match": "a", "input": 1, "output": 1}, {"match": "b", "input": 2, "output": 2}]}`)
	over := mustTable(t, `{"models": [{"match": "a*", "input": 5, "output": 5, "as_of": "2026-02"}]}`)
	merged := base.Merge(over)
	if e, _ := merged.Find("a"); e.Price.Input != 5*Dollar || e.AsOf != "2026-02" {
		t.Errorf("override lost: %+v", e)
	}
	if p, ok := merged.Lookup("b"); !ok || p.Input != 2*Dollar {
		t.Errorf("base lost: %+v, %v", p, ok)
	}
	if p, _ := base.Lookup("a"); p.Input != Dollar {
		t.Errorf("merging changed the base: %+v", p)
	}
	if n := len(merged.Entries()); n != 3 {
		t.Errorf("%d entries, want 3", n)
	}
	if p, ok := base.Merge(Table{}).Lookup("a"); !ok || p.Input != Dollar {
		t.Errorf("merging nothing lost %+v, %v", p, ok)
	}
}

func TestParseTableRefuses(t *testing.T) {
	t.Parallel()
	line := func(fields string) string { return `{"models": [{` + fields + `}]}` }
	for text, want := range map[string]string{
		"":                                       "line 1",
		"{\n\"models\": [\n}":                    "line 3",
		"[]":                                     "line 1",
		`{"models": []} x`:                       "text after the end",
		`{"modles": []}`:                         `known are "comment" and "models"`,
		line(`"match":"a","inptu":1,"output":1`): `unknown field "inptu"`,
		line(`"match":"a","output":1`):           `models[0] "a": input and output are required`,
		line(`"match":"a","input":1`):            "input and output are required",
		line(`"match":"a","input":null,"output":1`):                                           "line 1",
		line(`"match":"a","input":-1,"output":1`):                                             `amount "-1"`,
		line(`"match":"a","input":"x","output":1`):                                            `amount "x"`,
		line(`"match":"a","input":1e3,"output":1`):                                            `amount "1e3"`,
		line(`"match":"a","input":true,"output":1`):                                           "amount",
		line(`"match":"a","input":1000001,"output":1`):                                        "from 0 to 1000000",
		line(`"match":"","input":1,"output":1`):                                               "match is empty",
		line(`"match":"a*b","input":1,"output":1`):                                            "only at the end",
		line(`"match":"a","input":1,"output":1,"as_of":"May"`):                                `as_of "May"`,
		`{"models": [{"match":"a","input":1,"output":1},{"match":"a","input":2,"output":1}]}`: "models[1]: \"a\" is there twice",
	} {
		_, err := ParseTable([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "price table: ") {
			t.Errorf("ParseTable(%s): error %v, want one with %q", text, err, want)
		}
	}
}

// Every built-in entry says when and where it was looked up, and is plausible:
// a discount is one, and answers cost at least as much as questions.
func TestBuiltInPrices(t *testing.T) {
	t.Parallel()
	entries := Prices().Entries()
	if len(entries) < 10 {
		t.Fatalf("only %d entries", len(entries))
	}
	for _, e := range entries {
		p := e.Price
		if e.AsOf == "" || !strings.HasPrefix(e.Source, "https://") {
			t.Errorf("%s: as_of %q, source %q", e.Match, e.AsOf, e.Source)
		}
		if p.Input <= 0 || p.Cached > p.Input || p.CacheWrite < p.Input || p.Output < p.Input {
			t.Errorf("%s: implausible price %+v", e.Match, p)
		}
	}
	for model, want := range map[string]Price{
		"openai/gpt-4o-2024-11-20":             {2_500_000, 1_250_000, 2_500_000, 10_000_000},
		"gpt-4o-2024-05-13":                    {5_000_000, 5_000_000, 5_000_000, 15_000_000},
		"anthropic/claude-sonnet-4-5-20250929": {3_000_000, 300_000, 3_750_000, 15_000_000},
	} {
		if got, ok := Prices().Lookup(model); !ok || got != want {
			t.Errorf("%s: %+v, %v; want %+v", model, got, ok, want)
		}
	}
	if price, ok := Prices().Lookup("gpt-4o-audio-preview"); ok {
		t.Errorf("gpt-4o-audio-preview was given the price of another model: %+v", price)
	}
}

func FuzzParseTable(f *testing.F) {
	f.Add([]byte(`{"models": [{"match": "a*", "input": "1.5", "output": 2, "as_of": "2026-01-31"}]}`))
	f.Add([]byte(`{"models": [{"match": "*", "input": 0, "cached": "$0", "output": 0}], "comment": "x"}`))
	f.Add([]byte(`{"models": [{]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := ParseTable(data)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("error of several lines: %q", err)
			}
			return
		}
		for _, e := range table.Entries() {
			name := strings.TrimSuffix(e.Match, "*")
			if _, ok := table.Lookup(name); !ok {
				t.Fatalf("entry %q does not match %q", e.Match, name)
			}
		}
	})
}
