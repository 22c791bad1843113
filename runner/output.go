package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// outputOf reads a model's last answer as the node's output, or says what is
// wrong with it. Without a schema the text itself is the output.
func outputOf(schema *ir.Schema, text, finish string) (*event.Payload, string) {
	if schema == nil {
		return payloadOf(map[string]any{"text": text}), ""
	}
	object, err := findObject(text)
	if err != nil {
		if finish == "length" {
			return nil, "it was cut off at the largest number of tokens an answer may have"
		}
		return nil, err.Error()
	}
	fitted, problems := schema.Fit(object)
	if len(problems) > 0 {
		return nil, strings.Join(problems, "; ")
	}
	return payloadOf(fitted), ""
}

func payloadOf(v map[string]any) *event.Payload {
	p := event.Inline(mustEncode(v))
	return &p
}

var errNoObject = errors.New("it holds no JSON object")

// findObject takes the JSON object out of an answer: the whole text, or the one
// object inside it (in a code fence, after a sentence).
func findObject(text string) (map[string]any, error) {
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
			return decodeObject(raw)
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

func decodeObject(raw json.RawMessage) (map[string]any, error) {
	v, err := ir.Decode(raw)
	if err != nil {
		return nil, err
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, errNoObject
	}
	return object, nil
}
