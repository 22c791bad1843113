package workspace

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/runnertest"
)

// treeFiles are the files of a worktree on disk.
type treeFiles struct {
	t   *testing.T
	dir string
}

func (f treeFiles) Write(name, text string) { put(f.t, f.dir, name, text) }

func (f treeFiles) Remove(name string) {
	if err := os.Remove(filepath.Join(f.dir, name)); err != nil {
		f.t.Fatal(err)
	}
}

func (f treeFiles) Read(name string) (string, bool) {
	text, err := os.ReadFile(filepath.Join(f.dir, name))
	return string(text), err == nil
}

func TestATreeConforms(t *testing.T) {
	t.Parallel()
	runnertest.ConformWorkspace(t, func(t *testing.T) (runner.Workspace, runnertest.Files) {
		tree := withCommit(t).start()
		return tree, treeFiles{t, tree.Path}
	})
}
