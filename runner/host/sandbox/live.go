package sandbox

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"
)

// Live is a process that serves on its standard input and output while pawl does
// other things. Stop it after use.
type Live struct {
	Stdin  *os.File // closed by Stop
	Stdout *os.File // ends when the process does; closed by Stop

	p       *process
	cleanup func()
	stop    sync.Once
	done    chan struct{} // closed when the process and its group are gone
	errors  *keeper
	mu      sync.Mutex // guards errors
}

// Start starts a process as [Run] does, with the same restrictions, and returns
// while it runs. Timeout is not used. What it prints to standard error is kept
// for [Live.Errors].
func Start(s Spec) (*Live, error) {
	cmd, cleanup, err := s.command()
	if err != nil {
		return nil, err
	}
	l := &Live{cleanup: cleanup, done: make(chan struct{}), errors: newKeeper(liveErrors, nil)}
	var stderr *os.File
	theirs, err := makePipes(&l.Stdin, &l.Stdout, &stderr)
	if err != nil {
		cleanup()
		return nil, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs[0], theirs[1], theirs[2]
	l.p = &process{cmd: cmd, began: time.Now(), ended: make(chan struct{})}
	err = l.begin(&s)
	closeAll(theirs[:]...) // the process has its own by now
	if err != nil {
		closeAll(l.Stdin, l.Stdout, stderr)
		cleanup()
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	collected := make(chan struct{})
	go func() { l.collect(stderr); close(collected) }()
	go func() {
		_, _, _ = l.p.wait() // how a server ended is told by what it printed
		_ = within(collected, drainFor)
		close(l.done)
	}()
	return l, nil
}

// liveErrors is how many bytes of the beginning and of the end of standard error
// are kept.
const liveErrors = 4 << 10

// makePipes makes the pipes of a process and returns its ends.
func makePipes(stdin, stdout, stderr **os.File) (theirs [3]*os.File, err error) {
	if theirs[0], *stdin, err = os.Pipe(); err == nil {
		if *stdout, theirs[1], err = os.Pipe(); err == nil {
			*stderr, theirs[2], err = os.Pipe()
		}
	}
	if err != nil {
		closeAll(append(theirs[:], *stdin, *stdout, *stderr)...)
		return theirs, fmt.Errorf("open a pipe: %w", err)
	}
	return theirs, nil
}

// begin starts the process on a thread that stays while it runs, because it is to
// die with us and would die with the thread that started it.
func (l *Live) begin(s *Spec) error {
	if s.Confine != nil {
		return l.p.startConfined(s.RunID, s.Confine, s.Required)
	}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := l.p.start(s.RunID)
		started <- err
		if err == nil {
			<-l.p.ended
		}
	}()
	return <-started
}

func (l *Live) collect(stderr *os.File) {
	defer stderr.Close()
	buf := make([]byte, 4<<10)
	for {
		n, err := stderr.Read(buf)
		l.mu.Lock()
		l.errors.add(buf[:n])
		l.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// Errors is what the process has printed to standard error so far, its beginning
// and its end.
func (l *Live) Errors() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.errors.output()
	return out.String()
}

// Done is closed when the process and its group are gone.
func (l *Live) Done() <-chan struct{} { return l.done }

// Stop closes the process's input, on which a server ends by itself, and kills it
// with its group and whatever left it when it does not. It may be called more
// than once.
func (l *Live) Stop() {
	l.stop.Do(func() {
		closeAll(l.Stdin)
		for _, sig := range []os.Signal{politely, os.Kill} {
			if within(l.done, killAfter) {
				break
			}
			l.p.signal(sig)
		}
		<-l.done
		closeAll(l.Stdout)
		l.cleanup()
	})
}

// closeAll closes what is open of the files; what they say then helps nobody.
func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}
