//go:build unix

package tool

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/host/sandbox"
)

// bench is a repository with the tools on it.
type bench struct {
	t    testing.TB
	root string
	*Tools
}

// newBench makes a repository with one commit that holds files.
func newBench(t testing.TB, files map[string]string) *bench {
	t.Helper()
	root := filepath.Join(t.TempDir(), "tree")
	b := &bench{t: t, root: root}
	b.mkdir(".")
	b.gitRun("init", "-q", "-b", "main")
	for name, content := range files {
		b.put(name, content)
	}
	b.gitRun("add", "-A")
	b.gitRun("commit", "-q", "--allow-empty", "-m", "base")
	b.open()
	return b
}

func (b *bench) open() {
	b.t.Helper()
	env := sandbox.Environment(os.Environ(), "", nil)
	shell := NewShell(ShellConfig{Root: b.root, Env: env, RunID: "test", Timeout: time.Minute})
	tools, err := New(Config{Root: b.root, Shell: shell, Env: env})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = tools.Close() })
	b.Tools = tools
}

func (b *bench) gitRun(args ...string) string {
	b.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = b.root
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@t", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@t",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (b *bench) at(name string) string { return filepath.Join(b.root, name) }

func (b *bench) mkdir(name string) {
	b.t.Helper()
	if err := os.MkdirAll(b.at(name), 0o755); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) put(name, content string) {
	b.t.Helper()
	b.mkdir(filepath.Dir(name))
	if err := os.WriteFile(b.at(name), []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// get is a file's content, or "(none)".
func (b *bench) get(name string) string {
	content, err := os.ReadFile(b.at(name))
	if err != nil {
		return "(none)"
	}
	return string(content)
}

// call runs a tool with arguments given as name, value, …
func (b *bench) call(name string, pairs ...any) runner.ToolResult {
	b.t.Helper()
	given := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		given[pairs[i].(string)] = pairs[i+1]
	}
	raw, err := json.Marshal(given)
	if err != nil {
		b.t.Fatal(err)
	}
	r, err := b.Call(b.t.Context(), name, raw)
	if err != nil {
		b.t.Fatalf("%s %s: %v", name, raw, err)
	}
	b.proper(name, r)
	return r
}

// proper checks what holds for every result.
func (b *bench) proper(name string, r runner.ToolResult) {
	b.t.Helper()
	if r.Text == "" && !(name == "read_file") || r.Summary == "" || strings.ContainsAny(r.Summary, "\n\r\x00\x1b") || len(r.Summary) > maxSummary+len("…") {
		b.t.Errorf("%s: text %q, summary %q", name, r.Text, r.Summary)
	}
	if len(r.Text) > maxRead+500 || strings.ContainsRune(r.Text, 0) || strings.ToValidUTF8(r.Text, "") != r.Text {
		b.t.Errorf("%s: %d bytes of text that cannot be sent", name, len(r.Text))
	}
}

// want checks a result that is no error.
func (b *bench) want(r runner.ToolResult, text, summary string) {
	b.t.Helper()
	if r.Error || r.Text != text || summary != "" && r.Summary != summary {
		b.t.Errorf("got %q (error %v), summary %q\nwant %q, summary %q", r.Text, r.Error, r.Summary, text, summary)
	}
}

// refuse checks a result that is an error.
func (b *bench) refuse(r runner.ToolResult, parts ...string) {
	b.t.Helper()
	for _, p := range parts {
		if !r.Error || !strings.Contains(r.Text, p) {
			b.t.Errorf("got %q (error %v), want an error with %q", r.Text, r.Error, p)
		}
	}
}
