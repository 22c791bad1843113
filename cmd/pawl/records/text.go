package records

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/runner/event"
)

// Text is a workflow as a record keeps it.
type Text struct {
	Path        string
	Source      event.Payload // a JSON string
	Env         map[string]string
	Digest      event.Digest
	NodeDigests map[string]event.Digest
}

// TextOf is the text that holds at the end of events: the one that the run began
// with, or the last one that a resume brought. An empty record has an empty one.
func TextOf(events []event.Event) Text {
	var t Text
	for i := range events {
		switch b := events[i].Body.(type) {
		case *event.RunStarted:
			t = Text{b.Path, b.Source, b.Env, b.Digest, b.NodeDigests}
		case *event.RunResumed:
			if b.Source != nil {
				t = Text{b.Path, *b.Source, b.Env, b.Digest, b.NodeDigests}
			}
		}
	}
	return t
}

// Recorded compiles the workflow that holds at the end of events, with the
// values of ${NAME} that the record keeps. Findings of the source say whether
// this version still can run it.
func Recorded(events []event.Event, opt cli.CompileOptions) (*cli.Source, error) {
	return TextOf(events).compile(opt)
}

func (t *Text) decode() (string, error) {
	var text string
	if t.Source.Raw() == nil {
		return "", errors.New("workflow text: it is not loaded")
	}
	if err := json.Unmarshal(t.Source.Raw(), &text); err != nil {
		return "", fmt.Errorf("workflow text: %w", err)
	}
	return text, nil
}

func (t Text) compile(opt cli.CompileOptions) (*cli.Source, error) {
	text, err := t.decode()
	if err != nil {
		return nil, err
	}
	opt.Lookup = func(name string) (string, bool) {
		v, ok := t.Env[name]
		return v, ok
	}
	return cli.Compile(t.Path, text, opt), nil
}
