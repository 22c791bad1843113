//go:build unix

package sandbox

import (
	"errors"
	"os/exec"
	"syscall"
)

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
