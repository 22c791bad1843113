package tool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/pawl-ci/pawl/runner/host/sandbox"
)

// gitSettings are put before every git command: what would run programs is off,
// and what would make the outcome depend on the user's taste is fixed.
var gitSettings = []string{
	"core.hooksPath=" + os.DevNull, "core.fsmonitor=false", "core.untrackedCache=false", "core.alternateRefsCommand=",
	"core.quotePath=false", "core.safecrlf=false", "diff.orderFile=/dev/null", "diff.interHunkContext=0", "diff.noprefix=false",
	"diff.mnemonicPrefix=false", "diff.suppressBlankEmpty=false", "diff.indentHeuristic=true", "diff.relative=false",
	"diff.wsErrorHighlight=none", "color.ui=false", "submodule.recurse=false", "gc.auto=0", "maintenance.auto=false",
}

// gitEnv is what git sees beside the scrubbed environment: it locks nothing,
// asks nothing, fetches nothing, and takes paths as they are.
var gitEnv = []string{
	"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat", "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1",
	"GIT_LITERAL_PATHSPECS=1", "GIT_ATTR_NOSYSTEM=1", "LC_ALL=C",
}

const (
	gitOutput = 16 << 20 // bytes of git's output that are looked at
	gitTime   = 2 * time.Minute
)

// git runs git on the worktree, like any command that may meet what an agent has
// left behind: filters that the repository configures do run, but with nothing
// in their environment. complete is false when there was more output than that.
func (t *Tools) git(ctx context.Context, arg ...string) (out string, complete bool, err error) {
	program := t.c.Git
	if program == "" {
		program = "git"
	}
	argv := []string{program, "--no-pager"}
	for _, s := range gitSettings {
		argv = append(argv, "-c", s)
	}
	if t.c.GitDir != "" {
		argv = append(argv, "--git-dir="+t.c.GitDir, "--work-tree="+t.c.Root)
	}
	r, err := sandbox.Run(ctx, sandbox.Spec{
		Argv: append(argv, arg...), Dir: t.c.Root, Env: append(t.c.Env[:len(t.c.Env):len(t.c.Env)], gitEnv...),
		Timeout: gitTime, OutputCap: gitOutput,
	})
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", false, problem("there is no git here")
	case err != nil:
		return "", false, err
	case r.TimedOut:
		return "", false, problemf("git %s did not end within %v", arg[0], gitTime)
	case r.Exit != 0:
		said := strings.TrimSpace(r.Stderr.String())
		return "", false, problem(clip(fmt.Sprintf("git %s: %s", arg[0], strings.TrimPrefix(said, "fatal: ")), maxProblem))
	}
	return string(r.Stdout.Head), r.Stdout.Total == int64(len(r.Stdout.Head)), nil
}
