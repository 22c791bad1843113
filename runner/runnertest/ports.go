package runnertest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/event"
)

type model World

// Complete implements runner.Model.
func (m *model) Complete(ctx context.Context, req *runner.ModelRequest) (*runner.ModelResponse, error) {
	w := (*World)(m)
	t := req.Trace
	key := fmt.Sprintf("%s#%d turn %d", t.Node, t.Visit, t.Turn)
	var resp *runner.ModelResponse
	err := w.operation(func() error {
		w.calls[key]++
		var err error
		resp, err = w.Answer(req)
		return err
	})
	if err == nil {
		w.mu.Lock()
		w.answered[key]++
		w.mu.Unlock()
		return resp, nil
	}
	if failed, ok := err.(*runner.ModelError); ok {
		return nil, failed
	}
	if ctx.Err() != nil {
		return nil, &runner.ModelError{Class: runner.NoAnswer, Detail: ctx.Err().Error(), InDoubt: true, Err: err}
	}
	return nil, &runner.ModelError{Class: runner.Malformed, Detail: err.Error(), Retryable: true, InDoubt: true, Err: err}
}

type tools World

// toolNames are the tools of the in-memory world.
var toolNames = []string{"read_file", "write_file"}

// Specs implements runner.Tools.
func (*tools) Specs(names []string) ([]runner.ToolSpec, error) {
	var specs []runner.ToolSpec
	for _, n := range names {
		if !slices.Contains(toolNames, n) {
			return nil, fmt.Errorf("there is no tool %q; known: %s", n, strings.Join(toolNames, ", "))
		}
		specs = append(specs, runner.ToolSpec{Name: n, Description: n, Parameters: json.RawMessage(`{"type":"object"}`), Writes: n == "write_file"})
	}
	return specs, nil
}

// Call implements runner.Tools.
func (t *tools) Call(_ context.Context, name string, args json.RawMessage) (runner.ToolResult, error) {
	w := (*World)(t)
	var in struct{ Path, Content string }
	if err := json.Unmarshal(args, &in); err != nil {
		return runner.ToolResult{Text: err.Error(), Error: true}, nil
	}
	var out runner.ToolResult
	err := w.operation(func() error {
		if name == "write_file" {
			w.files[in.Path] = in.Content
			out = runner.ToolResult{Text: "written", Summary: "write " + in.Path}
			return nil
		}
		content, ok := w.files[in.Path]
		out = runner.ToolResult{Text: content, Error: !ok, Summary: "read " + in.Path}
		return nil
	})
	return out, err
}

type shell World

// Run implements runner.Shell.
func (s *shell) Run(_ context.Context, cmd runner.ShellCommand) (runner.ShellResult, error) {
	w := (*World)(s)
	var out runner.ShellResult
	err := w.operation(func() error { out = w.Command(w.files, cmd.Line); return nil })
	return out, err
}

type workspace World

// Snapshot implements runner.Workspace.
func (ws *workspace) Snapshot(context.Context) (string, error) {
	w := (*World)(ws)
	var id string
	err := w.operation(func() error { id = w.keep(); return nil })
	return id, err
}

// Restore implements runner.Workspace.
func (ws *workspace) Restore(_ context.Context, head, snapshot string) error {
	w := (*World)(ws)
	return w.operation(func() error {
		if snapshot == "" {
			snapshot = head
		}
		tree := w.tree(snapshot)
		if tree == nil || w.tree(head) == nil {
			return fmt.Errorf("restore %s at %s: no such commit", snapshot, head)
		}
		w.head, w.files = head, maps.Clone(tree)
		return nil
	})
}

// Commit implements runner.Workspace.
func (ws *workspace) Commit(context.Context, runner.Commit) (string, bool, error) {
	w := (*World)(ws)
	changed := false
	err := w.operation(func() error {
		if changed = !maps.Equal(w.tree(w.head), w.files); changed {
			w.head = w.keep()
		}
		return nil
	})
	return w.head, changed, err
}

type verifier World

// Verify implements runner.Verifier.
func (v *verifier) Verify(context.Context, []string) (event.Evidence, error) {
	w := (*World)(v)
	ev := event.Evidence{Mode: "auto"}
	err := w.operation(func() error {
		ev.Passed = w.Passes == nil || w.Passes(w.files)
		w.files["coverage.out"] = "dropped by the tests"
		exit := 0
		if !ev.Passed {
			exit, ev.Reason = 1, "tests: exit status 1"
		}
		ev.Commands = []event.CommandEvidence{{Name: "tests", Command: "test", Exit: exit}}
		return nil
	})
	return ev, err
}

type gate World

// Ask implements runner.Gate. A question is posted once, however often it is
// asked.
func (g *gate) Ask(_ context.Context, q gates.Question) (*gates.Answer, string, error) {
	w := (*World)(g)
	var answer *gates.Answer
	err := w.operation(func() error {
		w.asked[q.Gate] = 1
		if w.Person != nil {
			answer = w.Person(q)
		}
		return nil
	})
	return answer, "memory://" + string(q.Gate), err
}
