//go:build !unix

package sandbox

import (
	"errors"
	"os"
	"os/exec"
)

// politely is what a process is stopped with; there is nothing softer here.
var politely = os.Kill

func (p *process) start(string) error { return p.cmd.Start() }

func (p *process) wait() (exit, strays int, err error) {
	err = p.cmd.Wait()
	close(p.ended)
	p.leave()
	if failed := (*exec.ExitError)(nil); err != nil && !errors.As(err, &failed) {
		return -1, 0, err
	}
	return p.cmd.ProcessState.ExitCode(), 0, nil
}

// signalGroup reaches the process alone.
func (p *process) signalGroup(os.Signal) { _ = p.cmd.Process.Kill() }

func widen(*os.File) {}

// mark is what processes are found by; only Linux can tell.
type mark struct{}

// Reap does nothing here: processes of a run cannot be found.
func Reap(string) (int, error) { return 0, nil }

// Enforced lists what Run enforces on this system.
func Enforced() []string { return []string{"no inherited environment", "bounded output"} }
