package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/cmd/pawl/work"
)

// readme returns the fenced blocks of the README in the given language.
func readme(t *testing.T, language string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllSubmatch(text, -1) {
		blocks = append(blocks, string(m[1]))
	}
	return blocks
}

// The README's two commands are the demo, which testdata/script/demo.txtar runs,
// and this test suite.
func TestReadmeCommands(t *testing.T) {
	t.Parallel()
	if got := strings.Join(readme(t, "sh"), ""); got != "go run ./cmd/pawl demo\ngo test ./...\n" {
		t.Errorf("the README's commands are\n%s", got)
	}
	script, err := os.ReadFile(filepath.Join("..", "..", "testdata", "script", "demo.txtar"))
	if err != nil || !bytes.Contains(script, []byte("pawl demo")) {
		t.Errorf("demo.txtar does not run the demo: %v", err)
	}
}

// The README's workflow does what the README says, on the demo's repository and
// with the demo's script: parks at its gate, goes on, and is done.
func TestReadmeWorkflow(t *testing.T) {
	t.Parallel()
	blocks := readme(t, "iter")
	if len(blocks) != 1 {
		t.Fatalf("%d workflows in the README, want 1", len(blocks))
	}
	dir, _, err := work.MakeDemo(filepath.Join(t.TempDir(), "repo"))
	if err != nil {
		t.Fatal(err)
	}
	workflow := filepath.Join(t.TempDir(), "ci-fix.iter")
	if err := os.WriteFile(workflow, []byte(blocks[0]), 0o644); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(dir, ".git", "pawl-demo-script.yaml")
	pawl := func(want cli.ExitStatus, args ...string) string {
		var out, errOut bytes.Buffer
		args = append(args, "-C", dir, "--model-script", script)
		if got := Main(context.Background(), args, strings.NewReader(""), &out, &errOut, os.Environ()); got != int(want) {
			t.Fatalf("pawl %v: exit status %d, want %d\n%s%s", args, got, want, &out, &errOut)
		}
		return out.String()
	}
	pawl(cli.ExitParked, "run", workflow)
	if out := pawl(cli.ExitDone, "resume", "--answer", "approved=true"); !strings.Contains(out, "done: ci_fix changed 1 file in 2 commits") {
		t.Errorf("resume says\n%s", out)
	}
}
