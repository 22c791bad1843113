package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"
)

// maxDepth bounds how deep values may be nested in each other.
const maxDepth = 1000

// ReadLines reads a file of JSON objects, one a line, into the tree that the
// same script has in YAML: an object with a list under itemsKey. The first line
// may be a header instead, an object without any of the keys that mark an item;
// its fields become the object's own. Empty lines are skipped. Errors are
// *[Error].
func ReadLines(file string, data []byte, itemsKey string, marks ...string) (*Value, error) {
	root := &Value{At: Place{1, 1}, Kind: Object}
	items := &Value{At: Place{1, 1}, Kind: List}
	line, seen := 0, false
	for raw := range bytes.Lines(data) {
		line++
		if len(bytes.TrimSpace(raw)) == 0 {
			continue
		}
		v, err := readJSON(file, line, raw)
		if err != nil {
			return nil, err
		}
		header := v.Kind == Object && !seen && !v.hasAny(marks)
		seen = true
		if !header {
			items.Items = append(items.Items, v)
			continue
		}
		if e := v.Field(itemsKey); e != nil {
			return nil, &Error{file, e.At, itemsKey + ": in a file of lines each one is a line of its own"}
		}
		root.Fields = v.Fields
	}
	root.Fields = append(root.Fields, Field{items.At, itemsKey, items})
	return root, nil
}

func (v *Value) hasAny(keys []string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { return v.Field(key) != nil })
}

// jsonReader reads the value on one line.
type jsonReader struct {
	file string
	line int
	data []byte
	dec  *json.Decoder
}

func readJSON(file string, line int, data []byte) (*Value, error) {
	r := jsonReader{file, line, data, json.NewDecoder(bytes.NewReader(data))}
	r.dec.UseNumber()
	v, err := r.value(0)
	if err != nil {
		return nil, err
	}
	if at := r.next(); len(bytes.TrimSpace(data[r.dec.InputOffset():])) > 0 {
		return nil, r.fail(at, "text after the end of the value: want one value a line")
	}
	return v, nil
}

func (r jsonReader) fail(at Place, message string) error {
	return &Error{File: r.file, Place: at, Message: message}
}

// next is where the next token begins.
func (r jsonReader) next() Place {
	at := int(r.dec.InputOffset())
	for at < len(r.data) && bytes.IndexByte([]byte(" \t\r\n,:"), r.data[at]) >= 0 {
		at++
	}
	return r.place(at)
}

func (r jsonReader) place(offset int) Place {
	return Place{r.line, utf8.RuneCount(r.data[:min(offset, len(r.data))]) + 1}
}

func (r jsonReader) token() (json.Token, Place, error) {
	at := r.next()
	tok, err := r.dec.Token()
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return nil, at, r.fail(at, "not valid JSON: "+syntax.Error())
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return nil, at, r.fail(at, "not valid JSON: the line ends too early")
	case err != nil:
		return nil, at, r.fail(at, "not valid JSON: "+err.Error())
	}
	return tok, at, nil
}

func (r jsonReader) value(depth int) (*Value, error) {
	tok, at, err := r.token()
	if err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, r.fail(at, fmt.Sprintf("nested more than %d deep", maxDepth))
	}
	v := &Value{At: at}
	switch tok := tok.(type) {
	case nil:
		v.Kind, v.Text = Null, "null"
	case bool:
		v.Kind, v.Text = Boolean, strconv.FormatBool(tok)
	case json.Number:
		v.Kind, v.Text, v.Source = Number, tok.String(), tok.String()
	case string:
		v.Kind, v.Text = Text, tok
	case json.Delim:
		if tok == '[' {
			return r.list(v, depth)
		}
		return r.object(v, depth)
	}
	return v, nil
}

func (r jsonReader) list(v *Value, depth int) (*Value, error) {
	v.Kind = List
	for r.dec.More() {
		item, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		v.Items = append(v.Items, item)
	}
	_, _, err := r.token()
	return v, err
}

func (r jsonReader) object(v *Value, depth int) (*Value, error) {
	v.Kind = Object
	for r.dec.More() {
		key, at, err := r.token()
		if err != nil {
			return nil, err
		}
		name, ok := key.(string)
		if !ok {
			return nil, r.fail(at, "not valid JSON: a key must be text")
		}
		if v.Field(name) != nil {
			return nil, r.fail(at, fmt.Sprintf("key %q is there twice", name))
		}
		read, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		v.Fields = append(v.Fields, Field{at, name, read})
	}
	_, _, err := r.token()
	return v, err
}
