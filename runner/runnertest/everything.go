package runnertest

import (
	"encoding/json"
	"fmt"

	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/lang/ir"
	"github.com/pawl-ci/pawl/runner/machine"
)

// Everything is a workflow with a step of each kind that asks, decides or works:
// a model routes, an agent asks somebody, writes and is continued in a loop, a
// command tests, and a model answers a gate.
func Everything() *ir.Workflow {
	f := NewFlow("everything")
	f.Node("route", &ir.Route{Mode: ir.LLM, Call: &ir.Call{Model: ir.Literal("m")}})
	f.Node("work", &ir.Call{
		Model: ir.Literal("m"), Session: ir.Inherit, User: ir.Literal("work"), Interaction: ir.ModelOrHuman,
		Tools: []ir.ToolRef{{Name: "write_file"}},
	}, Field("summary", gates.String)).Publish = "work"
	f.Node("test", &ir.Exec{Command: ir.Literal("test"), Readonly: true}, Field("passed", gates.Bool))
	f.Node("judge", &ir.Ask{Mode: ir.AutoOrPause, Call: &ir.Call{Model: ir.Literal("m")}})
	f.Edge("route", "work").Edge("route", "done").Edge("work", "test")
	f.Edge("test", "work", WhenNot("passed"), As("again", 3)).Edge("test", "judge", When("passed"))
	f.Edge("judge", "done", When("approved")).Edge("judge", "fail", WhenNot("approved"))
	return f.Seal()
}

// EverythingWorld is a world in which [Everything] ends well after two rounds: the
// first answer of the agent's first round must be repaired, and its question goes
// to a person, because the model that is asked first leaves it to one.
func EverythingWorld() *World {
	w := NewWorld(map[string]string{"a": "broken"})
	w.Command = func(files map[string]string, _ string) runner.ShellResult {
		if files["a"] == "2" {
			return runner.ShellResult{}
		}
		return runner.ShellResult{Exit: 1}
	}
	w.Answer = everythingAnswers
	w.Person = func(q gates.Question) *gates.Answer {
		values := map[string]json.RawMessage{"approved": json.RawMessage("true")}
		if q.Fields[0].Name == "answer" {
			values = map[string]json.RawMessage{"answer": json.RawMessage(`"blue"`)}
		}
		return &gates.Answer{Values: values, By: "ada", Via: "test"}
	}
	return w
}

func everythingAnswers(req *runner.ModelRequest) (*runner.ModelResponse, error) {
	switch at := fmt.Sprintf("%s#%d.%d", req.Trace.Node, req.Trace.Visit, req.Trace.Turn); at {
	case "route#1.1":
		return JSON(map[string]any{"reason": "there is work", "target": "work"}), nil
	case "work#1.1":
		return Use("t1", machine.AskTool, `{"question":"Which colour?"}`), nil
	case "work/answer#1.1":
		return JSON(map[string]any{"needs_human": true}), nil
	case "work#1.2", "work#2.1":
		return Use("t2", "write_file", fmt.Sprintf(`{"path":"a","content":"%d"}`, req.Trace.Visit)), nil
	case "work#1.3":
		return Text("done"), nil
	case "judge#1.1":
		return JSON(map[string]any{"needs_human": false, "approved": true}), nil
	}
	return JSON(map[string]any{"summary": "s"}), nil
}
