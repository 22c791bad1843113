package script

import (
	"bytes"
	"unicode/utf8"
)

// pieceSize is how many bytes of text one event of a stream carries at most.
const pieceSize = 32

// stream renders the answer as server-sent events.
func (a *answer) stream(includeUsage bool) []byte {
	var b bytes.Buffer
	usage := a.usage
	a.usage = nil // it comes in an event of its own, at the end
	event := func(choices ...wireChoice) {
		b.WriteString("data: ")
		b.Write(encode(a.envelope("chat.completion.chunk", choices...)))
		b.WriteByte('\n')
	}
	none := ""
	event(wireChoice{Delta: &wireDelta{Role: "assistant", Content: &none}})
	for _, piece := range pieces(a.text) {
		event(wireChoice{Delta: &wireDelta{Content: &piece}})
	}
	for i, c := range a.calls {
		head := wireCall{Index: &i, ID: c.ID, Type: "function", Function: wireFunction{Name: c.Name}}
		event(wireChoice{Delta: &wireDelta{ToolCalls: []wireCall{head}}})
		for _, piece := range pieces(c.Args) {
			part := wireCall{Index: &i, Function: wireFunction{Arguments: piece}}
			event(wireChoice{Delta: &wireDelta{ToolCalls: []wireCall{part}}})
		}
	}
	event(wireChoice{Delta: &wireDelta{}, FinishReason: &a.finish})
	if includeUsage && usage != nil {
		a.usage = usage
		event()
	}
	b.WriteString("data: [DONE]\n\n")
	return b.Bytes()
}

// pieces cuts s into parts of at most pieceSize bytes, never inside a character.
func pieces(s string) []string {
	var out []string
	for len(s) > pieceSize {
		n := pieceSize
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		if n == 0 {
			n = pieceSize // not UTF-8
		}
		out, s = append(out, s[:n]), s[n:]
	}
	if s != "" {
		out = append(out, s)
	}
	return out
}
