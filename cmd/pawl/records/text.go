package records

import (
	"encoding/json"
	"fmt"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/diag"
)

// Text is a workflow as a record keeps it.
type Text struct {
	Path        string
	Source      event.Payload // a JSON string
	Env         map[string]string
	Digest      event.Digest
	NodeDigests map[string]event.Digest
	Recipe      *event.Recipe // that changed the text; nil without one
}

// TextOf is the text that holds at the end of events: the one that the run began
// with, or the last one that a resume brought. An empty record has an empty one.
func TextOf(events []event.Event) Text {
	var t Text
	for i := range events {
		switch b := events[i].Body.(type) {
		case *event.RunStarted:
			t = Text{b.Path, b.Source, b.Env, b.Digest, b.NodeDigests, b.Recipe}
		case *event.RunResumed:
			if b.Source != nil {
				t = Text{b.Path, *b.Source, b.Env, b.Digest, b.NodeDigests, b.Recipe}
			}
		}
	}
	return t
}

// Recorded compiles the workflow that holds at the end of events, with its
// recipe and the values of ${NAME} that the record keeps. Findings of the source say whether
// this version still can run it.
func Recorded(events []event.Event, opt cli.CompileOptions) (*cli.Source, error) {
	return TextOf(events).compile(opt)
}

// decode reads a text of the record; what names it in errors.
func decode(p *event.Payload, what string) (string, error) {
	var text string
	if p.Raw() == nil {
		return "", fmt.Errorf("text of the %s: it is not loaded", what)
	}
	if err := json.Unmarshal(p.Raw(), &text); err != nil {
		return "", fmt.Errorf("text of the %s: %w", what, err)
	}
	return text, nil
}

// RecipeFile is the recipe as the record keeps it, or nil without one.
func (t *Text) RecipeFile() (*diag.File, error) {
	if t.Recipe == nil {
		return nil, nil
	}
	text, err := decode(&t.Recipe.Source, "recipe")
	if err != nil {
		return nil, err
	}
	return diag.NewFile(t.Recipe.Path, text), nil
}

// compile is Compile as the record has it: with its recipe, and the environment
// of then.
func (t Text) compile(opt cli.CompileOptions) (*cli.Source, error) {
	var err error
	if opt.Recipe, err = t.RecipeFile(); err != nil {
		return nil, err
	}
	opt.Lookup = func(name string) (string, bool) {
		v, ok := t.Env[name]
		return v, ok
	}
	return t.Compile(opt)
}

// Compile compiles the recorded text with what opt gives.
func (t Text) Compile(opt cli.CompileOptions) (*cli.Source, error) {
	text, err := decode(&t.Source, "workflow")
	if err != nil {
		return nil, err
	}
	return cli.Compile(t.Path, text, opt), nil
}
