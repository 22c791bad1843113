package transcript_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pawl-ci/pawl/report/reporttest"
	"github.com/pawl-ci/pawl/report/transcript"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

func record() []event.Event {
	prompt := reporttest.JSON(map[string]string{"system": "be brief", "frame": "answer so", "user": "paint"})
	side := reporttest.JSON(map[string]string{"user": "which colour?"})
	r := reporttest.NewRecord("r").Add("agent", &event.NodeStarted{Visit: 1, Prompt: &prompt, Session: "plan#1", Continues: "plan#1"})
	r.Add("agent", &event.ModelCallStarted{Key: "m1", Turn: 1, Cut: 99})
	r.Add("agent", &event.ModelCallFinished{Key: "m1", Model: "m", Problem: "no object", Response: reporttest.JSON(map[string]any{
		"text": "I look\x1b[2J", "tool_calls": []map[string]string{{"name": "read_file", "args": `{"path":"a"}`}},
	})})
	r.Add("agent", &event.ToolCallStarted{Key: "t1", Name: "read_file"})
	r.Add("agent", &event.ToolCallFinished{Key: "t1", Result: reporttest.JSON(strings.Repeat("long ", 1000)), Error: true})
	r.Add("other", &event.NodeStarted{Visit: 1})
	r.Add("agent", &event.ModelCallStarted{Key: "m2", Model: "owner", Question: "which colour?", Prompt: &side})
	r.Add("agent", &event.GateOpened{Key: "g", Gate: "agent#1.1", Question: reporttest.JSON(map[string]string{"text": "which one?"})})
	r.Add("agent", &event.GateAnswered{Key: "g", Output: []byte(`{"answer":"blue"}`), By: "ada"})
	r.Add("agent", &event.NodeRetried{Visit: 1, Try: 1, Detail: "no luck"})
	r.Wait(time.Second).Add("agent", &event.NodeFinished{Visit: 1, Output: reporttest.JSON(map[string]string{"text": "done"})})
	r.Add("agent", &event.NodeStarted{Visit: 2}).Add("agent", &event.CommandStarted{Key: "c", Command: "make"})
	out := reporttest.JSON(map[string]string{"output": "made"})
	r.Add("agent", &event.CommandFinished{Key: "c", Output: &out}).Add("agent", &event.NodeFailed{Visit: 2, Detail: "broken"})
	return r.Events
}

func TestTranscriptTellsEverything(t *testing.T) {
	t.Parallel()
	visits := transcript.Of(record(), "agent")
	if len(visits) != 2 || visits[0].Continues != "plan#1" || string(visits[0].Output) != `{"text":"done"}` || visits[1].Failure != "broken" {
		t.Fatalf("visits %+v", visits)
	}
	var short, full strings.Builder
	if err := transcript.Write(&short, visits, false); err != nil {
		t.Fatal(err)
	}
	if err := transcript.Write(&full, visits, true); err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, want := range []string{
		"agent, visit 1", "continues plan#1", "be brief\n\n    answer so", "paint", "99 bytes of older", "I look", "tool read_file", `{"path":"a"}`,
		"no object", "result read_file (error)", "long long", "owner", "which colour?", "which one?", "answer ada", "blue", "begins again: no luck",
		"done", "visit 2", "make", "exit 0", "made", "broken",
	} {
		i := strings.Index(full.String()[at:], want)
		if i < 0 {
			t.Fatalf("%q does not come after the rest:\n%s", want, full.String())
		}
		at += i
	}
	if strings.ContainsRune(full.String(), '\x1b') {
		t.Error("an escape sequence of a model reaches the terminal")
	}
	if short.Len() > 4000 || full.Len() < 5000 {
		t.Errorf("short has %d bytes, full %d", short.Len(), full.Len())
	}
	if got := transcript.Of(record(), "nobody"); len(got) != 0 {
		t.Errorf("nobody said %+v", got)
	}
}

func TestArtifactsHaveVersions(t *testing.T) {
	t.Parallel()
	w := &ir.Workflow{Nodes: []*ir.Node{{ID: "agent", Publish: "plan", Op: &ir.Compute{}}, {ID: "other", Op: &ir.Compute{}}}}
	w.Entry = w.Nodes[0]
	w.Seal()
	r := reporttest.NewRecord("r").Start(w, w.Limits)
	for range 2 {
		r.Enter("agent").Leave("agent", map[string]int{"n": 1}, "")
	}
	r.Enter("other").Leave("other", map[string]int{"n": 1}, "")
	list := transcript.Artifacts(r.Events, w)
	if len(list) != 2 || list[1].Version != 2 || list[1].Visit != 2 || list[1].Name != "plan" || string(list[1].Value) != `{"n":1}` {
		t.Errorf("artifacts %+v", list)
	}
	var text strings.Builder
	if err := transcript.WriteArtifacts(&text, list, false); err != nil || !strings.Contains(text.String(), "plan  version 2  agent, visit 2") {
		t.Errorf("%v: %s", err, text.String())
	}
}
