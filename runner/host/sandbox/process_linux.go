package sandbox

import (
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const politely = syscall.SIGTERM

// start starts the process in a session of its own: its group can be killed as
// one, it has no terminal to ask questions on, and it cannot move into a group
// of ours. It dies when pawl does.
func (p *process) start(run string) error {
	noCores()
	p.mark = newMark(run)
	p.cmd.Env = append(p.cmd.Env, p.mark.variable())
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		return err
	}
	// As a rule this is done before the new program's loader has done its work.
	p.mark.put(p.cmd.Process.Pid)
	return nil
}

// wait waits for the process, kills the rest of its group and what left it, and
// returns when they are gone.
func (p *process) wait() (exit, strays int, err error) {
	pid := p.cmd.Process.Pid
	// The process stays a zombie and keeps its number until the group is dead.
	for {
		err = unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	close(p.ended)
	p.leave()
	exit, err = reaped(p.cmd)
	later := func() []int { return since(pid, time.Since(p.began)) }
	awaitGroup(pid, later)
	return exit, p.mark.sweep(later), err
}

func (p *process) signalGroup(sig os.Signal) {
	_ = unix.Kill(-p.cmd.Process.Pid, sig.(syscall.Signal))
}

// awaitGroup waits until no killed process of the group runs any more, and
// collects those that are our children by now: where pawl is the first process
// of a container, nobody else would.
func awaitGroup(group int, list func() []int) {
	if unix.Kill(-group, 0) != nil {
		return
	}
	killAll(list, func(pid int) bool {
		of, err := unix.Getpgid(pid)
		return err == nil && of == group
	}, nil)
	for {
		if pid, err := unix.Wait4(-group, nil, unix.WNOHANG, nil); pid <= 0 || err != nil {
			return
		}
	}
}

// widen makes a pipe larger, which saves wake-ups when much is printed.
func widen(f *os.File) {
	if c, err := f.SyscallConn(); err == nil {
		_ = c.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize) })
	}
}

const pipeSize = 256 << 10
