package machine

import (
	"fmt"
	"strings"

	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// merge is what is left to do about the work of branches at a join.
type merge struct {
	base      string              // commit that the branches started from
	works     []event.MergeBranch // not merged yet, in order of branches
	round     int                 // merges that have ended
	conflicts []event.Conflict    // of works[0]
	sides     map[string]string   // whose file counts, by path; nil until a person has said
}

// mergeOf lists the trees that the branches of f have left behind.
func mergeOf(p *Token, f *fork) merge {
	m := merge{base: p.tree.Head}
	seen := map[*Tree]bool{p.tree: true}
	for _, e := range f.ends {
		if e.failure == nil && !seen[e.tree] && e.tree.Head != m.base {
			m.works = append(m.works, event.MergeBranch{Branch: e.branch, Commit: e.tree.Head})
		}
		seen[e.tree] = true
	}
	return m
}

// mergeStep is what comes next about the branches' work; nil when all is merged.
func (s *State) mergeStep(t *Token, op *ir.Join) Command {
	m := &t.met.merge
	if len(m.works) == 0 {
		return nil
	}
	for _, path := range m.paths() {
		if m.sides[path] == giveUp {
			return t.fails(event.FailConflict, "%s, and a person let it fail", m.said())
		}
	}
	if len(m.conflicts) == 0 || m.sides != nil {
		return Merge{
			Effect: t.effect(fmt.Sprintf("merge/%d", m.round+1)), Tree: s.Tree(t, true), Base: m.base,
			Branches: m.works, Sides: m.sides, Mark: s.Workflow.Resolver(op) != nil,
		}
	}
	switch resolver := s.Workflow.Resolver(op); {
	case op.Conflict == ir.ConflictFails:
		return t.fails(event.FailConflict, "%s", m.said())
	case resolver != nil:
		return s.refer(t, resolver)
	}
	return s.askSides(t)
}

// said names the branch and the files in conflict.
func (m *merge) said() string {
	return fmt.Sprintf("the changes of branch %s and of those before it conflict in %s", m.works[0].Branch, strings.Join(m.paths(), ", "))
}

func (m *merge) paths() []string {
	paths := make([]string, len(m.conflicts))
	for i, c := range m.conflicts {
		paths[i] = c.Path
	}
	return paths
}

// giveUp is the answer that lets the join fail.
const giveUp = "fail"

// askSides asks a person whose file counts.
func (s *State) askSides(t *Token) Command {
	m := &t.met.merge
	gate := t.visitName(t.Visit)
	if m.round > 1 {
		gate = fmt.Sprintf("%s.%d", gate, m.round)
	}
	q := s.question(t, gates.ID(gate))
	var text strings.Builder
	fmt.Fprintf(&text, "Branch %s changed the same lines as those before it. For each file: keep %s (what is merged so far), take %s (the file of branch %s), or let the run %s.",
		m.works[0].Branch, event.Ours, event.Theirs, m.works[0].Branch, giveUp)
	for i, c := range m.conflicts {
		fmt.Fprintf(&text, "\n\n%s: %s%s", sideField(i), c.Path, absent(c))
		if c.Text != "" {
			text.WriteString("\n" + c.Text)
		}
		q.Fields = append(q.Fields, gates.Field{Name: sideField(i), Kind: gates.String, Enum: []string{event.Ours, event.Theirs, giveUp}})
	}
	q.Text = text.String()
	raw, err := ir.Encode(map[string]any{"branch": m.works[0].Branch, "files": m.paths()})
	if err != nil {
		return t.fails(event.FailInput, "question: %s", err)
	}
	q.Input = raw
	return OpenGate{Effect: t.effect(fmt.Sprintf("conflict/%d", m.round)), Question: q}
}

// absent says on which side a file is not there.
func absent(c event.Conflict) string {
	switch {
	case !c.Ours:
		return " (" + event.Ours + ": deleted)"
	case !c.Theirs:
		return " (" + event.Theirs + ": deleted)"
	}
	return ""
}

func sideField(i int) string { return fmt.Sprintf("file_%d", i+1) }

// chosenSides takes a person's answer.
func (s *State) chosenSides(t *Token, answer map[string]any) {
	m := &t.met.merge
	m.sides = make(map[string]string, len(m.conflicts))
	for i, c := range m.conflicts {
		m.sides[c.Path], _ = answer[sideField(i)].(string)
	}
	t.Phase, t.Question = Working, nil
}

// refer sends the token to the agent that resolves conflicts.
func (s *State) refer(t *Token, resolver *ir.Node) Command {
	m := &t.met.merge
	raw, err := ir.Encode(map[string]any{"branch": m.works[0].Branch, "files": m.paths(), "conflict": m.said()})
	if err != nil {
		return t.fails(event.FailInput, "conflict: %s", err)
	}
	input := event.Inline(raw)
	return t.record(&event.ConflictReferred{To: resolver.ID, Input: &input})
}

func (s *State) conflictReferred(t *Token, b *event.ConflictReferred) error {
	op, ok := t.At.Op.(*ir.Join)
	if !ok || t.met == nil || len(t.met.conflicts) == 0 {
		return fmt.Errorf("token %d has no conflict to refer", t.ID)
	}
	resolver := s.Workflow.Resolver(op)
	if resolver == nil || resolver.ID != b.To || b.Input == nil {
		return fmt.Errorf("%s does not refer conflicts to %s", t.At.ID, b.To)
	}
	input, err := object(b.Input.Raw())
	if err != nil {
		return fmt.Errorf("input of %s: %w", b.To, err)
	}
	back := *t
	*t = Token{ID: t.ID, At: resolver, Phase: Arrived, Input: admit(resolver, input), Loops: t.Loops, walker: t.walker}
	t.back = &back
	s.wake(t)
	return nil
}

// resolved brings the token back to its join, once the agent has finished.
func (s *State) resolved(t *Token) {
	now := t.walker
	*t = *t.back
	t.walker = now
	t.back = nil
	t.met.works, t.met.conflicts = t.met.works[1:], nil
	s.wake(t)
}

func (s *State) mergeStarted(e event.Event, t *Token, b *event.MergeStarted) error {
	if t.met == nil || len(t.met.works) == 0 {
		return fmt.Errorf("token %d has nothing to merge", t.ID)
	}
	s.writes(t)
	return s.begins(e, b.Key)
}

func (s *State) mergeFinished(t *Token, b *event.MergeFinished) error {
	if err := s.ends(b.Key, t); err != nil {
		return err
	}
	m := &t.met.merge
	if b.Merged > len(m.works) || len(b.Conflicts) > 0 != (b.Merged < len(m.works)) {
		return fmt.Errorf("%d of %d branches are merged, with %d conflicts", b.Merged, len(m.works), len(b.Conflicts))
	}
	s.changed = s.changed || t.tree == s.root && b.Head != s.Head
	s.moved(t, b.Head, b.Snapshot)
	m.works, m.conflicts, m.sides = m.works[b.Merged:], b.Conflicts, nil
	m.round++
	t.succeeded()
	return nil
}

// Merging is what a token that resolves a conflict has to put an end to: the
// commit that its own one merges, and the files in which no mark of a conflict
// may be left. merges is "" for any other token.
func (t *Token) Merging() (merges string, marked []string) {
	if t.back == nil {
		return "", nil
	}
	return t.met.works[0].Commit, t.met.paths()
}
