package language

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/creack/pty"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
)

const (
	goodText = "tool a:\n  command: \"true\"\n\nworkflow w:\n  entry: a\n  a -> done\n"
	badText  = "tool a:\n  command: \"true\"\n\nworkflow w:\n  entry: a\n  a -> done\n  a -> nowhere\n"
)

// place is a directory with the given files, and an app that works in it.
func place(t *testing.T, files map[string]string) (a *cli.App, out, errOut *bytes.Buffer) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out, errOut = &bytes.Buffer{}, &bytes.Buffer{}
	// The directory is a repository of its own, and not a part of one around it.
	a = &cli.App{Dir: dir, In: strings.NewReader(""), Out: out, Err: errOut, Color: "auto", Env: cli.Environment{"PATH": os.Getenv("PATH"), "GIT_CEILING_DIRECTORIES": dir}}
	return a, out, errOut
}

// execute runs a command of the room as the program does.
func execute(a *cli.App, args ...string) cli.ExitStatus {
	for _, c := range Commands(a) {
		if c.Name() != args[0] {
			continue
		}
		c.SetArgs(args[1:])
		c.SilenceErrors, c.SilenceUsage = true, true
		if err := c.Execute(); err != nil {
			status, _, _ := cli.Explain(err)
			return status
		}
	}
	return a.Status
}

func names(targets []target) []string {
	var all []string
	for _, t := range targets {
		name := filepath.ToSlash(t.name)
		if t.problem != nil {
			name += ": " + t.problem.Error()
		}
		all = append(all, name)
	}
	return all
}

func TestFind(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for _, name := range []string{
		"a.iter", "b.txt", "flows/c.iter", "flows/deep/er/d.iter", "flows/[x]/e.iter", "flows/.hidden/f.iter",
		".git/g.iter", ".pawl/worktrees/r/h.iter", "node_modules/p/i.iter", "empty/none",
	} {
		files[name] = goodText
	}
	all := []string{"a.iter", "flows/.hidden/f.iter", "flows/[x]/e.iter", "flows/c.iter", "flows/deep/er/d.iter"}
	for _, test := range []struct {
		args string
		want []string
	}{
		{".", all},
		{"**/*.iter", all},
		{"flows", all[1:]},
		{"flows/ a.iter ./flows/../a.iter flows", append(slices.Clone(all[1:]), "a.iter")},
		{"flows/deep flows", []string{"flows/deep/er/d.iter", "flows/.hidden/f.iter", "flows/[x]/e.iter", "flows/c.iter"}},
		{"flows/*.{iter,txt}", []string{"flows/c.iter"}},
		{"flows/*/e?*.iter flows/?.iter", []string{"flows/c.iter"}},
		{"flows/[x]/e.iter", []string{"flows/[x]/e.iter"}}, // a name before it is a pattern
		{"b.txt", []string{"b.txt"}},                       // a file that is named is taken as it is
		{"node_modules/**/*.iter", []string{"node_modules/p/i.iter"}},
		{".git", []string{".git/g.iter"}},
		{"gone.iter a.iter gone.iter", []string{"gone.iter: there is no such file", "a.iter"}},
		{"- a.iter -", []string{"<stdin>", "a.iter"}},
	} {
		a, _, _ := place(t, files)
		targets, err := findWorkflows(context.Background(), a, strings.Fields(test.args))
		if test.args == "flows/*/e?*.iter flows/?.iter" {
			if err == nil {
				t.Errorf("%s: a glob without a match is no error", test.args)
			}
			continue
		}
		if got := names(targets); err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s: found %q, error %v, want %q", test.args, got, err, test.want)
		}
	}
}

func TestFindSays(t *testing.T) {
	t.Parallel()
	a, _, _ := place(t, map[string]string{"empty/none": "", "a.iter": goodText})
	for arg, want := range map[string]string{
		"empty":  "empty: there is no .iter file in this directory",
		"*.none": "*.none: no .iter file matches",
		"[a":     "[a: this is no pattern: syntax error in pattern",
	} {
		_, err := findWorkflows(context.Background(), a, []string{arg})
		if err == nil || err.Error() != want {
			t.Errorf("%s: error %v, want %s", arg, err, want)
		}
		if status, _, _ := cli.Explain(err); status != cli.ExitUsage {
			t.Errorf("%s: exit status %d", arg, status)
		}
	}
}

