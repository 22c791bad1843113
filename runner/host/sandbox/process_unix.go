//go:build unix

package sandbox

import (
	"errors"
	"os/exec"
	"sync"
	"syscall"
)

// noCores forbids core dumps to ourselves, and thereby from the first moment on
// to all we start. A dump of a command would end up in the worktree, one of ours
// holds keys. It reports whether that worked.
var noCores = sync.OnceValue(func() bool {
	return syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}) == nil
})

// reaped collects an ended process and returns its exit status, 128+n after
// signal n.
func reaped(cmd *exec.Cmd) (int, error) {
	err := cmd.Wait()
	if failed := (*exec.ExitError)(nil); err != nil && !errors.As(err, &failed) {
		return -1, err
	}
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return status.ExitStatus(), nil
}
