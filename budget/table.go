package budget

import (
	"bytes"
	_ "embed" // the price data
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

//go:embed prices.json
var pricesJSON []byte

// Entry is the price of the models whose name matches.
type Entry struct {
	Match  string // a model name, or the beginning of one followed by "*"
	Price  Price
	AsOf   string // YYYY-MM-DD or YYYY-MM: when the price was looked up; may be ""
	Source string // where; may be ""
}

// Table is a price list. Its zero value knows no price. A table is immutable
// and may be used from many goroutines.
type Table struct {
	// layers are searched in order; within one, the most specific entry comes first.
	layers [][]Entry
}

// Prices returns the table that is built in. It is dated: prices change, and
// [Table.Merge] puts newer ones on top.
func Prices() Table { return builtin() }

var builtin = sync.OnceValue(func() Table {
	t, err := ParseTable(pricesJSON)
	if err != nil {
		panic("budget: built-in prices: " + err.Error())
	}
	return t
})

// Lookup finds the price of model. A name with provider prefixes, such as
// "openrouter/openai/gpt-5", also matches without them. An exact entry wins
// over a pattern, a longer one over a shorter one. Without an entry the price is
// unknown, which is not zero.
func (t Table) Lookup(model string) (Price, bool) {
	e, ok := t.Find(model)
	return e.Price, ok
}

// Find is [Table.Lookup] with the date and the source of the price.
func (t Table) Find(model string) (Entry, bool) {
	for _, layer := range t.layers {
		for _, e := range layer {
			for name, more := model, true; more; _, name, more = strings.Cut(name, "/") {
				if e.matches(name) {
					return e, true
				}
			}
		}
	}
	return Entry{}, false
}

// Entries lists the table in the order in which it is searched.
func (t Table) Entries() []Entry { return slices.Concat(t.layers...) }

// Merge returns a table that asks overrides first: whatever matches there wins,
// even a pattern over an exact name of t. Neither table changes.
func (t Table) Merge(overrides Table) Table {
	return Table{layers: slices.Concat(overrides.layers, t.layers)}
}

func (e Entry) matches(name string) bool {
	if start, pattern := strings.CutSuffix(e.Match, "*"); pattern {
		return strings.HasPrefix(name, start)
	}
	return name == e.Match
}

// NewTable makes a table of entries, or returns an error that names the first
// one that is not right.
func NewTable(entries ...Entry) (Table, error) {
	layer := slices.Clone(entries)
	seen := make(map[string]bool, len(layer))
	for i, e := range layer {
		if err := e.check(); err != nil {
			return Table{}, fmt.Errorf("price table: models[%d] %q: %w", i, e.Match, err)
		}
		if seen[e.Match] {
			return Table{}, fmt.Errorf("price table: models[%d]: %q is there twice", i, e.Match)
		}
		seen[e.Match] = true
	}
	slices.SortStableFunc(layer, func(a, b Entry) int { return b.weight() - a.weight() })
	return Table{layers: [][]Entry{layer}}, nil
}

// weight orders entries from exact names over long patterns to short ones.
func (e Entry) weight() int {
	if !strings.HasSuffix(e.Match, "*") {
		return 1<<30 + len(e.Match)
	}
	return len(e.Match)
}

func (e Entry) check() error {
	if e.Match == "" {
		return errors.New("match is empty: want a model name, or the beginning of one and *")
	}
	if i := strings.IndexByte(e.Match, '*'); i >= 0 && i != len(e.Match)-1 {
		return errors.New("match: * may stand only at the end")
	}
	for _, p := range []Micros{e.Price.Input, e.Price.Cached, e.Price.CacheWrite, e.Price.Output} {
		if p < 0 || p > maxPrice {
			return fmt.Errorf("price %s: want dollars per million tokens, from 0 to 1000000", p)
		}
	}
	if e.AsOf != "" && !isDate(e.AsOf) {
		return fmt.Errorf("as_of %q: want a date such as 2026-01-31", e.AsOf)
	}
	return nil
}

func isDate(text string) bool {
	_, day := time.Parse("2006-01-02", text)
	_, month := time.Parse("2006-01", text)
	return day == nil || month == nil
}

// dollars is an amount written as a JSON number or string.
type dollars struct{ micros *Micros }

// UnmarshalJSON implements json.Unmarshaler.
func (d *dollars) UnmarshalJSON(raw []byte) error {
	text := string(raw)
	if raw[0] == '"' {
		if err := json.Unmarshal(raw, &text); err != nil {
			return err
		}
	}
	m, err := ParseMicros(text)
	d.micros = &m
	return err
}

func (d dollars) or(other Micros) Micros {
	if d.micros == nil {
		return other
	}
	return *d.micros
}

type tableFile struct {
	Comment string     `json:"comment"`
	Models  []fileLine `json:"models"`
}

type fileLine struct {
	Match      string  `json:"match"`
	Input      dollars `json:"input"`
	Cached     dollars `json:"cached"`
	CacheWrite dollars `json:"cache_write"`
	Output     dollars `json:"output"`
	AsOf       string  `json:"as_of"`
	Source     string  `json:"source"`
}

const tableKeys = `known are "comment" and "models" of {match, input, output, cached, cache_write, as_of, source}`

// ParseTable reads a price table:
//
//	{"models": [{"match": "gpt-5*", "input": "1.25", "cached": "0.125",
//	             "output": "10", "as_of": "2026-01-31", "source": "https://…"}]}
//
// Prices are dollars per million tokens, as strings or numbers. input and
// output are required; cached and cache_write are the input price when absent.
// as_of and source are optional. Unknown keys, repeated matches and anything
// after the object are errors.
func ParseTable(data []byte) (Table, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var file tableFile
	if err := dec.Decode(&file); err != nil {
		return Table{}, tableError(data, dec, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return Table{}, fmt.Errorf("price table: line %d: text after the end of the object", lineAt(data, dec.InputOffset()))
	}
	entries := make([]Entry, len(file.Models))
	for i, line := range file.Models {
		if line.Input.micros == nil || line.Output.micros == nil {
			return Table{}, fmt.Errorf("price table: models[%d] %q: input and output are required", i, line.Match)
		}
		entries[i] = line.entry()
	}
	return NewTable(entries...)
}

func (l fileLine) entry() Entry {
	in := *l.Input.micros
	price := Price{Input: in, Cached: l.Cached.or(in), CacheWrite: l.CacheWrite.or(in), Output: *l.Output.micros}
	return Entry{Match: l.Match, Price: price, AsOf: l.AsOf, Source: l.Source}
}

func tableError(data []byte, dec *json.Decoder, err error) error {
	text, unknown := strings.CutPrefix(err.Error(), "json: ")
	line := lineAt(data, dec.InputOffset())
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		line = lineAt(data, syntax.Offset)
	}
	if unknown && strings.HasPrefix(text, "unknown field") {
		return fmt.Errorf("price table: %s: %s", text, tableKeys)
	}
	return fmt.Errorf("price table: line %d: %w", line, err)
}

func lineAt(data []byte, offset int64) int {
	end := min(max(int(offset), 0), len(data))
	return bytes.Count(data[:end], []byte("\n")) + 1
}
