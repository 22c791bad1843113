package runnertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/event"
)

// What every adapter of a port must do, whatever is behind it. The in-memory ports
// of this room are held to it like those that reach the world: what the engine's
// tests assume, the adapters keep.

// ConformLog holds a log and its blobs to their contracts. open returns an empty
// record; read is what a later process would find in it, with every value loaded.
func ConformLog(t *testing.T, open func(t *testing.T) (log runner.Log, blobs runner.Blobs, read func() []event.Event)) {
	t.Run("what was appended is read again, in order", func(t *testing.T) {
		log, _, read := open(t)
		all := someEvents(5)
		for _, batch := range [][]event.Event{all[:1], all[1:4], nil, all[4:]} {
			if err := log.Append(t.Context(), batch); err != nil {
				t.Fatal(err)
			}
		}
		got := read()
		if len(got) != len(all) {
			t.Fatalf("%d events, want %d", len(got), len(all))
		}
		for i := range all {
			is, isErr := json.Marshal(got[i].Body)
			was, wasErr := json.Marshal(all[i].Body)
			if got[i].Seq != all[i].Seq || isErr != nil || wasErr != nil || !bytes.Equal(is, was) {
				t.Errorf("event %d is %s, want %s", i, is, was)
			}
		}
	})
	t.Run("blobs are found by their content", func(t *testing.T) {
		_, blobs, _ := open(t)
		for _, content := range [][]byte{{}, []byte("a"), bytes.Repeat([]byte("0123456789abcdef"), 1<<16)} {
			digest := event.DigestOf(content)
			mine := slices.Clone(content)
			for range 2 { // the same content again is nothing new
				if err := blobs.Put(digest, mine); err != nil {
					t.Fatal(err)
				}
			}
			if len(mine) > 0 {
				mine[0]++ // what was put is kept, not borrowed
			}
			if got, err := blobs.Get(digest); err != nil || !bytes.Equal(got, content) {
				t.Errorf("%d bytes: got %d, %v", len(content), len(got), err)
			}
		}
		if _, err := blobs.Get(event.DigestOf([]byte("never put"))); err == nil {
			t.Error("a blob that nobody has put is found")
		}
	})
}

// someEvents are the first events of a record.
func someEvents(n int) []event.Event {
	var all []event.Event
	for i := range n {
		body := event.Body(&event.NodeStarted{Visit: i})
		if i == 0 {
			body = &event.RunStarted{Pawl: "test", Workflow: "w", Source: event.Inline([]byte(`"w"`)), Inputs: event.Inline([]byte(`{}`))}
		}
		all = append(all, event.Event{Seq: event.Seq(i + 1), Time: time.Unix(int64(i), 0).UTC(), Run: "conform", Token: event.TokenID(min(i, 1)), Node: strings.Repeat("n", min(i, 1)), Body: body})
	}
	return all
}

// Files are the files of a worktree, as its tools see them.
type Files interface {
	Write(name, text string)
	Remove(name string)
	Read(name string) (text string, there bool)
}

// ConformWorkspace holds a worktree to its contract. open returns one whose only
// file is a.txt with the text "alpha\n".
func ConformWorkspace(t *testing.T, open func(t *testing.T) (runner.Workspace, Files)) {
	commit := runner.Commit{Subject: "a step", Time: time.Unix(1, 0), Trailers: []runner.Trailer{{Key: "Pawl-Run", Value: "r"}}}
	holds := func(t *testing.T, f Files, name, want string) {
		t.Helper()
		if got, there := f.Read(name); there != (want != "") || got != want {
			t.Errorf("%s holds %q (%v), want %q", name, got, there, want)
		}
	}
	t.Run("a commit keeps what was changed, and nothing is no commit", func(t *testing.T) {
		ws, files := open(t)
		first, changed, err := ws.Commit(t.Context(), commit)
		if err != nil || changed {
			t.Fatalf("nothing was changed: %v, %v", changed, err)
		}
		files.Write("a.txt", "changed\n")
		files.Write("new.txt", "new\n")
		second, changed, err := ws.Commit(t.Context(), commit)
		if err != nil || !changed || second == first {
			t.Fatalf("a change: head %q after %q, %v, %v", second, first, changed, err)
		}
		if again, changed, err := ws.Commit(t.Context(), commit); err != nil || changed || again != second {
			t.Errorf("nothing more: head %q, %v, %v", again, changed, err)
		}
		files.Remove("a.txt")
		if err := ws.Restore(t.Context(), second, ""); err != nil {
			t.Fatal(err)
		}
		holds(t, files, "a.txt", "changed\n")
		holds(t, files, "new.txt", "new\n")
	})
	t.Run("a snapshot is what a restore brings back", func(t *testing.T) {
		ws, files := open(t)
		head, _, err := ws.Commit(t.Context(), commit)
		if err != nil {
			t.Fatal(err)
		}
		files.Write("a.txt", "one\n")
		files.Write("kept.txt", "kept\n")
		one, err := ws.Snapshot(t.Context())
		if err != nil || one == "" {
			t.Fatalf("snapshot %q, %v", one, err)
		}
		files.Write("a.txt", "two\n")
		files.Write("later.txt", "later\n")
		files.Remove("kept.txt")
		for range 2 { // a restore after a restore changes nothing
			if err := ws.Restore(t.Context(), head, one); err != nil {
				t.Fatal(err)
			}
			holds(t, files, "a.txt", "one\n")
			holds(t, files, "kept.txt", "kept\n")
			holds(t, files, "later.txt", "")
		}
		if err := ws.Restore(t.Context(), head, ""); err != nil {
			t.Fatal(err)
		}
		holds(t, files, "a.txt", "alpha\n")
		holds(t, files, "kept.txt", "")
	})
}

