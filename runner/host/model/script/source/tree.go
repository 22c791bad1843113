package source

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Place is a position in a file, from 1; columns count characters.
type Place struct{ Line, Column int }

// Error is one thing that is wrong in a file, and where.
type Error struct {
	File string
	Place
	Message string
}

// Error implements error: "demo.yaml:3:5: message".
func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// Kind says what a value is. Its String fits after "this is".
type Kind int

// The kinds of values, those of JSON.
const (
	Null Kind = iota
	Boolean
	Number
	Text
	List
	Object
)

var kindNames = [...]string{"null", "true or false", "a number", "text", "a list", "a mapping"}

// String implements fmt.Stringer.
func (k Kind) String() string { return kindNames[k] }

// Value is a JSON value whose parts know where they stand.
type Value struct {
	At     Place
	Kind   Kind
	Text   string // a text's content; JSON for numbers, booleans and null
	Source string // a number as it was written
	Items  []*Value
	Fields []Field
}

// Field is one key of an object. A reader never returns a key twice.
type Field struct {
	At    Place
	Name  string
	Value *Value
}

// Field returns the value under name, or nil; nil as well when v is no object.
func (v *Value) Field(name string) *Value {
	for _, f := range v.Fields {
		if f.Name == name {
			return f.Value
		}
	}
	return nil
}

// JSON encodes the value compactly, with object keys in the file's order.
func (v *Value) JSON() string {
	var b strings.Builder
	v.write(&b)
	return b.String()
}

func (v *Value) write(b *strings.Builder) {
	switch v.Kind {
	case Text:
		b.WriteString(quote(v.Text))
	case List:
		b.WriteByte('[')
		for i, item := range v.Items {
			separate(b, i)
			item.write(b)
		}
		b.WriteByte(']')
	case Object:
		b.WriteByte('{')
		for i, f := range v.Fields {
			separate(b, i)
			b.WriteString(quote(f.Name))
			b.WriteByte(':')
			f.Value.write(b)
		}
		b.WriteByte('}')
	default:
		b.WriteString(v.Text)
	}
}

func separate(b *strings.Builder, i int) {
	if i > 0 {
		b.WriteByte(',')
	}
}

func quote(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes, and a Builder does not fail
	return strings.TrimSuffix(b.String(), "\n")
}
