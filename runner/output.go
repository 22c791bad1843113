package runner

import "github.com/pawl-ci/pawl/runner/event"

// payloadOf is a node's output as a payload. Its values are our own types, which
// always encode.
func payloadOf(v map[string]any) *event.Payload {
	p := event.Inline(mustEncode(v))
	return &p
}
