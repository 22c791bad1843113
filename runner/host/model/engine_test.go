package model_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/host/model"
	"github.com/pawl-ci/pawl/runner/host/model/script"
	"github.com/pawl-ci/pawl/runner/machine"
	kit "github.com/pawl-ci/pawl/runner/runnertest"
)

// everything says over HTTP what the model of the kit's world says in memory.
const everything = `
name: everything
exchanges:
  - match: {node: route, visit: 1, turn: 1, schema: route_route}
    reply: {json: {reason: "there is work", target: work}}
  - match: {node: work, visit: 1, turn: 1, tools: [write_file, ask_user]}
    reply: {tool_calls: [{id: t1, name: ask_user, args: {question: "Which colour?"}}]}
  - match: {node: work/answer, visit: 1, turn: 1, schema: answer_or_person, contains: "Which colour?"}
    reply: {json: {needs_human: true, questions: null, answer: null}}
  - match: {node: work, visit: 1, turn: 2, contains: blue}
    reply: {tool_calls: [{id: t2, name: write_file, args: {path: a, content: "1"}}]}
  - match: {node: work, visit: 1, turn: 3}
    reply: {text: "done"}
  - match: {node: work, visit: 1, turn: 4, contains: "no JSON object"}
    reply: {json: {summary: s}}
  - match: {node: work, visit: 2, turn: 1, anywhere: [blue, "no JSON object"]}
    reply: {tool_calls: [{id: t2, name: write_file, args: {path: a, content: "2"}}]}
  - match: {node: work, visit: 2}
    reply: {json: {summary: s}}
  - match: {node: judge, schema: approval_or_person}
    reply: {json: {needs_human: false, questions: null, approved: true, comment: null}}
`

// TestEngineSpeaksToTheScript runs every kind of question that the engine asks a
// model through the client and the script's server, which refuses what a provider
// would refuse. The record must tell the same story as that of the same answers
// in memory.
func TestEngineSpeaksToTheScript(t *testing.T) {
	t.Parallel()
	parsed, err := script.Parse("everything.yaml", []byte(everything))
	if err != nil {
		t.Fatal(err)
	}
	server, err := script.Start(context.Background(), parsed, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	client := model.New(model.Config{BaseURL: server.BaseURL(), APIKey: "none", TraceHeaders: true})
	got, want := tell(t, client), tell(t, nil)
	if len(got) != len(want) {
		t.Errorf("%d events over HTTP, %d in memory", len(got), len(want))
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("event %d over HTTP\n%s\nin memory\n%s", i+1, got[i], want[i])
		}
	}
	if n := len(server.Journal().Requests); n != 9 {
		t.Errorf("%d requests reached the server, want 9", n)
	}
}

// tell runs everything with a model, or with the world's own, and returns what
// happened without what differs from one model to another.
func tell(t *testing.T, other runner.Model) []string {
	t.Helper()
	w, world := kit.Everything(), kit.EverythingWorld()
	ports := world.Ports()
	if other != nil {
		ports.Model = other
	}
	first := &event.RunStarted{
		Workflow: w.Name, Inputs: event.Inline(json.RawMessage(`{}`)), Source: event.Inline(json.RawMessage(`""`)), Base: world.Head(),
	}
	if err := runner.Run(context.Background(), machine.NewState(w), first, "r", ports, runner.Options{Prices: kit.Price()}); err != nil {
		t.Fatal(err)
	}
	var story []string
	for _, e := range world.Events() {
		switch b := e.Body.(type) {
		case *event.ModelCallStarted:
			story = append(story, fmt.Sprintf("%s %s question %q", b.Key, b.Model, b.Question))
			continue
		case *event.ModelCallFinished:
			output := ""
			if b.Output != nil {
				output = string(b.Output.Raw())
			}
			story = append(story, fmt.Sprintf("%s answered %v %s problem %q", b.Key, b.Tools, output, b.Problem))
			continue
		case *event.NodeFinished:
			b.By = ""
		}
		raw, err := json.Marshal(e.Body)
		if err != nil {
			t.Fatal(err)
		}
		story = append(story, fmt.Sprintf("%s %s %s", e.Node, e.Body.EventType(), raw))
	}
	return story
}

// On the wire, too, a conversation only grows: the bytes of its messages begin
// with the bytes of the request before, so that a provider's cache hits.
func TestPrefixIsStableOnTheWire(t *testing.T) {
	t.Parallel()
	parsed, err := script.Parse("everything.yaml", []byte(everything))
	if err != nil {
		t.Fatal(err)
	}
	server, err := script.Start(context.Background(), parsed, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	tell(t, model.New(model.Config{BaseURL: server.BaseURL(), APIKey: "none", TraceHeaders: true}))
	var last []json.RawMessage
	compared := 0
	for _, r := range server.Journal().Requests {
		if r.Node != "work" {
			continue
		}
		var body struct{ Messages []json.RawMessage }
		if err := json.Unmarshal(r.Request, &body); err != nil {
			t.Fatal(err)
		}
		if len(body.Messages) <= len(last) {
			t.Fatalf("work#%d turn %d has %d messages after %d", r.Visit, r.Turn, len(body.Messages), len(last))
		}
		for i := range last {
			if string(last[i]) != string(body.Messages[i]) {
				t.Errorf("work#%d turn %d: message %d was\n%s\nand is\n%s", r.Visit, r.Turn, i, last[i], body.Messages[i])
			}
			compared++
		}
		last = body.Messages
	}
	if compared < 20 {
		t.Errorf("only %d messages were compared", compared)
	}
}
