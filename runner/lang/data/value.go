package data

import (
	"strconv"

	"github.com/pawl-ci/pawl/runner/lang/diag"
)

// Kind says what a value is. Its String fits after "this is".
type Kind int

// The kinds of values, those of JSON.
const (
	Null Kind = iota
	Bool
	Number
	Text
	List
	Object
)

var kindNames = [...]string{"null", "true or false", "a number", "text", "a list", "a mapping"}

// String implements fmt.Stringer.
func (k Kind) String() string { return kindNames[k] }

// Value is one value and its place.
type Value struct {
	Span   diag.Span
	Kind   Kind
	Str    string   // a text's content, a number's or a boolean's spelling
	Items  []*Value // of a list
	Fields []Field  // of an object, in the order of the file; no key twice

	offsets []int // of each byte of a text in the file, and of its end
}

// Field is one key of an object.
type Field struct {
	Key   string
	At    diag.Span // of the key
	Value *Value
}

// Field returns the value under key, or nil; nil as well when v is no object.
func (v *Value) Field(key string) *Value {
	if v == nil {
		return nil
	}
	for i := range v.Fields {
		if v.Fields[i].Key == key {
			return v.Fields[i].Value
		}
	}
	return nil
}

// At is the place of the bytes [start, end) of a text in its file, whatever way
// of quoting it is written in.
func (v *Value) At(start, end int) diag.Span {
	last := len(v.offsets) - 1
	if last < 0 {
		return v.Span
	}
	from := v.offsets[min(max(start, 0), last)]
	to := from
	if end > start {
		to = min(v.offsets[max(min(end, last)-1, 0)]+1, len(v.Span.File.Text))
	}
	return diag.Span{File: v.Span.File, Start: from, End: max(from, to)}
}

// Plain is the value as workflows know values: nil, bool, int, float64, string,
// []any and map[string]any. A number too large for either kind stays text.
func (v *Value) Plain() any {
	switch v.Kind {
	case Bool:
		return v.Str == "true"
	case Number:
		return plainNumber(v.Str)
	case Text:
		return v.Str
	case List:
		list := make([]any, len(v.Items))
		for i, item := range v.Items {
			list[i] = item.Plain()
		}
		return list
	case Object:
		object := make(map[string]any, len(v.Fields))
		for _, f := range v.Fields {
			object[f.Key] = f.Value.Plain()
		}
		return object
	}
	return nil
}

func plainNumber(text string) any {
	if i, err := strconv.Atoi(text); err == nil {
		return i
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && f-f == 0 {
		return f
	}
	return text
}
