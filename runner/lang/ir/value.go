package ir

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// Values that flow through a workflow are nil, bool, int, float64, string, []any
// and map[string]any. Decode makes them and Encode writes them; whole numbers
// are int, so that conditions compare them as people expect.

// Decode reads exactly one JSON value.
func Decode(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("decode JSON: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("decode JSON: text after the value")
	}
	return plain(v), nil
}

func plain(v any) any {
	switch v := v.(type) {
	case json.Number:
		return number(v)
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = plain(v[k])
		}
	}
	return v
}

func number(n json.Number) any {
	if i, err := n.Int64(); err == nil {
		return int(i)
	}
	if f, err := n.Float64(); err == nil {
		return f
	}
	return n.String() // beyond any float: kept as written
}

// Encode writes v as compact JSON with sorted keys and without HTML escapes:
// the same value gives the same bytes.
func Encode(v any) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode JSON: %w", err)
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}

// Render turns a value into text for a template: strings as they are, everything
// else as compact JSON.
func Render(v any) (string, error) {
	if s, ok := v.(string); ok {
		return s, nil
	}
	raw, err := Encode(v)
	return string(raw), err
}

// kindOf names a value's type for messages.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "bool"
	case int:
		return "int"
	case float64:
		return "float"
	case string:
		return "string"
	case []any:
		return "list"
	case map[string]any:
		return "object"
	}
	return fmt.Sprintf("%T", v)
}
