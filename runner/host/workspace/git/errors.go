package git

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// Error is a git command that did not do its work: a full disk, missing
// permission, a damaged repository.
type Error struct {
	Op      string // the git command, e.g. "add"
	Dir     string // where it worked
	Message string // what git said, on one line
	Exit    int    // its exit status, -1 when it did not start or was killed
	Err     error
}

// Error implements error.
func (e *Error) Error() string {
	msg := e.Message
	if msg == "" {
		msg = e.Err.Error()
	}
	return fmt.Sprintf("git %s in %s: %s", e.Op, e.Dir, msg)
}

// Unwrap implements errors.Unwrap.
func (e *Error) Unwrap() error { return e.Err }

const maxMessage = 600 // bytes of git's words in an error

// oneMessage folds git's stderr into a line: hints and repeats are left out.
func oneMessage(stderr string) string {
	var parts []string
	seen := map[string]bool{}
	for _, line := range strings.Split(stderr, "\n") {
		line = strings.TrimSpace(line)
		for _, p := range []string{"fatal: ", "error: "} {
			line = strings.TrimPrefix(line, p)
		}
		if line == "" || strings.HasPrefix(line, "hint:") || seen[line] {
			continue
		}
		seen[line] = true
		parts = append(parts, line)
	}
	msg := strings.Join(parts, "; ")
	if len(msg) > maxMessage {
		msg = strings.ToValidUTF8(msg[:maxMessage], "") + "…"
	}
	return msg
}

// Said reports whether err is a git failure whose message holds one of words.
func Said(err error, words ...string) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	for _, w := range words {
		if strings.Contains(e.Message, w) {
			return true
		}
	}
	return false
}

func (g *Git) failure(ctx context.Context, c Call, cmd *exec.Cmd, stderr string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("git %s in %s: %w", c.Args[0], c.Dir, context.Cause(ctx))
	}
	e := &Error{Op: c.Args[0], Dir: c.Dir, Message: oneMessage(stderr), Exit: -1, Err: err}
	if cmd.ProcessState != nil {
		e.Exit = cmd.ProcessState.ExitCode()
	}
	e.Message += fullDisk(c)
	return e
}

const nearlyFull = 1 << 20 // bytes left on a disk that explain a failure

// fullDisk names a disk of the command's that has no room. git often says only
// which file it could not write, not why.
func fullDisk(c Call) string {
	dirs := []string{c.Dir}
	for _, kv := range c.Env {
		if dir, ok := strings.CutPrefix(kv, "GIT_DIR="); ok {
			dirs = append(dirs, dir)
		}
	}
	for _, dir := range dirs {
		if n := left(dir); n >= 0 && n < nearlyFull {
			return fmt.Sprintf(" (no space left on the disk of %s: %d KiB)", dir, n>>10)
		}
	}
	return ""
}

// Exit is the status with which git ended, 0 when err is not about that.
func Exit(err error) int {
	var e *Error
	if errors.As(err, &e) {
		return e.Exit
	}
	return 0
}
