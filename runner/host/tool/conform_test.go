package tool

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/runnertest"
)

func TestToolsConform(t *testing.T) {
	t.Parallel()
	runnertest.ConformTools(t, func(t *testing.T) (runner.Tools, []string, string) {
		return newBench(t, map[string]string{"a.txt": "alpha\n"}).Tools, []string{"read_file", "edit_file", "search", "run_command"}, `{"path":"a.txt"}`
	})
}

func TestTheShellConforms(t *testing.T) {
	t.Parallel()
	runnertest.ConformShell(t, func(t *testing.T) runner.Shell {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
			t.Fatal(err)
		}
		return NewShell(ShellConfig{Root: dir, Env: []string{"PATH=" + os.Getenv("PATH")}, RunID: "conform"})
	})
}
