package ast

import (
	"strconv"
	"time"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/syntax/scan"
)

// ValueKind is the form in which a value is written.
type ValueKind uint8

// The forms of values.
const (
	StringValue ValueKind = iota + 1 // "text"
	BodyValue                        // indented text below the key
	WordValue                        // a name, possibly dotted
	NumberValue                      // 3, -1.5, 2e3; also a duration such as 30m
	BoolValue                        // true, false
	NullValue                        // null, in JSON only
	ListValue                        // [a, "b"]
	ObjectValue                      // { key: value }, or a block of free keys
	BlockValue                       // a block of properties
)

// Value is what stands behind a key.
type Value struct {
	Kind ValueKind
	// Str is what the value means: decoded text, a word in its canonical
	// spelling, a number as it is written.
	Str  string
	Span diag.Span // as written, with quotes or brackets

	Parts *Parts // nil unless the value has members, properties or escapes
}

// Parts is what few values have.
type Parts struct {
	Places  scan.Places // of a decoded text
	Items   []Value     // of a list
	Entries []Entry     // of an object
	Props   Props       // of a block
}

// Text is the value as text that knows the place of each of its bytes.
func (v *Value) Text() Text {
	t := Text{Value: v.Str, Span: v.Span}
	switch {
	case v.Parts != nil && v.Parts.Places != nil:
		t.Places = v.Parts.Places
	case v.Kind == StringValue:
		t.lead = 1
	case len(v.Str) != v.Span.End-v.Span.Start && v.Str != "":
		t.Places = scan.Whole(v.Span.Start, v.Span.End) // another word for what is written
	}
	return t
}

// Items are the members of a list.
func (v *Value) Items() []Value {
	if v == nil || v.Parts == nil {
		return nil
	}
	return v.Parts.Items
}

// Entries are the members of an object.
func (v *Value) Entries() []Entry {
	if v == nil || v.Parts == nil {
		return nil
	}
	return v.Parts.Entries
}

// Props are the properties of a block.
func (v *Value) Props() Props {
	if v == nil || v.Parts == nil {
		return nil
	}
	return v.Parts.Props
}

// Bool is the value of `true` and `false`; anything else is false.
func (v *Value) Bool() bool { return v.Kind == BoolValue && v.Str == "true" }

// IsInt reports whether the value is a whole number that fits 64 bits.
func (v *Value) IsInt() bool {
	_, err := strconv.ParseInt(v.Str, 10, 64)
	return err == nil && v.Kind == NumberValue
}

// Int is the value of a whole number, 0 for anything else.
func (v *Value) Int() int64 {
	n, err := strconv.ParseInt(v.Str, 10, 64)
	if err != nil || v.Kind != NumberValue {
		return 0
	}
	return n
}

// Float is the value of a number, 0 for anything else.
func (v *Value) Float() float64 {
	n, err := strconv.ParseFloat(v.Str, 64)
	if err != nil || v.Kind != NumberValue {
		return 0
	}
	return n
}

// Duration is the value of a property that wants a duration, 0 for anything else.
func (v *Value) Duration() time.Duration {
	d, err := time.ParseDuration(v.Str)
	if err != nil {
		return 0
	}
	return d
}

// Plain is the value as JSON knows it: nil, bool, int, float64, string, []any or
// map[string]any. Whole numbers are int where they fit, words are strings.
func (v *Value) Plain() any {
	switch v.Kind {
	case BoolValue:
		return v.Bool()
	case NumberValue:
		return v.number()
	case ListValue:
		list := make([]any, len(v.Items()))
		for i := range list {
			list[i] = v.Items()[i].Plain()
		}
		return list
	case ObjectValue:
		object := make(map[string]any, len(v.Entries()))
		for i := range v.Entries() {
			e := &v.Entries()[i]
			object[e.Key.Name] = e.Value.Plain()
		}
		return object
	case StringValue, BodyValue, WordValue:
		return v.Str
	}
	return nil
}

func (v *Value) number() any {
	if n, err := strconv.Atoi(v.Str); err == nil {
		return n
	}
	return v.Float()
}
