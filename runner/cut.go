package runner

import (
	"fmt"
	"slices"
)

// maxConversation is how many bytes of messages a request may hold before older
// tool results are left out: about 130,000 tokens.
const maxConversation = 512 << 10

// keptMessages are the last messages of a talk, which are never cut.
const keptMessages = 6

// add appends messages and keeps the talk within its bound. The bound is met by
// leaving out results of tools, oldest first, down to half of the bound: so the
// beginning of the conversation changes seldom, and a provider's cache hits in
// between. It depends on the messages alone: whoever rebuilds the talk from the
// record leaves out the same.
func (t *talk) add(more ...Message) {
	for _, m := range more {
		t.messages = append(t.messages, m)
		t.size += sizeOf([]Message{m})
		if most := t.bound(); t.size > most {
			t.shrink(most / 2)
		}
	}
}

func (t *talk) bound() int {
	if t.most > 0 {
		return t.most
	}
	return maxConversation
}

// shrink leaves out tool results until size bytes are left, or nothing more can
// go. Requests that were made before keep their messages.
func (t *talk) shrink(size int) {
	t.messages = slices.Clone(t.messages)
	for i := range t.messages[:max(len(t.messages)-keptMessages, 0)] {
		m := &t.messages[i]
		note := leftOut(len(m.Text))
		if m.Role != ToolRole || len(m.Text) <= 2*len(note) {
			continue
		}
		t.cut += int64(len(m.Text))
		t.size += len(note) - len(m.Text)
		m.Text = note
		if t.size <= size {
			return
		}
	}
}

// leftOut is what the model sees in place of a result.
func leftOut(size int) string {
	return fmt.Sprintf("[%d bytes of this result are left out, because the conversation has become long. Use the tool again if you need them.]", size)
}
