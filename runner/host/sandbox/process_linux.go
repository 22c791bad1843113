package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pawl-ci/pawl/runner/host/sandbox/confine"
)

const politely = syscall.SIGTERM

// start starts the process in a session of its own: its group can be killed as
// one, it has no terminal to ask questions on, and it cannot move into a group
// of ours. It dies when pawl does. The caller's goroutine is locked to a thread.
func (p *process) start(run string) error {
	noCores()
	p.mark = newMark(run)
	p.cmd.Env = append(p.cmd.Env, p.mark.variable())
	if traceable.Load() {
		if err := p.startStopped(); !errors.Is(err, unix.EPERM) || p.runnable() != nil {
			return err
		}
		traceable.Store(false)
		p.cmd = again(p.cmd)
	}
	p.cmd.SysProcAttr = apart()
	if err := p.cmd.Start(); err != nil {
		return err
	}
	// As a rule this is done before the new program's loader has done its work.
	p.mark.put(p.cmd.Process.Pid)
	return nil
}

// traceable is false once this system has refused to let us trace our own
// children, as containers and hardened kernels may.
var traceable = func() *atomic.Bool { b := new(atomic.Bool); b.Store(true); return b }()

// startStopped starts the process and marks it before its first instruction: a
// traced process stops when its program is loaded, and is then let go for good.
func (p *process) startStopped() error {
	p.cmd.SysProcAttr = apart()
	p.cmd.SysProcAttr.Ptrace = true
	if err := p.cmd.Start(); err != nil {
		return err
	}
	pid := p.cmd.Process.Pid
	_ = waitFor(pid, unix.WSTOPPED|unix.WEXITED)
	p.mark.put(pid)
	_ = unix.PtraceDetach(pid) // one that was killed meanwhile is gone already
	return nil
}

func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// runnable tells a program that may not be executed from a trace that is not
// allowed; both are EPERM.
func (p *process) runnable() error { return unix.Access(p.cmd.Path, unix.X_OK) }

// again is a command that failed to start, ready to be started: an exec.Cmd
// cannot be used twice.
func again(c *exec.Cmd) *exec.Cmd {
	return &exec.Cmd{Path: c.Path, Args: c.Args, Dir: c.Dir, Env: c.Env, Stdin: c.Stdin, Stdout: c.Stdout, Stderr: c.Stderr}
}

// waitFor waits for a change of the process's state, which is left to be
// collected.
func waitFor(pid, states int) error {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, states|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// startConfined starts the process on a thread that is confined and stays until
// the process has ended.
func (p *process) startConfined(run string, policy *confine.Policy, required bool) error {
	policy = withProgram(policy, p.cmd.Path)
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: nobody else may have this thread
		_, missing := confine.Take(policy)
		if len(missing) > 0 && required {
			started <- fmt.Errorf("the sandbox is required, and this system does not give all of it: %s", missing[0])
			return
		}
		err := p.start(run)
		started <- err
		if err == nil {
			<-p.ended // a process that is to die with us dies with this thread
		}
	}()
	return <-started
}

// withProgram lets the program itself be run, wherever it lies.
func withProgram(policy *confine.Policy, path string) *confine.Policy {
	p := *policy
	if real, err := filepath.EvalSymlinks(path); err == nil {
		p.Read = append(slices.Clone(p.Read), real)
	}
	return &p
}

// wait waits for the process, kills the rest of its group and what left it, and
// returns when they are gone.
func (p *process) wait() (exit, strays int, err error) {
	pid := p.cmd.Process.Pid
	// The process stays a zombie and keeps its number until the group is dead.
	_ = waitFor(pid, unix.WEXITED) // what is wrong with it, reaped says
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
