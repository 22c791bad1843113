//go:build unix && !linux

package sandbox

import (
	"os"
	"syscall"
)

const politely = syscall.SIGTERM

// start starts the process in a session of its own: its group can be killed as
// one, and it has no terminal to ask questions on.
func (p *process) start(string) error {
	noCores()
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return p.cmd.Start()
}

// wait waits for the process and kills the rest of its group.
func (p *process) wait() (exit, strays int, err error) {
	exit, err = reaped(p.cmd)
	close(p.ended)
	p.leave()
	return exit, 0, err
}

func (p *process) signalGroup(sig os.Signal) {
	_ = syscall.Kill(-p.cmd.Process.Pid, sig.(syscall.Signal))
}

func widen(*os.File) {}

// mark is what processes are found by; only Linux can tell.
type mark struct{}

// Reap does nothing here: processes of a run cannot be found.
func Reap(string) (int, error) { return 0, nil }

// Enforced lists what Run enforces on this system.
func Enforced() []string {
	all := []string{"no inherited environment", "no terminal", "process group killed at the end", "bounded output"}
	if noCores() {
		all = append(all, "no core dumps")
	}
	return all
}
