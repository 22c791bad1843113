package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
	"github.com/pawl-ci/pawl/runner/machine"
)

func (e *engine) prepareGate(c machine.OpenGate) (event.Body, effectFunc, error) {
	opened := &event.GateOpened{
		Key: c.Key, Gate: string(c.Question.Gate), Question: event.Inline(mustEncode(c.Question)),
	}
	return opened, e.askPerson(c.Key, c.Question), nil
}

func (e *engine) pollGate(c machine.PollGate) (effectFunc, error) {
	payload := c.Opened.Question
	if err := payload.Load(e.Blobs.Get); err != nil {
		return nil, err
	}
	var q gates.Question
	if err := json.Unmarshal(payload.Raw(), &q); err != nil {
		return nil, fmt.Errorf("question of %s: %w", c.Node.ID, err)
	}
	return e.askPerson(c.Key, q), nil
}

func (e *engine) askPerson(key event.Key, q gates.Question) effectFunc {
	wait := e.queueAtGate()
	return func(ctx context.Context) ([]event.Body, error) {
		defer wait()()
		said, ref, err := e.Gate.Ask(ctx, q)
		if err != nil && ctx.Err() == nil {
			return nil, fmt.Errorf("ask %s: %w", q.Gate, err)
		}
		asked := []event.Body{&event.GateAsked{Key: key, Gate: string(q.Gate), Ref: ref}}
		if said == nil {
			return asked, nil
		}
		output, problem := fitAnswer(q, said.Values, e.opts.Redact)
		if problem != "" {
			return asked, &AnswerError{Gate: string(q.Gate), Problem: problem}
		}
		return []event.Body{&event.GateAnswered{
			Key: key, Gate: string(q.Gate), Output: output, By: said.By, Via: said.Via,
		}}, nil
	}
}

// queueAtGate takes a place in the line of questions: a person is asked one thing
// at a time, in the order in which the engine decided. wait returns when it is
// one's turn, with what ends it.
func (e *engine) queueAtGate() (wait func() (leave func())) {
	before, done := e.lastAsked, make(chan struct{})
	e.lastAsked = done
	return func() func() {
		if before != nil {
			<-before
		}
		return func() { close(done) }
	}
}

// fitAnswer checks an answer against the fields that were asked for, and takes
// secrets out of its texts.
func fitAnswer(q gates.Question, values map[string]json.RawMessage, redact func(string) string) (json.RawMessage, string) {
	schema := &ir.Schema{}
	for _, f := range q.Fields {
		schema.Fields = append(schema.Fields, ir.Field{Field: f})
	}
	decoded := make(map[string]any, len(values))
	for name, raw := range values {
		if !slices.Contains(schema.Names(), name) {
			return nil, fmt.Sprintf("there is no field %q; asked for: %s", name, strings.Join(schema.Names(), ", "))
		}
		v, err := ir.Decode(raw)
		if err != nil {
			return nil, fmt.Sprintf("field %q: %s", name, err)
		}
		decoded[name] = redacted(v, redact)
	}
	fitted, problems := schema.Fit(decoded)
	if len(problems) > 0 {
		slices.Sort(problems)
		return nil, strings.Join(problems, "; ")
	}
	if least := min(q.MinAnswers, len(q.Fields)); len(fitted) < least {
		return nil, fmt.Sprintf("min_answers: %d of the fields %s must be answered, %d are", least, strings.Join(schema.Names(), ", "), len(fitted))
	}
	return mustEncode(fitted), ""
}

// redacted applies redact to every text inside v, which stays valid JSON.
func redacted(v any, redact func(string) string) any {
	switch v := v.(type) {
	case string:
		return redact(v)
	case []any:
		for i := range v {
			v[i] = redacted(v[i], redact)
		}
	case map[string]any:
		for k := range v {
			v[k] = redacted(v[k], redact)
		}
	}
	return v
}
