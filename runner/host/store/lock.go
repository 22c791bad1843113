package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-ci/pawl/runner/event"
)

// BusyError says that another process works on the run.
type BusyError struct {
	Run event.RunID
	PID int // 0 when it is not known
}

// Error implements error.
func (e *BusyError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("run %s is still going in another process", e.Run)
	}
	return fmt.Sprintf("run %s is still going in process %d", e.Run, e.PID)
}

// lock is a run's lock while it is held.
type lock struct{ f *os.File }

// probePatience bounds how long glances of [Live] can hold acquire up.
const probePatience = time.Second

// acquire takes a run's lock, or returns a *[BusyError].
func acquire(path string, run event.RunID) (*lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, err
	}
	taken, err := take(f)
	if taken {
		sign(f)
		return &lock{f}, nil
	}
	if err == nil {
		err = &BusyError{Run: run, PID: signature(f)}
	}
	return nil, errors.Join(err, f.Close())
}

// take locks f unless somebody works under its lock. A lock that others only
// share belongs to those who glance at it, and is free in a moment.
func take(f *os.File) (bool, error) {
	for deadline := time.Now().Add(probePatience); ; time.Sleep(time.Millisecond) {
		if taken, err := tryLock(f, true); taken || err != nil {
			return taken, err
		}
		shared, err := tryLock(f, false)
		if !shared || err != nil || time.Now().After(deadline) {
			return false, err
		}
		if err := unlock(f); err != nil {
			return false, err
		}
	}
}

// sign writes into the lock who holds it. It is a hint for people: that it could
// not be written is no reason not to work.
func sign(f *os.File) {
	if err := f.Truncate(0); err == nil {
		_, _ = f.WriteAt(fmt.Appendln(nil, os.Getpid()), 0)
	}
}

// signature is the process number in a lock, or 0.
func signature(f *os.File) int {
	text, err := io.ReadAll(io.NewSectionReader(f, 0, 32))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid < 0 {
		return 0
	}
	return pid
}

// release gives the lock up.
func (l *lock) release() {
	_ = l.f.Truncate(0)
	l.drop()
}

// drop unlocks and closes. Closing alone is not enough: a child process that is
// just being started shares the file for a moment, and with it the lock.
func (l *lock) drop() {
	_ = unlock(l.f)
	_ = l.f.Close()
}

// Live reports whether a process works on the run now, and which one (0 when it
// is not known). A run without a lock file is not live.
func Live(dir string, run event.RunID) (pid int, live bool, err error) {
	if err := checkID(run); err != nil {
		return 0, false, err
	}
	f, err := os.Open(pathsOf(dir, run).lock)
	if errors.Is(err, os.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("look at the lock of run %s: %w", run, err)
	}
	defer f.Close()
	free, err := tryLock(f, false)
	if err != nil {
		return 0, false, fmt.Errorf("look at the lock of run %s: %w", run, err)
	}
	if free {
		return 0, false, unlock(f)
	}
	return signature(f), true, nil
}
