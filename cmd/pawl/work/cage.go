package work

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/host/sandbox"
	"github.com/pawl-ci/pawl/runner/host/sandbox/confine"
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
	policy *confine.Policy // nil confines nothing
	tmp    string          // for temporary files; "" when that is shared
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
	enforced, missing := confine.System()
	if j.flags.sandbox == sandboxRequired && len(missing) > 0 {
		return cli.Usage(fmt.Errorf("--sandbox required: this system does not enforce %s", missing[0]), "--sandbox auto takes what there is; the report says what")
	}
	tmp, err := j.temporary()
	if err != nil {
		return cli.Host(fmt.Errorf("make a directory for temporary files: %w", err), cli.DiskHint(err))
	}
	j.cage.tmp, j.cage.remove = tmp, func() error {
		return errors.Join(os.RemoveAll(tmp), ignoreAbsent(os.Remove(j.tmpLink())))
	}
	// A home's git configuration is out of reach, and git ends where it finds one
	// that it may not read.
	j.cage.env = sandbox.Environment(parent, home, map[string]string{"TMPDIR": tmp, "GIT_CONFIG_GLOBAL": os.DevNull})
	confine.MakeCaches(j.cage.env)
	policy := confine.Usual(j.cage.env, j.workDir(), tmp)
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

// temporary makes the attempt's directory for temporary files, and removes what a
// killed attempt left of its own. It is not below the store, because a socket's
// path may have only about a hundred bytes.
func (j *job) temporary() (string, error) {
	link := j.tmpLink()
	if left, err := os.Readlink(link); err == nil {
		if err := errors.Join(os.RemoveAll(left), os.Remove(link)); err != nil {
			return "", fmt.Errorf("remove what the last attempt left: %w", err)
		}
	}
	return os.MkdirTemp("", "pawl-tmp-")
}

// tmpLink leads to the directory for temporary files while an attempt works.
func (j *job) tmpLink() string { return filepath.Join(j.place.Store, "tmp", string(j.id)) }

// keepCage leaves word of where temporary files are, for when this attempt is
// killed. The record must have been opened: it makes the store.
func (j *job) keepCage() error {
	if j.cage.tmp == "" {
		return nil
	}
	link := j.tmpLink()
	return errors.Join(os.MkdirAll(filepath.Dir(link), 0o700), os.Symlink(j.cage.tmp, link))
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

func ignoreAbsent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
