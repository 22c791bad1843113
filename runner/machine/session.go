package machine

import (
	"fmt"

	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// Conversation is the exchange with a model in one visit of a node. What went
// before is never changed: a conversation goes on by a new one that points to it,
// so that two nodes may continue from the same place.
type Conversation struct {
	Session string        // the id under which a later node can name it
	Visit   string        // NODE#VISIT, its own name
	Branch  string        // of the token that held it
	Before  *Conversation // what it continues; nil for a new one
	Prompt  *event.Payload
	Turns   []Turn
}

// Turn is one answer of the model with what became of it.
type Turn struct {
	Response event.Payload
	Tools    []event.ToolUse
	Results  []event.Payload // of the first len(Results) tools
	Problem  string          // why the answer could not be the output
}

func (t *Token) visitName(number int) string { return fmt.Sprintf("%s#%d", t.At.ID, number) }

// continued is the conversation that a visit of t's node goes on with, or nil
// for a new one. Input that names a conversation is taken at its word, also when
// it names none: a reviewer in a loop, whose own conversation has not begun,
// must not be given the author's.
func (s *State) continued(t *Token, call *ir.Call) (*Conversation, error) {
	if call.Session != ir.Inherit && call.Session != ir.Fork {
		return nil, nil
	}
	id, named := t.Input["_session_id"]
	if !named {
		return t.last, nil
	}
	switch id := id.(type) {
	case nil: // that of a node that has not run yet: there is nothing to continue
		return nil, nil
	case string:
		if id == "" {
			return nil, nil
		}
		if c := s.sessions[id]; c != nil {
			return c, nil
		}
		return nil, fmt.Errorf("_session_id: there is no conversation %q", id)
	default:
		return nil, fmt.Errorf("_session_id: want the id of a conversation, got %v", id)
	}
}

// begun is the event that opens a visit. What cannot be rendered leaves Prompt
// out, and the node fails in its first step.
func (s *State) begun(t *Token) *event.NodeStarted {
	started := &event.NodeStarted{Visit: s.node(t.At).visits + 1}
	call := ir.CallOf(t.At.Op)
	if call == nil {
		return started
	}
	before, err := s.continued(t, call)
	if err != nil {
		return started
	}
	prompt, err := s.prompt(t, call)
	if err != nil {
		return started
	}
	if started.Prompt, err = prompt.payload(); err != nil {
		return started
	}
	started.Session = t.visitName(started.Visit)
	if before != nil {
		started.Continues = before.Visit
		if call.Session == ir.Inherit && before.Branch == t.branch {
			// In a branch of its own it gets an id of its own: what an id names
			// must not depend on which branch is faster.
			started.Session = before.Session
		}
	}
	return started
}

// opened is the conversation that the event begins.
func (s *State) opened(t *Token, b *event.NodeStarted) (*Conversation, error) {
	c := &Conversation{Session: b.Session, Visit: t.visitName(b.Visit), Branch: t.branch, Prompt: b.Prompt}
	if b.Continues != "" {
		if c.Before = s.spoken[b.Continues]; c.Before == nil {
			return nil, fmt.Errorf("%s continues conversation %s, which is not known", c.Visit, b.Continues)
		}
	}
	return c, nil
}

// continues reports whether some node of w goes on with a conversation; in a
// workflow without one, no conversation outlives its visit.
func continues(w *ir.Workflow) bool {
	for _, n := range w.Nodes {
		if c := ir.CallOf(n.Op); c != nil && (c.Session == ir.Inherit || c.Session == ir.Fork) {
			return true
		}
	}
	return false
}

// keepTalk makes the visit's conversation one that others may continue.
func (s *State) keepTalk(t *Token) {
	c := t.Conversation
	if !s.continues || c == nil || len(c.Turns) == 0 {
		return
	}
	s.spoken[c.Visit], s.sessions[c.Session] = c, c
	t.last = c
}
