package git

import (
	"os/exec"
	"runtime"
	"syscall"
)

// runTied runs cmd in its own process group, so that a Ctrl-C meant for pawl does
// not break a git that is just saving something, and ties its life to ours: when
// pawl is killed, git gets SIGTERM, on which it removes its lock files.
func runTied(cmd *exec.Cmd) error {
	// The parent-death signal comes when the starting thread ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	return cmd.Run()
}

// left is the space in bytes that an ordinary user may still take on the file
// system of dir, or -1 when that is unknown.
func left(dir string) int64 {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return -1
	}
	return int64(st.Bavail) * int64(st.Bsize)
}
