package replay

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
	"github.com/pawl-ci/pawl/runner/machine"
)

// started compares the beginning of an effect with the command that is due.
func (r *replay) started(e *event.Event) error {
	r.result.Starts++
	command := r.state.Step(e.Token)
	if command == nil {
		return differ(e, "")
	}
	expected, ok := r.startOf(command, e.Body)
	if !ok {
		return differ(e, describeCommand(command))
	}
	if same, text := sameBody(expected, e.Body); !same {
		return differ(e, text)
	}
	return nil
}

// startOf is the event that begins the command's effect. What the engine knows
// and the machine does not (sizes, what a tool may do) is taken from recorded; ok
// is false when that is the beginning of another kind of effect.
func (r *replay) startOf(command machine.Command, recorded event.Body) (event.Body, bool) {
	switch c := command.(type) {
	case machine.CallModel:
		got, ok := recorded.(*event.ModelCallStarted)
		if !ok {
			return nil, false
		}
		r.asked[got.Key] = c
		return r.call(c, got), true
	case machine.CallTool:
		_, ok := recorded.(*event.ToolCallStarted)
		return &event.ToolCallStarted{Key: c.Key, Turn: c.Turn, Index: c.Index, Attempt: c.Attempt, Name: c.Use.Name, Writes: c.Use.Writes}, ok
	case machine.RunCommand:
		got, ok := recorded.(*event.CommandStarted)
		if !ok {
			return nil, false
		}
		return commandStart(c, got), true
	case machine.OpenGate:
		_, ok := recorded.(*event.GateOpened)
		return &event.GateOpened{Key: c.Key, Gate: string(c.Question.Gate), Question: event.Inline(encode(c.Question))}, ok
	case machine.Merge:
		_, ok := recorded.(*event.MergeStarted)
		return &event.MergeStarted{Key: c.Key, Attempt: c.Attempt, Ours: c.Tree.Head, Branches: c.Branches, Sides: c.Sides}, ok
	case machine.Verify:
		_, ok := recorded.(*event.VerifyStarted)
		return &event.VerifyStarted{Key: c.Key}, ok
	}
	return nil, false
}

// call is the expected start of a model call. The reservation is the recorded one
// if the purse can pay it.
func (r *replay) call(c machine.CallModel, got *event.ModelCallStarted) *event.ModelCallStarted {
	want := &event.ModelCallStarted{
		Key: c.Key, Turn: c.Turn, Attempt: c.Attempt, Model: c.Model, MaxOutput: got.MaxOutput, Reserved: got.Reserved, Cut: got.Cut,
		Backend: c.Call.Backend, Writes: c.Call.Backend != "" && !c.Call.Readonly,
	}
	if r.state.Purse.Check(got.Reserved) != nil {
		want.Reserved = r.state.Purse.Left()
	}
	if c.Side != nil {
		prompt := event.Inline(encode(c.Side.Prompt))
		want.Question, want.Prompt = c.Side.Question, &prompt
		want.Backend, want.Writes = "", false
	}
	return want
}

// redactionMark stands where the engine took a secret out of a command line.
const redactionMark = "[redacted]"

func commandStart(c machine.RunCommand, got *event.CommandStarted) *event.CommandStarted {
	want := &event.CommandStarted{Key: c.Key, Attempt: c.Attempt, Command: c.Line}
	if c.Exec.Uses != "" {
		want.Command = c.Exec.Uses
	}
	if matches(got.Command, want.Command) {
		want.Command = got.Command
	}
	return want
}

// matches reports whether redacted is line with texts replaced by the mark.
func matches(redacted, line string) bool {
	parts := strings.Split(redacted, redactionMark)
	if !strings.HasPrefix(line, parts[0]) {
		return false
	}
	line = line[len(parts[0]):]
	for i, part := range parts[1:] {
		if i == len(parts)-2 {
			return strings.HasSuffix(line, part)
		}
		at := strings.Index(line, part)
		if at < 0 {
			return false
		}
		line = line[at+len(part):]
	}
	return line == ""
}

// answered reads a model's recorded answer again.
func (r *replay) answered(e *event.Event, b *event.ModelCallFinished) error {
	command, open := r.asked[b.Key]
	delete(r.asked, b.Key)
	if !open || len(b.Tools) > 0 {
		return nil // folding says whether the call was open
	}
	r.result.Readings++
	var said struct {
		Text string `json:"text"`
	}
	response := b.Response
	if err := json.Unmarshal(response.Raw(), &said); err != nil {
		return differ(e, "a response that can be read: "+err.Error())
	}
	want := *b
	want.Output, want.Problem = command.Reply.Read(said.Text, b.Finish)
	if same, text := sameBody(&want, b); !same {
		return differ(e, text)
	}
	return nil
}

// person checks that an answer fits what was asked.
func (r *replay) person(e *event.Event, b *event.GateAnswered) error {
	t := r.state.Token(e.Token)
	if t == nil || t.Question == nil {
		return nil // folding refuses it
	}
	r.result.Readings++
	var q gates.Question
	question := t.Question.Question
	if err := json.Unmarshal(question.Raw(), &q); err != nil {
		return differ(e, "a question that can be read: "+err.Error())
	}
	schema := &ir.Schema{}
	for _, f := range q.Fields {
		schema.Fields = append(schema.Fields, ir.Field{Field: f})
	}
	said, err := ir.DecodeObject(b.Output)
	if err != nil {
		return differ(e, "an answer that can be read: "+err.Error())
	}
	if _, problems := schema.Fit(said); len(problems) > 0 {
		return differ(e, fmt.Sprintf("an answer that fits: %s", strings.Join(problems, "; ")))
	}
	return nil
}
