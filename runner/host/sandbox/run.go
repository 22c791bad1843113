package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

// killAfter is the time from SIGTERM, on which well-behaved programs remove
// their lock files, to SIGKILL.
const killAfter = time.Second

// Run runs a process to its end. It returns when the process and its group are
// gone: what the command left running in the background does not survive it. A
// process that fails is a result. An error means that it could not be started,
// or that ctx ended; in the latter case the result holds what was printed.
func Run(ctx context.Context, s Spec) (Result, error) {
	if ctx.Err() != nil {
		return Result{}, fmt.Errorf("run: %w", context.Cause(ctx))
	}
	cmd, cleanup, err := s.command()
	if err != nil {
		return Result{}, err
	}
	defer cleanup()
	out, err := newCapture(&s, cmd)
	if err != nil {
		return Result{}, err
	}
	// A process that is to die with us dies with the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p := &process{cmd: cmd, began: time.Now(), ended: make(chan struct{})}
	if err := p.begin(&s); err != nil {
		out.close()
		return Result{}, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	out.begin()
	var stop sync.WaitGroup
	stop.Go(func() { p.stopWhen(ctx, s.Timeout) })
	result := Result{}
	result.Exit, result.Strays, err = p.wait()
	stop.Wait()
	result.Took, result.TimedOut = time.Since(p.began), p.timedOut
	result.Stdout, result.Stderr, result.Combined = out.finish()
	switch {
	case p.cancelled:
		return result, fmt.Errorf("run %s: %w", cmd.Path, context.Cause(ctx))
	case err != nil:
		return result, fmt.Errorf("wait for %s: %w", cmd.Path, err)
	}
	return result, nil
}

// begin starts the process, confined where that is asked for.
func (p *process) begin(s *Spec) error {
	if s.Confine == nil {
		return p.start(s.RunID)
	}
	return p.startConfined(s.RunID, s.Confine, s.Required)
}

// process is a started process, the leader of its group.
type process struct {
	cmd   *exec.Cmd
	began time.Time
	mark  mark
	ended chan struct{} // closed when the process has ended

	timedOut, cancelled bool // written before stopWhen returns

	mu   sync.Mutex
	gone bool // its number may belong to another process by now
}

// stopWhen ends the process when ctx is done or timeout has passed.
func (p *process) stopWhen(ctx context.Context, timeout time.Duration) {
	var late <-chan time.Time
	if timeout > 0 {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-p.ended:
		return
	case <-ctx.Done():
		p.cancelled = true
	case <-late:
		p.timedOut = true
	}
	p.signal(politely)
	if !within(p.ended, killAfter) {
		p.signal(os.Kill)
	}
}

// signal sends sig to the whole group while its number is still ours.
func (p *process) signal(sig os.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.gone {
		p.signalGroup(sig)
	}
}

// leave kills what is left of the group. Nothing is sent to it afterwards.
func (p *process) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.signalGroup(os.Kill)
	p.gone = true
}
