package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/host/tool/tree"
	"github.com/pawl-ci/pawl/runner/lang/diag"
)

// Config says what the tools work on.
type Config struct {
	Root  string       // the worktree, absolute
	Shell runner.Shell // runs run_command in the worktree; nil refuses it
	// Longest is the most time that a model may ask for one command; 0 is an hour.
	Longest time.Duration
	Base    string   // commit that git_diff compares with; "" is HEAD
	Git     string   // the git program; "" is the git in Env's PATH
	GitDir  string   // the worktree's git directory; "" lets git look for it
	Env     []string // git's environment: complete, already scrubbed
}

// Tools are the built-in tools on one worktree. They may be called from many
// goroutines; those that change files do so one after the other.
type Tools struct {
	c       Config
	tree    *tree.Tree
	writing sync.Mutex
}

// New opens the worktree. Close the tools after use.
func New(c Config) (*Tools, error) {
	t, err := tree.Open(c.Root)
	if err != nil {
		return nil, err
	}
	if c.Longest <= 0 {
		c.Longest = time.Hour
	}
	return &Tools{c: c, tree: t}, nil
}

// Close lets go of the worktree.
func (t *Tools) Close() error { return t.tree.Close() }

// callable is what providers take for the name of a tool.
var callable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
})

// Specs describes the named tools, in the given order and under the given names:
// a prompt may speak of them. Names that mean the same tool give one spec.
func (t *Tools) Specs(names []string) ([]runner.ToolSpec, error) {
	specs := make([]runner.ToolSpec, 0, len(names))
	seen := map[string]bool{}
	for _, name := range names {
		proper, known := Canonical(name)
		if !known {
			return nil, fmt.Errorf("there is no tool %q; %s", name, diag.Suggest(name, Names()))
		}
		if seen[proper] {
			continue
		}
		seen[proper] = true
		b := find(proper)
		if !callable().MatchString(name) {
			name = proper
		}
		specs = append(specs, runner.ToolSpec{Name: name, Description: b.about, Parameters: schemas()[proper], Writes: b.writes})
	}
	return specs, nil
}

// Call runs one tool.
func (t *Tools) Call(ctx context.Context, name string, raw json.RawMessage) (runner.ToolResult, error) {
	proper, known := Canonical(name)
	if !known {
		return failed(name, problemf("there is no tool %q; %s", name, diag.Suggest(name, Names()))), nil
	}
	b := find(proper)
	a, err := b.decode(raw)
	if err != nil {
		return failed(proper, err), nil
	}
	if b.writes && b.name != runCommand {
		t.writing.Lock()
		defer t.writing.Unlock()
	}
	result, err := b.run(t, ctx, a)
	switch {
	case ctx.Err() != nil:
		return runner.ToolResult{}, fmt.Errorf("%s: %w", proper, context.Cause(ctx))
	case err != nil && !theirs(err):
		return runner.ToolResult{}, fmt.Errorf("%s: %w", proper, err)
	case err != nil:
		return failed(proper, err), nil
	}
	result.Text, result.Summary = printable(result.Text), oneLine(result.Summary)
	return result, nil
}

// problem is something that whoever called the tool can mend.
type problem string

// Error implements error.
func (p problem) Error() string { return string(p) }

func problemf(format string, args ...any) problem { return problem(fmt.Sprintf(format, args...)) }

// theirs reports whether err is about what was asked, and not about the machine.
func theirs(err error) bool {
	var p problem
	var named *tree.Error
	return errors.As(err, &p) || errors.As(err, &named) && !tree.Host(err)
}

func failed(name string, err error) runner.ToolResult {
	text := printable(clip(err.Error(), maxProblem))
	first, _, _ := strings.Cut(text, "\n")
	return runner.ToolResult{Text: text, Error: true, Summary: oneLine(name + ": " + first)}
}

func done(summary, text string) (runner.ToolResult, error) {
	return runner.ToolResult{Text: text, Summary: summary}, nil
}

// Caps of what a model gets to see, in bytes.
const (
	maxProblem = 4 << 10
	maxRead    = 32 << 10
	maxCommand = 8 << 10
	maxList    = 8 << 10
	maxSearch  = 8 << 10
	maxDiff    = 16 << 10
	maxSummary = 120
)

// maxFile is the size in bytes up to which files are changed.
const maxFile = 8 << 20

// clip cuts text at the end of a character.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

// oneLine makes a summary a single short line that a terminal can be shown.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, printable(s))
	return clip(strings.Join(strings.Fields(s), " "), maxSummary)
}

// printable is text without what providers do not take: bytes that are not UTF-8,
// and NUL.
func printable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// delta is the mark of a change for people.
func delta(added, removed int) string { return fmt.Sprintf("+%d −%d", added, removed) }
