package ir

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/runner/lang/diag"
)

// Schema is a typed set of fields.
type Schema struct {
	Name   string
	Fields []Field
	Span   diag.Span
}

// Field is one field of a schema.
type Field struct {
	gates.Field
	Span diag.Span
}

// Field returns the field of that name, or nil. A nil schema has no fields.
func (s *Schema) Field(name string) *Field {
	if s == nil {
		return nil
	}
	for i := range s.Fields {
		if s.Fields[i].Name == name {
			return &s.Fields[i]
		}
	}
	return nil
}

// Names lists the field names in file order.
func (s *Schema) Names() []string {
	names := make([]string, len(s.Fields))
	for i, f := range s.Fields {
		names[i] = f.Name
	}
	return names
}

// Fit returns value restricted to the schema's fields with every field coerced,
// and one line per field that cannot fit. Fields that begin with "_" and fields
// the schema does not name are left out.
func (s *Schema) Fit(value map[string]any) (fitted map[string]any, problems []string) {
	fitted = make(map[string]any, len(s.Fields))
	for _, f := range s.Fields {
		v, given := value[f.Name]
		if !given || v == nil {
			if !f.Optional {
				problems = append(problems, fmt.Sprintf("field %q (%s) is missing", f.Name, f.Describe()))
			}
			continue
		}
		c, ok := f.Coerce(v)
		if !ok {
			problems = append(problems, fmt.Sprintf("field %q: want %s, got %s", f.Name, f.Describe(), brief(v)))
			continue
		}
		fitted[f.Name] = c
	}
	return fitted, problems
}

// Describe is the field's type for people: `string (one of "low", "high")`.
func (f *Field) Describe() string {
	if len(f.Enum) == 0 {
		return string(f.Kind)
	}
	quoted := make([]string, len(f.Enum))
	for i, e := range f.Enum {
		quoted[i] = strconv.Quote(e)
	}
	return string(f.Kind) + " (one of " + strings.Join(quoted, ", ") + ")"
}

// Coerce makes v the field's kind where the language allows it: the texts true
// and false to bool, numeric text to numbers, a single value to a list of one.
func (f *Field) Coerce(v any) (any, bool) {
	switch f.Kind {
	case gates.Bool:
		return coerceBool(v)
	case gates.Int:
		return coerceInt(v)
	case gates.Float:
		return coerceFloat(v)
	case gates.Strings:
		list, ok := coerceStrings(v)
		return list, ok && f.allows(list)
	case gates.String:
		s, ok := v.(string)
		return s, ok && (len(f.Enum) == 0 || slices.Contains(f.Enum, s))
	}
	return v, true
}

// allows reports whether every item of a list is in the field's closed set.
func (f *Field) allows(list any) bool {
	if len(f.Enum) == 0 {
		return true
	}
	items, _ := list.([]any)
	return !slices.ContainsFunc(items, func(item any) bool {
		s, _ := item.(string)
		return !slices.Contains(f.Enum, s)
	})
}

// Take is Coerce for what flows into a node. A string field without a closed set
// also takes any other value that is not null, as the text that a template would
// make of it: files map numbers and whole outputs into such fields.
func (f *Field) Take(v any) (any, bool) {
	if _, text := v.(string); f.Kind == gates.String && len(f.Enum) == 0 && !text && v != nil {
		rendered, err := Render(v)
		return rendered, err == nil
	}
	return f.Coerce(v)
}

func coerceBool(v any) (any, bool) {
	switch v := v.(type) {
	case bool:
		return v, true
	case string:
		switch strings.ToLower(strings.TrimSpace(v)) {
		case "true":
			return true, true
		case "false":
			return false, true
		}
	}
	return nil, false
}

func coerceInt(v any) (any, bool) {
	switch v := v.(type) {
	case int:
		return v, true
	case float64:
		if v == float64(int(v)) {
			return int(v), true
		}
	case string:
		if i, err := strconv.Atoi(strings.TrimSpace(v)); err == nil {
			return i, true
		}
	}
	return nil, false
}

