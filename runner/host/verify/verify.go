package verify

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/event"
)

// Options tune a Verifier.
type Options struct {
	Timeout time.Duration // per command; 0 leaves it to the shell
}

// Verifier runs a repository's tests; it implements [runner.Verifier]. It is as
// safe for concurrent use as its shell.
type Verifier struct {
	shell   runner.Shell
	files   fs.FS
	timeout time.Duration
}

var _ runner.Verifier = (*Verifier)(nil)

// New makes a Verifier. shell runs commands in the worktree; files are the files
// in which tests are looked for, usually those of the same worktree.
func New(shell runner.Shell, files fs.FS, opt Options) *Verifier {
	return &Verifier{shell: shell, files: files, timeout: opt.Timeout}
}

// tailLimit is how many bytes of each command's output are kept as evidence.
const tailLimit = 4096

// Verify implements [runner.Verifier]. All commands run, also after one failed.
// The evidence says passed when every command exited 0 in time and at least one
// test ran, or may have run because the runner's output is not known.
func (v *Verifier) Verify(ctx context.Context, commands []string) (event.Evidence, error) {
	ev := event.Evidence{Mode: "commands"}
	var list []Command
	for _, line := range commands {
		list = append(list, Command{Name: program(line), Line: line})
	}
	if len(commands) == 0 {
		ev.Mode, list = "auto", Detect(v.files)
	}
	var troubles []string
	for _, c := range list {
		res, err := v.shell.Run(ctx, runner.ShellCommand{
			Line: c.Line, Dir: c.Dir, Timeout: v.timeout,
			Network: true, // a fresh worktree has no dependencies; tests fetch them, and hold no secret that could leave
		})
		if err != nil {
			return ev, fmt.Errorf("verify: run %q: %w", c.Line, err)
		}
		seen := event.CommandEvidence{Name: c.Name, Command: c.Line, Dir: c.Dir, Exit: res.Exit, TimedOut: res.TimedOut,
			Millis: res.Took.Milliseconds(), Tail: excerpt(res.Combined, tailLimit), Counts: countTests(c.Name, res.Combined)}
		ev.Commands = append(ev.Commands, seen)
		if t := v.trouble(seen, res); t != "" {
			troubles = append(troubles, t)
		}
	}
	ev.Passed, ev.Reason = judge(ev.Commands, troubles)
	return ev, nil
}

// judge says whether commands are good enough as evidence, and why not.
func judge(commands []event.CommandEvidence, troubles []string) (bool, string) {
	ran := slices.ContainsFunc(commands, func(c event.CommandEvidence) bool {
		return c.Counts == nil || c.Counts.Passed+c.Counts.Failed > 0
	})
	switch {
	case len(commands) == 0:
		return false, "no tests were found: there is no go.mod, package.json with a test script, Python test, Cargo.toml " +
			"or Makefile with a test target; name the commands to run"
	case len(troubles) > 0:
		return false, strings.Join(troubles, "; ")
	case !ran:
		return false, "0 tests ran: " + lines(commands) + " succeeded without testing anything"
	}
	return true, ""
}

func lines(commands []event.CommandEvidence) string {
	var all []string
	for _, c := range commands {
		all = append(all, title(c))
	}
	return strings.Join(all, ", ")
}

// title is a command as people read it.
func title(c event.CommandEvidence) string {
	if c.Dir == "" {
		return c.Command
	}
	return c.Command + " (in " + c.Dir + ")"
}

// trouble says why a command does not pass, or "".
func (v *Verifier) trouble(c event.CommandEvidence, res runner.ShellResult) string {
	switch {
	case c.TimedOut:
		return fmt.Sprintf("%s: not finished after %s", title(c), res.Took.Round(time.Second))
	case c.Exit == 0:
		return ""
	}
	if missing := v.missing(c, res.Combined); missing != "" {
		return title(c) + ": " + missing
	}
	text := fmt.Sprintf("%s: exit %d", title(c), c.Exit)
	if c.Counts == nil {
		return text
	}
	if n := c.Counts.Passed + c.Counts.Failed; n == 0 {
		return text + ", 0 tests ran"
	}
	return fmt.Sprintf("%s, %d failed%s", text, c.Counts.Failed, some(c.Counts.Failing))
}

// some names the first few of a list.
func some(list []string) string {
	const few = 3
	switch {
	case len(list) == 0:
		return ""
	case len(list) > few:
		return fmt.Sprintf(" (%s, and %d more)", strings.Join(list[:few], ", "), len(list)-few)
	}
	return " (" + strings.Join(list, ", ") + ")"
}

var (
	notFound = pattern(`(?m)([^\s:]+): (?:command )?not found$`)
	noModule = pattern(`(?m)No module named '?(pytest|unittest)'?$`)
)

// missing says which part of the toolchain is not there, or "".
func (v *Verifier) missing(c event.CommandEvidence, output string) string {
	output = plainText(output)
	if m := noModule().FindStringSubmatch(output); m != nil {
		return "python3 has no " + m[1] + " here: the toolchain is missing"
	}
	if c.Exit != 127 {
		return ""
	}
	what := "a program"
	if m := notFound().FindStringSubmatch(output); m != nil {
		what = m[1]
	}
	if d := (directory{v.files, path.Join(".", c.Dir)}); d.has("package.json") && what != c.Name && !d.hasDir("node_modules") {
		return what + " was not found (exit 127): the dependencies are not installed in the worktree (no node_modules)"
	}
	return what + " was not found (exit 127): the toolchain is missing here"
}

func (d directory) hasDir(name string) bool {
	st, err := fs.Stat(d.fsys, path.Join(d.dir, name))
	return err == nil && st.IsDir()
}

var assignment = pattern(`^[A-Za-z_][A-Za-z0-9_]*=`)

// program is the name of what a command line runs: "CI=1 /usr/bin/go test" is go.
// Lines that run more than one thing are simply a shell's.
func program(line string) string {
	if strings.ContainsAny(line, ";&|\n`$(") {
		return "sh"
	}
	for _, word := range strings.Fields(line) {
		if assignment().MatchString(word) {
			continue
		}
		name := path.Base(word)
		switch {
		case strings.HasPrefix(name, "python"), name == "pytest":
			return "python"
		default:
			return name
		}
	}
	return "sh"
}
