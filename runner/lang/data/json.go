package data

import (
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/pawl-ci/pawl/runner/lang/diag"
)

// jsonReader reads one JSON value token by token.
type jsonReader struct {
	reader
	text string // the file's text
	base int    // where dec began in it
	dec  *json.Decoder
}

func (r reader) json() (*Value, error) {
	text := strings.TrimPrefix(r.file.Text, bom)
	j := &jsonReader{reader: r, text: r.file.Text, base: len(r.file.Text) - len(text), dec: json.NewDecoder(strings.NewReader(text))}
	j.dec.UseNumber()
	v, err := j.value(0)
	if err != nil {
		return nil, err
	}
	if start := j.next(); start < len(j.text) {
		return nil, j.fail(start, "text after the end of the value")
	}
	return v, nil
}

func (j *jsonReader) fail(at int, message string) error {
	return &trouble{j.span(at, at+1), "not valid JSON: " + message, "a JSON file holds one object in braces; keys and texts stand in double quotes"}
}

// end is where the last token ended.
func (j *jsonReader) end() int { return j.base + int(j.dec.InputOffset()) }

// next is where the next token begins.
func (j *jsonReader) next() int {
	at := j.end()
	for at < len(j.text) && strings.IndexByte(" \t\r\n,:", j.text[at]) >= 0 {
		at++
	}
	return at
}

func (j *jsonReader) token() (json.Token, diag.Span, error) {
	start := j.next()
	tok, err := j.dec.Token()
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return nil, diag.Span{}, j.fail(max(start, j.base+int(syntax.Offset)-1), syntax.Error())
	case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
		return nil, diag.Span{}, j.fail(len(j.text), "the file ends too early")
	case err != nil:
		return nil, diag.Span{}, j.fail(start, err.Error())
	}
	return tok, j.span(start, j.end()), nil
}

func (j *jsonReader) value(depth int) (*Value, error) {
	tok, span, err := j.token()
	if err != nil {
		return nil, err
	}
	if err := j.tooDeep(depth, span); err != nil {
		return nil, err
	}
	v := &Value{Span: span}
	switch tok := tok.(type) {
	case bool:
		v.Kind, v.Str = Bool, strconv.FormatBool(tok)
	case json.Number:
		v.Kind, v.Str = Number, tok.String()
	case string:
		v.Kind, v.Str, v.offsets = Text, tok, jsonOffsets(j.text, span)
	case json.Delim:
		if tok == '[' {
			return j.items(v, depth)
		}
		return j.object(v, depth)
	}
	return v, nil
}

func (j *jsonReader) items(v *Value, depth int) (*Value, error) {
	v.Kind = List
	for j.dec.More() {
		item, err := j.value(depth + 1)
		if err != nil {
			return nil, err
		}
		v.Items = append(v.Items, item)
	}
	return j.close(v)
}

func (j *jsonReader) object(v *Value, depth int) (*Value, error) {
	v.Kind = Object
	seen := make(keys)
	for j.dec.More() {
		key, at, err := j.token()
		if err != nil {
			return nil, err
		}
		name, ok := key.(string)
		if !ok {
			return nil, j.fail(at.Start, "a key must be text")
		}
		value, err := j.value(depth + 1)
		if err != nil {
			return nil, err
		}
		j.add(v, seen, Field{name, at, value})
	}
	return j.close(v)
}

func (j *jsonReader) close(v *Value) (*Value, error) {
	_, at, err := j.token()
	v.Span.End = at.End
	return v, err
}

// jsonOffsets maps each byte of the text that a JSON string stands for to where
// it stands in the file.
func jsonOffsets(text string, span diag.Span) []int {
	var offsets []int
	for at, end := span.Start+1, span.End-1; at < end; {
		size, width := jsonUnit(text[at:end])
		for range width {
			offsets = append(offsets, at)
		}
		at += size
	}
	return append(offsets, span.End-1)
}

// jsonUnit is the first character of a JSON string's inside: its bytes in the
// file, and in the text it stands for.
func jsonUnit(raw string) (size, width int) {
	if raw[0] != '\\' {
		r, size := utf8.DecodeRuneInString(raw)
		return size, utf8.RuneLen(r) // what is broken became the replacement character
	}
	if len(raw) < 6 || raw[1] != 'u' {
		return min(2, len(raw)), 1
	}
	r, size := unicodeEscape(raw), 6
	if utf16.IsSurrogate(r) {
		pair := utf8.RuneError
		if strings.HasPrefix(raw[6:], `\u`) && len(raw) >= 12 {
			pair = utf16.DecodeRune(r, unicodeEscape(raw[6:]))
		}
		if r = pair; pair != utf8.RuneError {
			size = 12
		}
	}
	return size, utf8.RuneLen(r)
}

func unicodeEscape(raw string) rune {
	n, err := strconv.ParseUint(raw[2:6], 16, 32)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}
