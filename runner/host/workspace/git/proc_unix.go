//go:build unix && !linux

package git

import (
	"os/exec"
	"syscall"
)

// runTied runs cmd in its own process group, so that a Ctrl-C meant for pawl does
// not break a git that is just saving something.
func runTied(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	return cmd.Run()
}

// left is the space on the file system of dir: not known here.
func left(string) int64 { return -1 }
