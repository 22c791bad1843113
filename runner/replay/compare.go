package replay

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
	"github.com/pawl-ci/pawl/runner/machine"
)

// sameBody compares two bodies by their content, wherever their payloads lie.
// text describes expected for a message.
func sameBody(expected, recorded event.Body) (same bool, text string) {
	a, b := content(expected), content(recorded)
	return expected.EventType() == recorded.EventType() && bytes.Equal(a, b), describe(expected)
}

// content is a body as JSON with every payload in place.
func content(b event.Body) []byte {
	e := event.Event{Body: copyOf(b)}
	_ = e.Visit(func(p *event.Payload) error { // never returns an error
		*p = event.Payload{Inline: unframed(p.Raw())}
		return nil
	})
	return encode(e.Body)
}

// copyOf keeps the caller's payloads as they are.
func copyOf(b event.Body) event.Body {
	raw := encode(b)
	out := event.New(b.EventType())
	if err := json.Unmarshal(raw, out); err != nil {
		panic(fmt.Sprintf("replay: copy %s: %v", b.EventType(), err)) // our own type
	}
	from, to := payloads(b), payloads(out)
	for i := range to {
		*to[i] = *from[i]
	}
	return out
}

func payloads(b event.Body) []*event.Payload {
	var list []*event.Payload
	e := event.Event{Body: b}
	_ = e.Visit(func(p *event.Payload) error { // never returns an error
		list = append(list, p)
		return nil
	})
	return list
}

// unframed leaves pawl's own words out of a prompt: they are recorded so that a
// conversation keeps its bytes, and may be put better in a later version.
func unframed(raw json.RawMessage) json.RawMessage {
	var p map[string]json.RawMessage
	if json.Unmarshal(raw, &p) != nil {
		return raw
	}
	if _, prompt := p["user"]; !prompt || p["frame"] == nil {
		return raw
	}
	delete(p, "frame")
	return encode(p)
}

func encode(v any) json.RawMessage {
	raw, err := ir.Encode(v)
	if err != nil {
		panic(fmt.Sprintf("replay: encode %T: %v", v, err)) // our own types
	}
	return raw
}

// shown is how many bytes of a content a message shows.
const shown = 600

// describe is a body on one line.
func describe(b event.Body) string {
	text := content(b)
	if len(text) > shown {
		text = append(bytes.ToValidUTF8(text[:shown], nil), "…"...)
	}
	return fmt.Sprintf("%s %s", b.EventType(), text)
}

// describeCommand is an effect that is due, on one line.
func describeCommand(c machine.Command) string {
	switch c := c.(type) {
	case machine.Record:
		return describe(c.Body)
	case machine.CallModel:
		return "a model call " + string(c.Key)
	case machine.CallTool:
		return "a tool call " + string(c.Key)
	case machine.RunCommand:
		return "a command " + string(c.Key)
	case machine.OpenGate:
		return "a question " + string(c.Key)
	case machine.PollGate:
		return "the question " + string(c.Key) + " again"
	case machine.Merge:
		return "a merge " + string(c.Key)
	case machine.Verify:
		return "a verification " + string(c.Key)
	case machine.Finish:
		return describe(c.Done)
	}
	return fmt.Sprintf("%T", c)
}
