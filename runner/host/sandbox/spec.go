package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-ci/pawl/runner/host/sandbox/confine"
)

// Spec is one process to run. Exactly one of Argv and Line is set.
type Spec struct {
	Argv []string // program and arguments; a name without a slash is looked up in Env's PATH
	Line string   // a command line for the shell
	// Shell is the program that gets Line after "-c"; "" is /bin/sh, or else the
	// sh in Env's PATH.
	Shell   string
	Dir     string        // working directory, absolute
	Env     []string      // the complete environment, see [Environment]; nothing else is passed on
	Timeout time.Duration // 0 is no limit
	// OutputCap is how many bytes of each stream's beginning are kept, and as
	// many again of its end; 0 is [DefaultCap].
	OutputCap int
	// Notable chooses lines to keep from the part that is left out; it sees the
	// first 16 MiB of it. It is called from two goroutines but never at once, may
	// see a line twice, and must not keep it. nil keeps none.
	Notable func(line []byte) bool
	RunID   string // set as PAWL_RUN_ID, see [Reap]; "" sets none
	// Confine is what the process may touch; nil lets it touch all that pawl may.
	// What this system cannot enforce is left out, see confine.System, unless
	// Required makes that an error.
	Confine  *confine.Policy
	Required bool
}

// DefaultCap is the OutputCap of a Spec that names none, in bytes.
const DefaultCap = 64 << 10

// Result is how a process ended.
type Result struct {
	Stdout, Stderr Output
	Combined       Output        // both, in the order in which they were read
	Exit           int           // 128+n when ended by signal n
	TimedOut       bool          // Timeout passed and the process was stopped
	Took           time.Duration // from start to end
	Strays         int           // processes that had left the group and were killed
}

// runVariable marks every process of a run for [Reap].
const runVariable = "PAWL_RUN_ID"

// longestArgument is the size in bytes above which a line goes to the shell by
// way of a file: Linux takes at most 128 KiB in one argument.
const longestArgument = 100_000

// command checks the spec and makes it ready to start. The returned function
// removes what was made for it.
func (s *Spec) command() (*exec.Cmd, func(), error) {
	name, argv, err := s.argv()
	if err != nil {
		return nil, nil, err
	}
	if st, err := os.Stat(s.Dir); err != nil || !st.IsDir() || !filepath.IsAbs(s.Dir) {
		return nil, nil, fmt.Errorf("run %s: working directory %q is not an absolute path of a directory", name, s.Dir)
	}
	path, err := s.find(argv[0])
	if err != nil {
		return nil, nil, fmt.Errorf("run %s: %w", name, err)
	}
	argv, cleanup, err := s.shorten(argv)
	if err != nil {
		return nil, nil, fmt.Errorf("run %s: %w", name, err)
	}
	env := s.Env[:len(s.Env):len(s.Env)]
	if env == nil {
		env = []string{} // nil would pass on our own
	}
	if s.RunID != "" {
		env = append(env, runVariable+"="+s.RunID)
	}
	return &exec.Cmd{Path: path, Args: argv, Dir: s.Dir, Env: env}, cleanup, nil
}

// argv is what to run and a short name for it in errors.
func (s *Spec) argv() (name string, argv []string, err error) {
	switch {
	case (len(s.Argv) == 0) == (s.Line == ""):
		return "", nil, errors.New("run: give either a command line or a program")
	case s.Line == "":
		name, argv = s.Argv[0], s.Argv
	default:
		shell := s.Shell
		if shell == "" {
			shell = defaultShell()
		}
		name, argv = "command", []string{shell, "-c", s.Line}
	}
	for _, a := range argv {
		if strings.ContainsRune(a, 0) {
			return "", nil, fmt.Errorf("run %s: it holds a NUL byte, which no argument can", name)
		}
	}
	return name, argv, nil
}

func defaultShell() string {
	const usual = "/bin/sh"
	if _, err := os.Stat(usual); err == nil {
		return usual
	}
	return "sh"
}

// find locates a program as the process itself would: by Env's PATH, not ours.
// Relative entries of PATH are left out, because the worktree is not trusted.
func (s *Spec) find(program string) (string, error) {
	if strings.ContainsRune(program, '/') || filepath.IsAbs(program) {
		if !filepath.IsAbs(program) {
			program = filepath.Join(s.Dir, program)
		}
		return exec.LookPath(program)
	}
	path := confine.Variable(s.Env, "PATH")
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if found, err := exec.LookPath(filepath.Join(dir, program)); err == nil {
			return found, nil
		}
	}
	return "", fmt.Errorf("there is no program %q in PATH (%s): %w", program, path, exec.ErrNotFound)
}

// shorten puts a line that no argument can hold into a file.
func (s *Spec) shorten(argv []string) ([]string, func(), error) {
	if s.Line == "" || len(s.Line) < longestArgument {
		return argv, func() {}, nil
	}
	dir := confine.Variable(s.Env, "TMPDIR")
	if dir == "" {
		dir = os.TempDir()
	}
	f, err := os.CreateTemp(dir, "pawl-command-*.sh")
	if err != nil {
		return nil, nil, fmt.Errorf("keep the long command line in a file: %w", err)
	}
	_, err = f.WriteString(s.Line)
	if err := errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(f.Name())
		return nil, nil, fmt.Errorf("keep the long command line in a file: %w", err)
	}
	return []string{argv[0], "-c", `. "$0"`, f.Name()}, func() { _ = os.Remove(f.Name()) }, nil
}