func coerceFloat(v any) (any, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case float64:
		return v, true
	case string:
		if f, err := strconv.ParseFloat(strings.TrimSpace(v), 64); err == nil && f-f == 0 {
			return f, true
		}
	}
	return nil, false
}

func coerceStrings(v any) (any, bool) {
	switch v := v.(type) {
	case string:
		return []any{v}, true
	case []any:
		for _, item := range v {
			if _, ok := item.(string); !ok {
				return nil, false
			}
		}
		return v, true
	}
	return nil, false
}

// brief shows a value in a message without flooding it.
func brief(v any) string {
	text, err := Render(v)
	if err != nil {
		return kindOf(v)
	}
	if runes := []rune(text); len(runes) > 60 {
		text = string(runes[:57]) + "…"
	}
	return fmt.Sprintf("%s %s", kindOf(v), strconv.Quote(text))
}

// JSONSchema is the schema as providers take it; strict is false when a field
// may hold anything, which providers cannot enforce.
func (s *Schema) JSONSchema() (raw json.RawMessage, strict bool) {
	strict = true
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{`)
	required := make([]string, len(s.Fields))
	for i, f := range s.Fields {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(quote(f.Name) + ":" + f.jsonSchema())
		required[i] = quote(f.Name)
		strict = strict && f.Kind != gates.JSON
	}
	b.WriteString(`},"required":[` + strings.Join(required, ",") + `],"additionalProperties":false}`)
	return json.RawMessage(b.String()), strict
}

var jsonTypes = map[gates.Kind]string{
	gates.String: "string", gates.Bool: "boolean", gates.Int: "integer", gates.Float: "number", gates.Strings: "array",
}

// jsonSchema writes one field. Optional fields stay required and may be null:
// strict mode knows no other way.
func (f *Field) jsonSchema() string {
	word, ok := jsonTypes[f.Kind]
	if !ok {
		return `{}`
	}
	typ := quote(word)
	if f.Optional {
		typ = `["` + word + `","null"]`
	}
	out := `{"type":` + typ
	if f.Kind == gates.Strings {
		return out + `,"items":{"type":"string"` + f.jsonEnum(false) + `}}`
	}
	return out + f.jsonEnum(f.Optional) + "}"
}

// jsonEnum writes the closed set, which holds null when the value may be.
func (f *Field) jsonEnum(null bool) string {
	if len(f.Enum) == 0 {
		return ""
	}
	values := make([]string, 0, len(f.Enum)+1)
	for _, e := range f.Enum {
		values = append(values, quote(e))
	}
	if null {
		values = append(values, "null")
	}
	return `,"enum":[` + strings.Join(values, ",") + `]`
}

func quote(s string) string {
	raw, err := Encode(s)
	if err != nil {
		panic(err) // a string always encodes
	}
	return string(raw)
}

// Misfits says which given value does not fit its field, or "". Fields that are
// absent are not judged: whoever reads one gets the error. A nil schema takes
// everything.
func (s *Schema) Misfits(value map[string]any) string {
	if s == nil {
		return ""
	}
	for i := range s.Fields {
		f := &s.Fields[i]
		v, given := value[f.Name]
		if !given || v == nil && f.Optional {
			continue
		}
		if _, ok := f.Coerce(v); !ok {
			return fmt.Sprintf("field %q: want %s, got %s", f.Name, f.Describe(), brief(v))
		}
	}
	return ""
}

func field(name string, kind gates.Kind) Field {
	return Field{Field: gates.Field{Name: name, Kind: kind}}
}

// Approval is what a human gate without an output schema asks for.
var Approval = []gates.Field{
	{Name: "approved", Kind: gates.Bool},
	{Name: "comment", Kind: gates.String, Optional: true},
}

var (
	approvalFields = []Field{{Field: Approval[0]}, {Field: Approval[1]}}
	textFields     = []Field{field("text", gates.String)} // a call's answer as it is
)
