package tool

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/host/sandbox"
	"github.com/pawl-ci/pawl/runner/host/sandbox/confine"
	"github.com/pawl-ci/pawl/runner/host/tool/excerpt"
)

// ShellConfig says where and how commands run.
type ShellConfig struct {
	Root    string        // the worktree, absolute
	Env     []string      // the complete environment, see sandbox.Environment
	RunID   string        // by which sandbox.Reap finds what a killed pawl left
	Timeout time.Duration // for commands that name none; 0 is [DefaultTimeout]
	// OutputCap is how many bytes of each stream's beginning and of its end are
	// kept; 0 is the sandbox's default.
	OutputCap int
	Program   string // the shell; "" is /bin/sh
	// Confine is what commands may touch; its Network is each command's own.
	// nil confines nothing. Required is as in sandbox.Spec.
	Confine  *confine.Policy
	Required bool
}

// DefaultTimeout ends a command when nobody has said anything else.
const DefaultTimeout = 30 * time.Minute

// Shell runs command lines in the worktree. It implements runner.Shell.
type Shell struct{ c ShellConfig }

// NewShell returns a shell. It checks nothing: what is wrong with the
// configuration is the error of the first command.
func NewShell(c ShellConfig) *Shell {
	if c.Timeout <= 0 {
		c.Timeout = DefaultTimeout
	}
	return &Shell{c}
}

// Run implements runner.Shell. Of what is left out of the middle of long output,
// lines that look like failures are kept.
func (s *Shell) Run(ctx context.Context, cmd runner.ShellCommand) (runner.ShellResult, error) {
	dir, err := s.dir(cmd.Dir)
	if err != nil {
		return runner.ShellResult{}, err
	}
	timeout := cmd.Timeout
	if timeout <= 0 {
		timeout = s.c.Timeout
	}
	r, err := sandbox.Run(ctx, sandbox.Spec{
		Line: cmd.Line, Shell: s.c.Program, Dir: dir, Env: s.c.Env, RunID: s.c.RunID,
		Timeout: timeout, OutputCap: s.c.OutputCap, Notable: excerpt.Failing,
		Confine: s.policy(cmd.Network), Required: s.c.Required,
	})
	return runner.ShellResult{
		Stdout: r.Stdout.String(), Stderr: r.Stderr.String(), Combined: r.Combined.String(),
		Exit: r.Exit, TimedOut: r.TimedOut, Took: r.Took,
	}, err
}

func (s *Shell) policy(network bool) *confine.Policy {
	if s.c.Confine == nil {
		return nil
	}
	p := *s.c.Confine
	p.Network = network
	return &p
}

// dir is a directory of the worktree, without links that lead out of it.
func (s *Shell) dir(rel string) (string, error) {
	if rel == "" {
		return s.c.Root, nil
	}
	root, err := filepath.EvalSymlinks(s.c.Root)
	if err != nil {
		return "", fmt.Errorf("run a command: %w", err)
	}
	dir, err := filepath.EvalSymlinks(filepath.Join(root, rel))
	if err != nil {
		return "", fmt.Errorf("run a command in %s: %w", rel, err)
	}
	if below, err := filepath.Rel(root, dir); err != nil || !filepath.IsLocal(below) || filepath.IsAbs(rel) {
		return "", fmt.Errorf("run a command in %s: it is outside of the worktree", rel)
	}
	return dir, nil
}
