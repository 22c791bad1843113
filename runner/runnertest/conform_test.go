package runnertest

import (
	"encoding/json"
	"testing"

	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/event"
)

// worldFiles are the files of a world's worktree.
type worldFiles struct{ *World }

func (f worldFiles) Write(name, text string) { f.places[""].files[name] = text }

func (f worldFiles) Remove(name string) { delete(f.places[""].files, name) }

func (f worldFiles) Read(name string) (string, bool) {
	text, there := f.places[""].files[name]
	return text, there
}

// The in-memory ports keep what the adapters keep. Its shell and its verifier say
// what a test wants them to and are held to nothing.
func TestTheWorldConforms(t *testing.T) {
	t.Parallel()
	t.Run("log", func(t *testing.T) {
		ConformLog(t, func(*testing.T) (runner.Log, runner.Blobs, func() []event.Event) {
			w := NewWorld(nil)
			p := w.Ports()
			return p.Log, p.Blobs, w.Events
		})
	})
	t.Run("workspace", func(t *testing.T) {
		ConformWorkspace(t, func(*testing.T) (runner.Workspace, Files) {
			w := NewWorld(map[string]string{"a.txt": "alpha\n"})
			return w.Ports().Workspace, worldFiles{w}
		})
	})
	t.Run("tools", func(t *testing.T) {
		ConformTools(t, func(*testing.T) (runner.Tools, []string, string) {
			return NewWorld(map[string]string{"a.txt": "alpha\n"}).Ports().Tools, []string{"read_file", "write_file"}, `{"path":"a.txt"}`
		})
	})
	t.Run("model", func(t *testing.T) {
		ConformModel(t, func(*testing.T) (runner.Model, func() *runner.ModelRequest) {
			w := NewWorld(nil)
			w.Answer = func(*runner.ModelRequest) (*runner.ModelResponse, error) { return Text("hello"), nil }
			return w.Ports().Model, func() *runner.ModelRequest {
				return &runner.ModelRequest{Model: "m", Messages: []runner.Message{{Role: runner.User, Text: "hi"}}, Key: "k"}
			}
		})
	})
	t.Run("gate", func(t *testing.T) {
		ConformGate(t, func(*testing.T) (silent, approving runner.Gate) {
			w := NewWorld(nil)
			w.Person = func(gates.Question) *gates.Answer {
				return &gates.Answer{Values: map[string]json.RawMessage{"approved": json.RawMessage("true")}, By: "ada"}
			}
			return NewWorld(nil).Ports().Gate, w.Ports().Gate
		})
	})
}
