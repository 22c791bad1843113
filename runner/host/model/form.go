package model

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"sync"

	"github.com/pawl-ci/pawl/runner"
)

// form is a way to make a model answer in a schema. Servers differ in which of
// them they know, and say so only when they are asked; so the best is tried
// first, and what a model has answered to is remembered.
type form int

// The forms, the best first. A refused one costs a request that does no work.
const (
	bySchema form = iota // the server keeps the model to the schema
	byJSON               // the server keeps it to JSON, the schema is a message
	byTool               // the answer is the arguments of a tool
	byAsking             // nothing keeps it; the schema is a message
)

// names are the forms as records and reports name them.
var names = [...]string{bySchema: "json_schema", byJSON: "json_object", byTool: "tool", byAsking: "prompt"}

// answerTool is the tool whose arguments are the answer.
const answerTool = "final_answer"

// forms remembers for each model what it has answered to.
type forms struct {
	mu    sync.Mutex
	known map[string]form
}

// of is the form to begin with.
func (f *forms) of(model string, otherwise form) form {
	f.mu.Lock()
	defer f.mu.Unlock()
	if known, ok := f.known[model]; ok {
		return known
	}
	return otherwise
}

func (f *forms) keep(model string, works form) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known == nil {
		f.known = make(map[string]form)
	}
	f.known[model] = works
}

// refusal matches what servers say when they do not know a form. It is looked
// for in answers to requests that asked for one.
var refusal = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)response_?format|json_?(schema|object|mode)|structured|schema|\bstrict\b|tool_?choice|final_answer`)
})

// after is the next form to try when f was refused; false when the refusal is
// about something else, or nothing is left.
func (f form) after(failure *runner.ModelError, complaint string, tools bool) (form, bool) {
	switch failure.Status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity, http.StatusNotImplemented:
	default:
		return f, false
	}
	if f == byAsking || !refusal().MatchString(complaint) {
		return f, false
	}
	if f == bySchema && tools {
		return byTool, true // JSON alone would leave no room for calling tools
	}
	return f + 1, true
}

// apply gives a request its form.
func (f form) apply(w *wireRequest, req *runner.ModelRequest) {
	switch f {
	case bySchema:
		w.Format = format(req)
	case byJSON:
		w.Format = &wireFormat{Type: "json_object"}
		w.Messages = append(w.Messages, schemaMessage(req))
	case byTool:
		w.Tools = append(w.Tools, tool(runner.ToolSpec{
			Name: answerTool, Description: "Give your final answer. Call it once, when everything else is done.", Parameters: req.Schema,
		}))
		w.ToolChoice = json.RawMessage(`"required"`)
		if len(w.Tools) == 1 {
			w.ToolChoice = json.RawMessage(`{"type":"function","function":{"name":"` + answerTool + `"}}`)
		}
	case byAsking:
		w.Messages = append(w.Messages, schemaMessage(req))
	}
}

// schemaMessage tells the schema in words. It comes last, so that the messages
// before it stay the beginning of the next turn's.
func schemaMessage(req *runner.ModelRequest) wireMessage {
	text := "Give your final answer as one JSON object and nothing else. It must fit this JSON schema:\n" + string(req.Schema)
	return wireMessage{Role: runner.User, Content: &text}
}

// take reads the answer out of the form it came in. A model that calls other
// tools as well is not done: its answer waits until it is given alone.
func (f form) take(resp *runner.ModelResponse) {
	resp.Form = names[f]
	if f != byTool {
		return
	}
	isAnswer := func(c runner.ToolCall) bool { return c.Name == answerTool }
	i := slices.IndexFunc(resp.ToolCalls, isAnswer)
	if i < 0 {
		return
	}
	args := resp.ToolCalls[i].Args
	if resp.ToolCalls = slices.DeleteFunc(resp.ToolCalls, isAnswer); len(resp.ToolCalls) == 0 {
		resp.Text, resp.ToolCalls, resp.Finish = args, nil, "stop"
	}
}
