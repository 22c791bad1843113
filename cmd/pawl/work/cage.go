package work

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/host/sandbox"
)

// sandboxLevel is the value of --sandbox.
type sandboxLevel string

const (
	sandboxAuto     sandboxLevel = "auto"     // what the system gives
	sandboxRequired sandboxLevel = "required" // all of it, or no run
	sandboxNone     sandboxLevel = "none"
)

// String implements pflag.Value.
func (l *sandboxLevel) String() string { return string(*l) }

// Type implements pflag.Value.
func (*sandboxLevel) Type() string { return "LEVEL" }

// Set implements pflag.Value.
func (l *sandboxLevel) Set(text string) error {
	switch level := sandboxLevel(text); level {
	case sandboxAuto, sandboxRequired, sandboxNone:
		*l = level
		return nil
	}
	return errors.New("want auto, required or none")
}

// cage is what the commands of one attempt run in.
type cage struct {
	env    []string
	policy *sandbox.Policy // nil confines nothing
	says   *event.Sandbox
	remove func() error
}

// buildCage makes the environment and the policy of the attempt's commands: they
// write to the worktree, to a directory for temporary files that goes with the
// attempt, and to the caches of their toolchains. The repository's own git
// directory they only read; pawl commits.
func (j *job) buildCage() error {
	parent := j.app.Env.Lines()
	home := filepath.Join(j.place.Store, "home") // for when there is no HOME
	j.cage = cage{env: sandbox.Environment(parent, home, nil), says: &event.Sandbox{Enforced: sandbox.Enforced()}, remove: func() error { return nil }}
	if j.flags.sandbox == sandboxNone {
		j.cage.says.Missing = []string{"confinement: switched off with --sandbox none"}
		return nil
	}
	enforced, missing := sandbox.Confinement()
	if j.flags.sandbox == sandboxRequired && len(missing) > 0 {
		return cli.Usage(fmt.Errorf("--sandbox required: this system does not enforce %s", missing[0]), "--sandbox auto takes what there is; the report says what")
	}
	// Not below the store: a socket's path may have only about a hundred bytes.
	tmp, err := os.MkdirTemp("", "pawl-tmp-")
	if err != nil {
		return cli.Host(fmt.Errorf("make a directory for temporary files: %w", err), cli.DiskHint(err))
	}
	j.cage.remove = func() error { return os.RemoveAll(tmp) }
	j.cage.env = sandbox.Environment(parent, home, map[string]string{"TMPDIR": tmp})
	sandbox.MakeCaches(j.cage.env)
	policy := sandbox.Usual(j.cage.env, j.workDir(), tmp)
	if j.place.Repo != nil {
		policy.Read = append(policy.Read, j.place.Repo.CommonDir)
	}
	j.cage.policy = &policy
	j.cage.says.Enforced = append(j.cage.says.Enforced, enforced...)
	for _, gap := range missing {
		j.cage.says.Missing = append(j.cage.says.Missing, gap.String())
	}
	return nil
}

// workDir is where commands run: the worktree, or for a workflow without one an
// empty directory of the run's own.
func (j *job) workDir() string {
	if j.source.Workflow.Worktree {
		return j.place.Worktree(j.id)
	}
	return filepath.Join(j.place.Store, "scratch", string(j.id))
}

// freeCage removes what the attempt's commands left in their directory for
// temporary files.
func (j *job) freeCage() {
	if err := j.cage.remove(); err != nil {
		j.app.Notice("remove temporary files: %v", err)
	}
}
