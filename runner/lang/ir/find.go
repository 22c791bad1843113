package ir

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

var errNoObject = errors.New("it holds no JSON object")

// FindObject takes the JSON object out of an answer: the whole text, or the one
// object inside it (in a code fence, after a sentence).
func FindObject(text string) (map[string]any, error) {
	text = strings.TrimSpace(text)
	var firstErr error
	for rest, offset := text, 0; ; {
		i := strings.IndexByte(rest, '{')
		if i < 0 {
			break
		}
		offset += i
		var raw json.RawMessage
		err := json.NewDecoder(strings.NewReader(text[offset:])).Decode(&raw)
		if err == nil {
			return DecodeObject(raw)
		}
		if firstErr == nil {
			firstErr = fmt.Errorf("it is not valid JSON: %w", err)
		}
		offset++
		rest = text[offset:]
		if offset > maxScan {
			break
		}
	}
	if firstErr != nil {
		return nil, firstErr
	}
	return nil, errNoObject
}

// maxScan bounds the search for an object in an answer full of braces, which
// would otherwise take quadratic time.
const maxScan = 64 << 10

// DecodeObject reads one JSON value, which must be an object.
func DecodeObject(raw json.RawMessage) (map[string]any, error) {
	v, err := Decode(raw)
	if err != nil {
		return nil, err
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, errNoObject
	}
	return object, nil
}