// TestThousandsOfFiles: every file is checked once, and what is said does not
// depend on which one was ready first.
func TestThousandsOfFiles(t *testing.T) {
	t.Parallel()
	const count = 2000
	files := make(map[string]string, count)
	for i := range count {
		text := goodText
		if i%100 == 7 {
			text = badText
		}
		files[fmt.Sprintf("flows/%02d/%04d.iter", i%16, i)] = text
	}
	a, out, errOut := place(t, files)
	var first string
	for range 3 {
		out.Reset()
		errOut.Reset()
		if status := execute(a, "validate", "flows"); status != cli.ExitUsage {
			t.Fatalf("exit status %d", status)
		}
		if want := "checked 2,000 files: 1980 can run, 20 cannot; 20 errors, 0 warnings\n"; out.String() != want {
			t.Fatalf("said %q, want %q", out.String(), want)
		}
		if got := strings.Count(errOut.String(), "error[C001]"); got != 20 {
			t.Fatalf("%d errors drawn, want 20", got)
		}
		if first == "" {
			first = errOut.String()
		}
		if errOut.String() != first {
			t.Fatal("two calls say the same things differently")
		}
	}
}

// TestProgress: a terminal sees the count while it goes, and nothing of it after.
func TestProgress(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range manyFiles {
		files[fmt.Sprintf("%04d.iter", i)] = goodText
	}
	a, _, _ := place(t, files)
	master, terminal, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo-terminal here: %v", err)
	}
	defer master.Close()
	seen := make(chan string)
	go func() {
		all, _ := io.ReadAll(master) // ends with an error when the other side is closed
		seen <- string(all)
	}()
	a.Err = terminal
	if status := execute(a, "validate", "."); status != cli.ExitDone {
		t.Errorf("exit status %d", status)
	}
	terminal.Close()
	got := <-seen
	if !strings.Contains(got, "\rchecked 100 of 400 files") || !strings.HasSuffix(got, "\r\x1b[K") {
		t.Errorf("the terminal got %q", got)
	}
	quiet, _, errOut := place(t, files)
	if execute(quiet, "validate", "."); errOut.Len() > 0 {
		t.Errorf("a pipe got %q", errOut)
	}
}

// brokenIn fails as a terminal does that goes away.
type brokenIn struct{}

func (brokenIn) Read([]byte) (int, error) { return 0, errors.New("input is gone") }

func TestUnreadable(t *testing.T) {
	t.Parallel()
	a, out, _ := place(t, map[string]string{"a.iter": goodText})
	a.In, a.JSON = brokenIn{}, true
	if err := os.Mkdir(filepath.Join(a.Dir, "dir.iter"), 0o755); err != nil {
		t.Fatal(err)
	}
	if status := execute(a, "validate", "-", "a.iter/b.iter", "a.iter"); status != cli.ExitUsage {
		t.Errorf("exit status %d", status)
	}
	for _, want := range []string{`"problem": "input is gone"`, `"problem": "not a directory"`, `"errors": 2`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is missing in\n%s", want, out)
		}
	}
}

// fullDisk is an output that cannot be written.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestOutputThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	for _, format := range formatNames {
		a, _, _ := place(t, map[string]string{"a.iter": badText})
		a.Out, a.Err = fullDisk{}, fullDisk{}
		if status := execute(a, "validate", "--format", format, "a.iter"); status != cli.ExitHost {
			t.Errorf("%s: exit status %d", format, status)
		}
	}
}

// TestHostileNames: a file's name cannot steer a terminal or the runner.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "github"} {
		a, out, errOut := place(t, map[string]string{"bad\x1b[31m\n::error::b.iter": badText, "good\n::error::d.iter": goodText})
		if got := execute(a, "validate", "--format", format, ".", "gone\n::error::c.iter"); got != cli.ExitUsage {
			t.Errorf("exit status %d", got)
		}
		said := out.String() + errOut.String()
		for line := range strings.Lines(said) {
			if strings.ContainsRune(line, '\x1b') || strings.HasPrefix(line, "::error::") {
				t.Errorf("%s: %q", format, line)
			}
		}
		for _, name := range []string{"bad", "good", "gone"} {
			if !strings.Contains(said, name) {
				t.Errorf("%s: %s is not named in\n%s", format, name, said)
			}
		}
	}
}