// ConformModel holds a model to its contract. open returns one that answers ask
// with a text.
func ConformModel(t *testing.T, open func(t *testing.T) (m runner.Model, ask func() *runner.ModelRequest)) {
	t.Run("an answer leaves the request as it was", func(t *testing.T) {
		m, ask := open(t)
		req, same := ask(), ask()
		resp, err := m.Complete(t.Context(), req)
		if err != nil || resp.Model == "" || resp.Text == "" && len(resp.ToolCalls) == 0 {
			t.Fatalf("%+v, %v", resp, err)
		}
		if !reflect.DeepEqual(req, same) {
			t.Errorf("the request is now %+v", req)
		}
	})
	t.Run("many ask at once", func(t *testing.T) {
		m, ask := open(t)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if _, err := m.Complete(t.Context(), ask()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	})
	t.Run("a context that has ended ends the call", func(t *testing.T) {
		m, ask := open(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := m.Complete(ctx, ask())
		var failure *runner.ModelError
		if !errors.As(err, &failure) || !errors.Is(err, context.Canceled) {
			t.Errorf("%T %v, want a *runner.ModelError with the context's error in it", err, err)
		}
	})
}

// ConformTools holds tools to their contract. open returns tools, some of their
// names, and the arguments that the first of them takes.
func ConformTools(t *testing.T, open func(t *testing.T) (tools runner.Tools, names []string, args string)) {
	t.Run("tools are described in the order that was asked for", func(t *testing.T) {
		tools, names, _ := open(t)
		slices.Reverse(names)
		specs, err := tools.Specs(names)
		if err != nil || len(specs) != len(names) {
			t.Fatalf("%d specs of %d, %v", len(specs), len(names), err)
		}
		for i, s := range specs {
			var object struct{ Type string }
			if s.Name != names[i] || s.Description == "" || json.Unmarshal(s.Parameters, &object) != nil || object.Type != "object" {
				t.Errorf("spec %d is %+v, want one of %s with an object for parameters", i, s, names[i])
			}
		}
		if none, err := tools.Specs(nil); err != nil || len(none) != 0 {
			t.Errorf("no names: %v, %v", none, err)
		}
	})
	t.Run("a tool that is not there is an error with its name when described", func(t *testing.T) {
		tools, _, _ := open(t)
		if _, err := tools.Specs([]string{"no_such_tool"}); err == nil || !strings.Contains(err.Error(), "no_such_tool") {
			t.Errorf("%v", err)
		}
	})
	t.Run("what a tool cannot do is a result", func(t *testing.T) {
		tools, names, args := open(t)
		if r, err := tools.Call(t.Context(), names[0], json.RawMessage(args)); err != nil || r.Error || r.Summary == "" {
			t.Errorf("a good call: %+v, %v", r, err)
		}
		for _, bad := range []string{`{`, `[]`, `"x"`} {
			if r, err := tools.Call(t.Context(), names[0], json.RawMessage(bad)); err != nil || !r.Error || r.Text == "" {
				t.Errorf("arguments %s: %+v, %v", bad, r, err)
			}
		}
		if r, err := tools.Call(t.Context(), "no_such_tool", json.RawMessage(`{}`)); err != nil || !r.Error {
			t.Errorf("a tool that is not there: %+v, %v", r, err)
		}
	})
}

// ConformShell holds a shell to its contract. open returns one of a directory that
// is empty but for the directory sub.
func ConformShell(t *testing.T, open func(t *testing.T) runner.Shell) {
	t.Run("a command that fails is a result", func(t *testing.T) {
		shell := open(t)
		for _, c := range []struct {
			cmd              runner.ShellCommand
			out, err, inside string
			exit             int
		}{
			{cmd: runner.ShellCommand{Line: "echo a; echo b >&2"}, out: "a\n", err: "b\n"},
			{cmd: runner.ShellCommand{Line: "exit 7"}, exit: 7},
			{cmd: runner.ShellCommand{Line: "kill -TERM $$"}, exit: 143},
			{cmd: runner.ShellCommand{Line: "basename $PWD", Dir: "sub"}, out: "sub\n"},
			{cmd: runner.ShellCommand{Line: "cat"}},
		} {
			r, err := shell.Run(t.Context(), c.cmd)
			if err != nil || r.Exit != c.exit || r.Stdout != c.out || r.Stderr != c.err || r.TimedOut || len(r.Combined) != len(c.out+c.err) {
				t.Errorf("%q: %+v, %v", c.cmd.Line, r, err)
			}
		}
	})
	t.Run("a command has an end", func(t *testing.T) {
		r, err := open(t).Run(t.Context(), runner.ShellCommand{Line: "echo begun; sleep 300", Timeout: 100 * time.Millisecond})
		if err != nil || !r.TimedOut || r.Stdout != "begun\n" {
			t.Errorf("%+v, %v", r, err)
		}
	})
	t.Run("what cannot be run is an error", func(t *testing.T) {
		shell := open(t)
		for _, dir := range []string{"..", "gone", "/"} {
			if _, err := shell.Run(t.Context(), runner.ShellCommand{Line: "true", Dir: dir}); err == nil {
				t.Errorf("it ran in %s", dir)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := shell.Run(ctx, runner.ShellCommand{Line: "true"}); !errors.Is(err, context.Canceled) {
			t.Errorf("with a context that has ended: %v", err)
		}
	})
}

// ConformVerifier holds a verifier to its contract. open returns one of a
// repository with the given files.
func ConformVerifier(t *testing.T, open func(t *testing.T, files map[string]string) runner.Verifier) {
	for _, c := range []struct {
		name     string
		files    map[string]string
		commands []string
		passed   bool
		ran      int
	}{
		{"listed commands that pass", nil, []string{"true", "exit 0"}, true, 2},
		{"a listed command that fails", nil, []string{"exit 3"}, false, 1},
		{"tests that are found and pass", map[string]string{"Makefile": "test:\n\t@true\n"}, nil, true, 1},
		{"tests that are found and fail", map[string]string{"Makefile": "test:\n\t@false\n"}, nil, false, 1},
		{"no tests at all", map[string]string{"README.md": "x\n"}, nil, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			ev, err := open(t, c.files).Verify(t.Context(), c.commands)
			if err != nil || ev.Passed != c.passed || len(ev.Commands) != c.ran || !ev.Passed && ev.Reason == "" {
				t.Errorf("%+v, %v", ev, err)
			}
		})
	}
}

// ConformGate holds a gate to its contract. open returns one that has no answer,
// and one whose person approves.
func ConformGate(t *testing.T, open func(t *testing.T) (silent, approving runner.Gate)) {
	question := func(i int) gates.Question {
		return gates.Question{
			Gate: gates.ID(fmt.Sprintf("approve#%d", i)), Node: "approve", Text: "Is it good?",
			Fields: []gates.Field{{Name: "approved", Kind: gates.Bool}},
		}
	}
	t.Run("no answer is none, however often one asks", func(t *testing.T) {
		silent, _ := open(t)
		for range 3 {
			if answer, _, err := silent.Ask(t.Context(), question(1)); err != nil || answer != nil {
				t.Errorf("%+v, %v", answer, err)
			}
		}
	})
	t.Run("an answer fits and says who gave it", func(t *testing.T) {
		_, approving := open(t)
		answer, _, err := approving.Ask(t.Context(), question(1))
		if err != nil || answer == nil || answer.By == "" || string(answer.Values["approved"]) != "true" {
			t.Errorf("%+v, %v", answer, err)
		}
	})
}
