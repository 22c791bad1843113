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

type model port

// Complete implements runner.Model.
func (m *model) Complete(ctx context.Context, req *runner.ModelRequest) (*runner.ModelResponse, error) {
	w := m.World
	t := req.Trace
	key := fmt.Sprintf("%s#%d turn %d", t.Node, t.Visit, t.Turn)
	if err := ctx.Err(); err != nil {
		return nil, &runner.ModelError{Class: runner.NoAnswer, Detail: err.Error(), Err: err}
	}
	var resp *runner.ModelResponse
	err := (*port)(m).operation(func() error {
		w.calls[key]++
		var err error
		resp, err = w.Answer(req)
		return err
	}, "model "+key)
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

type tools port

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
	p := (*port)(t)
	var in struct{ Path, Content string }
	if err := json.Unmarshal(args, &in); err != nil {
		return runner.ToolResult{Text: err.Error(), Error: true}, nil
	}
	var out runner.ToolResult
	err := p.operation(func() error {
		files := p.here().files
		if name == "write_file" {
			files[in.Path] = in.Content
			out = runner.ToolResult{Text: "written", Summary: "write " + in.Path}
			return nil
		}
		content, ok := files[in.Path]
		out = runner.ToolResult{Text: content, Error: !ok, Summary: "read " + in.Path}
		return nil
	}, "tool "+name+" in "+p.tree)
	return out, err
}

type shell port

// Run implements runner.Shell.
func (s *shell) Run(_ context.Context, cmd runner.ShellCommand) (runner.ShellResult, error) {
	p := (*port)(s)
	var out runner.ShellResult
	err := p.operation(func() error { out = p.Command(p.here().files, cmd.Line); return nil }, "command "+cmd.Line+" in "+p.tree)
	return out, err
}

type workspace port

// here is the worktree that the port works in.
func (p *port) here() *place { return p.places[p.tree] }

// Snapshot implements runner.Workspace.
func (ws *workspace) Snapshot(context.Context) (string, error) {
	p := (*port)(ws)
	var id string
	err := p.operation(func() error { id = p.keep(p.here().files); return nil }, "snapshot of "+p.tree)
	return id, err
}

// Restore implements runner.Workspace.
func (ws *workspace) Restore(_ context.Context, head, snapshot string) error {
	p := (*port)(ws)
	return p.operation(func() error { return p.put(head, snapshot) }, "restore of "+p.tree)
}

// put makes the worktree what is asked for.
func (p *port) put(head, snapshot string) error {
	if snapshot == "" {
		snapshot = head
	}
	files := p.commit(snapshot)
	if files == nil || p.commit(head) == nil {
		return fmt.Errorf("restore %s at %s: no such commit", snapshot, head)
	}
	p.places[p.tree] = &place{head: head, files: maps.Clone(files)}
	return nil
}

// Commit implements runner.Workspace.
func (ws *workspace) Commit(_ context.Context, c runner.Commit) (head string, changed bool, err error) {
	p := (*port)(ws)
	err = p.operation(func() error {
		here := p.here()
		var marked []string
		for _, path := range c.Marked {
			if strings.Contains(here.files[path], mark) {
				marked = append(marked, path)
			}
		}
		if len(marked) > 0 {
			return &runner.MarkedError{Files: marked}
		}
		if changed = c.Merges != "" || !maps.Equal(p.World.commit(here.head), here.files); changed {
			here.head = p.keep(here.files)
		}
		head = here.head
		return nil
	}, "commit in "+p.tree)
	return head, changed, err
}

type verifier port

// Verify implements runner.Verifier.
func (v *verifier) Verify(context.Context, []string) (event.Evidence, error) {
	p := (*port)(v)
	ev := event.Evidence{Mode: "auto"}
	err := p.operation(func() error {
		files := p.here().files
		ev.Passed = p.Passes == nil || p.Passes(files)
		files["coverage.out"] = "dropped by the tests"
		exit := 0
		if !ev.Passed {
			exit, ev.Reason = 1, "tests: exit status 1"
		}
		ev.Commands = []event.CommandEvidence{{Name: "tests", Command: "test", Exit: exit}}
		return nil
	}, "verify in "+p.tree)
	return ev, err
}

type gate port

// Ask implements runner.Gate. A question is posted once, however often it is
// asked.
func (g *gate) Ask(_ context.Context, q gates.Question) (*gates.Answer, string, error) {
	w := g.World
	var answer *gates.Answer
	err := (*port)(g).operation(func() error {
		w.asked[q.Gate] = 1
		if w.Person != nil {
			answer = w.Person(q)
		}
		return nil
	}, "ask "+string(q.Gate))
	return answer, "memory://" + string(q.Gate), err
}
