package local

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-ci/pawl/gates"
)

// Answers are given beforehand: by field ("approved=true") or by gate and field
// ("approve.approved=true").
type Answers struct {
	values map[string]string
	used   map[string]bool
}

// ParseAnswers reads "[NODE.]FIELD=VALUE" arguments.
func ParseAnswers(args []string) (*Answers, error) {
	a := &Answers{values: make(map[string]string), used: make(map[string]bool)}
	for _, arg := range args {
		key, value, ok := strings.Cut(arg, "=")
		if key = strings.TrimSpace(key); !ok || key == "" {
			return nil, fmt.Errorf("answer %q: want FIELD=VALUE or NODE.FIELD=VALUE, for example approved=true", arg)
		}
		if _, dup := a.values[key]; dup {
			return nil, fmt.Errorf("answer %q: %s is given twice", arg, key)
		}
		a.values[key] = value
	}
	return a, nil
}

// For picks what answers q. complete is false when a field that q needs is
// missing; values is empty when nothing given concerns q.
func (a *Answers) For(q gates.Question) (values map[string]json.RawMessage, complete bool) {
	values = make(map[string]json.RawMessage)
	complete = true
	for _, f := range q.Fields {
		text, given := a.lookup(q.Node, f.Name)
		if !given {
			complete = complete && f.Optional
			continue
		}
		values[f.Name] = Value(f, text)
	}
	return values, complete && len(values) > 0 && len(values) >= min(q.MinAnswers, len(q.Fields))
}

func (a *Answers) lookup(node, field string) (string, bool) {
	for _, key := range []string{node + "." + field, field} {
		if text, given := a.values[key]; given {
			a.used[key] = true
			return text, true
		}
	}
	return "", false
}

// Unused lists answers that no question asked for, sorted: usually a misspelling.
func (a *Answers) Unused() []string {
	var keys []string
	for _, key := range slices.Sorted(maps.Keys(a.values)) {
		if !a.used[key] {
			keys = append(keys, key)
		}
	}
	return keys
}

// Value turns a person's text into the field's JSON: what is no valid JSON of
// that kind stays a string, and whoever checks the answer says what is wrong.
func Value(f gates.Field, text string) json.RawMessage {
	switch f.Kind {
	case gates.Bool:
		if word, ok := yesNo[strings.ToLower(strings.TrimSpace(text))]; ok {
			return json.RawMessage(word)
		}
	case gates.Strings:
		if !json.Valid([]byte(text)) {
			return encode(splitList(text))
		}
		return json.RawMessage(text)
	case gates.Int, gates.Float, gates.JSON:
		if json.Valid([]byte(text)) {
			return json.RawMessage(text)
		}
	}
	return encode(text)
}

var yesNo = map[string]string{
	"y": "true", "yes": "true", "true": "true", "approve": "true", "approved": "true",
	"n": "false", "no": "false", "false": "false", "reject": "false", "rejected": "false",
}

func splitList(text string) []string {
	items := []string{}
	for _, item := range strings.Split(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

func encode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings and lists of strings always encode
	}
	return raw
}
