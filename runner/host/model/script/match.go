package script

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// miss is a condition that a request does not fulfil; the zero miss is none.
type miss struct {
	condition string
	want      any
}

func (m miss) String() string {
	if s, ok := m.want.(string); ok {
		return fmt.Sprintf("%s %q", m.condition, clip(s, 60))
	}
	return fmt.Sprintf("%s %v", m.condition, m.want)
}

// misses returns the first condition that r does not fulfil.
func (m Match) misses(r *chatRequest) miss {
	switch {
	case m.Node != "" && m.Node != r.node:
		return miss{"node", m.Node}
	case m.Visit != 0 && m.Visit != r.visit:
		return miss{"visit", m.Visit}
	case m.Turn != 0 && m.Turn != r.turn:
		return miss{"turn", m.Turn}
	case m.Model != "" && m.Model != r.Model:
		return miss{"model", m.Model}
	case m.Schema != "" && m.Schema != r.schema():
		return miss{"schema", m.Schema}
	}
	for _, c := range [...]struct {
		name  string
		texts []string
		holds func(string) bool
		want  bool
	}{
		{"tools", m.Tools, r.offers, true},
		{"contains", m.Contains, r.lastHolds, true},
		{"not_contains", m.NotContains, r.lastHolds, false},
		{"anywhere", m.Anywhere, r.holds, true},
		{"not_anywhere", m.NotAnywhere, r.holds, false},
	} {
		for _, s := range c.texts {
			if c.holds(s) != c.want {
				return miss{c.name, s}
			}
		}
	}
	return miss{}
}

func (r *chatRequest) last() chatMessage { return r.Messages[len(r.Messages)-1] }

func (r *chatRequest) lastHolds(s string) bool { return strings.Contains(r.last().text, s) }

func (r *chatRequest) holds(s string) bool {
	return slices.ContainsFunc(r.Messages, func(m chatMessage) bool { return strings.Contains(m.text, s) })
}

func (r *chatRequest) offers(tool string) bool {
	return slices.ContainsFunc(r.Tools, func(t chatTool) bool { return t.Function.Name == tool })
}

// choose takes the first exchange that matches and is not used up, and counts
// the use. When there is none, why says what stood in the way.
func (h *Handler) choose(r *chatRequest) (exchange int, reply *Reply, why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.script.Exchanges {
		e := &h.script.Exchanges[i]
		if h.usedUp(i) || e.Match.misses(r) != (miss{}) {
			continue
		}
		n := min(h.uses[i], len(e.Replies)-1)
		h.uses[i]++
		return i + 1, &e.Replies[n], ""
	}
	return 0, nil, h.unmatched(r)
}

func (h *Handler) usedUp(exchange int) bool {
	times := h.script.Exchanges[exchange].Times
	return times > 0 && h.uses[exchange] >= times
}

// maxReasons bounds how many exchanges a refusal explains.
const maxReasons = 5

func (h *Handler) unmatched(r *chatRequest) string {
	var b strings.Builder
	fmt.Fprintf(&b, "script %q has no exchange for ", h.script.Name)
	if r.node != "" {
		fmt.Fprintf(&b, "node %q, visit %d, ", r.node, r.visit)
	}
	fmt.Fprintf(&b, "turn %d, model %q; the last message (%s) begins %q", r.turn, r.Model, r.last().Role, clip(r.last().text, 120))
	for i, e := range h.script.Exchanges {
		if i == maxReasons {
			fmt.Fprintf(&b, "; and %d more", len(h.script.Exchanges)-maxReasons)
			break
		}
		fmt.Fprintf(&b, "; exchange %d (line %d) ", i+1, e.Line)
		if m := e.Match.misses(r); m != (miss{}) {
			fmt.Fprintf(&b, "wants %s", m)
		} else {
			fmt.Fprintf(&b, "was used %d times already", h.uses[i])
		}
	}
	return b.String()
}

// clip cuts s to about n bytes, never inside a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
