package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/pawl-ci/pawl/runner/event"
)

// Open continues a run's record: it takes the lock (or returns a *[BusyError]),
// reads all events, cuts a torn tail of cut bytes off, and makes sure that what
// it returns is durable, because a process that died may not have got that far.
//
// The error wraps fs.ErrNotExist when there is no such run, and an
// *[event.DamagedError] or *[event.NewerError] when the record cannot be read;
// use [OpenRead] to see what stands before the damage.
func Open(dir string, run event.RunID) (r *Run, events []event.Event, cut int, err error) {
	return openRun(osDisk{}, dir, run)
}

func openRun(d disk, dir string, run event.RunID) (*Run, []event.Event, int, error) {
	r, err := find(d, dir, run)
	if err != nil {
		return nil, nil, 0, err
	}
	if err := r.start(); err != nil {
		return nil, nil, 0, fmt.Errorf("open run %s: %w", run, r.failed(r.at.log, err))
	}
	events, cut, err := r.read()
	if err != nil {
		r.Close()
		return nil, nil, 0, fmt.Errorf("open run %s: %w", run, err)
	}
	if err := r.settle(cut); err != nil {
		r.Close()
		return nil, nil, 0, fmt.Errorf("open run %s: %w", run, r.failed(r.at.log, err))
	}
	return r, events, cut, nil
}

// find checks that the run is there.
func find(d disk, dir string, run event.RunID) (*Run, error) {
	if err := checkID(run); err != nil {
		return nil, err
	}
	r := newRun(d, dir, run)
	if _, err := os.Stat(r.at.log); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("there is no run %s in %s: %w", run, dir, fs.ErrNotExist)
		}
		return nil, fmt.Errorf("open run %s: %w", run, err)
	}
	return r, nil
}

// start takes the lock and opens the log for appending. The names down to the
// log are made durable: whoever made them may have died before.
func (r *Run) start() (err error) {
	if r.lock, err = acquire(r.at.lock, r.id); err != nil {
		return err
	}
	r.log, err = r.disk.Append(r.at.log)
	if err == nil {
		if err = r.disk.Mkdir(r.at.blobs); errors.Is(err, fs.ErrExist) {
			err = nil // it is missing only in a copy that leaves empty directories out
		}
	}
	if err == nil {
		err = errors.Join(r.syncDir(r.at.dir), r.syncDir(r.at.runs))
	}
	if err != nil {
		r.Close()
	}
	return err
}

// settle makes the log end with its last whole line, durably, and clears away
// blobs that were never finished.
func (r *Run) settle(cut int) error {
	if cut > 0 {
		if err := r.log.Truncate(r.chain.Size); err != nil {
			return err
		}
	}
	r.stats.Syncs++
	if err := r.log.Sync(); err != nil {
		return err
	}
	return r.clearHalfBlobs()
}

// read folds the log's lines into the chain.
func (r *Run) read() ([]event.Event, int, error) {
	f, err := os.Open(r.at.log)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	// What a live run adds meanwhile is left for the next reader.
	reader := event.NewReader(io.LimitReader(f, info.Size()), r.id)
	events, err := reader.ReadAll()
	r.chain = reader.Chain()
	return events, reader.Cut(), err
}

// OpenRead reads a run's record without its lock, live or not: the events so far,
// and the bytes of an unfinished line behind them. The run it returns gives out
// blobs and changes nothing. When the record is damaged or newer, the events
// before that place and the run are returned with the error.
func OpenRead(dir string, run event.RunID) (r *Run, events []event.Event, cut int, err error) {
	r, err = find(osDisk{}, dir, run)
	if err != nil {
		return nil, nil, 0, err
	}
	events, cut, err = r.read()
	var damaged *event.DamagedError
	if errors.As(err, &damaged) {
		// A run that is being resumed cuts its torn tail and writes over it; a
		// reader in between sees half of each. Real damage is still there.
		events, cut, err = r.read()
	}
	if err != nil {
		err = fmt.Errorf("read run %s: %w", run, err)
	}
	return r, events, cut, err
}
