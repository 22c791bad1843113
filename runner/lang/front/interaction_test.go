package front_test

import (
	"testing"

	"github.com/pawl-ci/pawl/runner/lang/ir"
)

const interactions = `prompt owner:
  You own it.

agent quiet:
  model: "m"
  interaction: none

agent asks:
  model: "m"
  interaction: llm_or_human
  interaction_prompt: owner
  interaction_model: "o"

agent usual:
  model: "m"

judge same:
  model: "m"
  session: inherit_if_available

human a:
  interaction: human

human b:
  interaction: llm
  model: "m"

human c:
  mode: auto_or_pause
  model: "m"
  min_answers: 2

router r:
  mode: llm
  model: "m"
  multi: true

workflow w:
  entry: quiet
  interaction: human
  quiet -> asks
  asks -> usual
  usual -> same
  same -> a
  a -> b when approved
  a -> fail when not approved
  b -> c when approved
  b -> fail when not approved
  c -> r when approved
  c -> fail when not approved
  r -> done
  r -> fail
`

// TestInteractions: the words of both dialects come to the same, and the
// workflow's word holds for agents that say nothing else.
func TestInteractions(t *testing.T) {
	t.Parallel()
	w, list := load(interactions, nil)
	if list.HasErrors() || w == nil {
		t.Fatalf("findings: %v", list)
	}
	for id, want := range map[string]ir.Interaction{"quiet": "", "asks": ir.ModelOrHuman, "usual": ir.HumanAnswers, "same": ir.HumanAnswers} {
		if got := w.Node(id).Op.(*ir.Call).Interaction; got != want {
			t.Errorf("%s: interaction %q, want %q", id, got, want)
		}
	}
	asks := w.Node("asks").Op.(*ir.Call)
	if asks.InteractionPrompt == nil || asks.InteractionModel == nil {
		t.Errorf("asks: prompt %v, model %v", asks.InteractionPrompt, asks.InteractionModel)
	}
	if got := w.Node("same").Op.(*ir.Call).Session; got != ir.Inherit {
		t.Errorf("same: session %q", got)
	}
	for id, want := range map[string]ir.AskMode{"a": ir.Pause, "b": ir.AutoAnswer, "c": ir.AutoOrPause} {
		op := w.Node(id).Op.(*ir.Ask)
		if op.Mode != want || (op.Call == nil) != (want == ir.Pause) || (ir.CallOf(op) == nil) != (want == ir.Pause) {
			t.Errorf("%s: mode %q, call %v", id, op.Mode, op.Call)
		}
		if op.Call != nil && op.Call.Interaction != ir.NoInteraction {
			t.Errorf("%s: what answers in a person's place asks nobody", id)
		}
	}
	if r := w.Node("r").Op.(*ir.Route); ir.CallOf(r) == nil || r.Call.Interaction != ir.NoInteraction || !r.Multi {
		t.Errorf("r: %+v", r)
	}
	if w.Node("c").Op.(*ir.Ask).MinAnswers != 2 {
		t.Error("c: min_answers is lost")
	}
}

// What an agent may ask, and whom, is part of what it does: an edit of it is an
// edit of the node.
func TestInteractionIsPartOfTheDigest(t *testing.T) {
	t.Parallel()
	w, _ := load(interactions, nil)
	n := w.Node("asks")
	before := n.Digest()
	n.Op.(*ir.Call).Interaction = ir.ModelAnswers
	if n.Digest() == before {
		t.Error("another interaction, the same digest")
	}
}
