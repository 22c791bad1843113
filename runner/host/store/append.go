package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/pawl-ci/pawl/runner/event"
)

// ErrUnknownState is what every Append gets after one that failed. What reached
// the disk is then unknown: a failed sync may have lost what an earlier write
// put in the cache, and says so only once. Opening the run anew reads what is
// really there.
var ErrUnknownState = errors.New("the state of the record is unknown after a failed append")

// WriteError says that a part of the record could not be written, and what that
// means for the run.
type WriteError struct {
	Run  event.RunID
	New  bool // the record was only just being created: nothing has happened yet
	Path string
	Err  error
}

// Error implements error.
func (e *WriteError) Error() string {
	cause := e.Err.Error()
	var path *fs.PathError
	if errors.As(e.Err, &path) {
		cause = path.Err.Error()
	}
	return fmt.Sprintf("record cannot be written: %s: %s; %s", e.Path, cause, e.consequence())
}

func (e *WriteError) consequence() string {
	switch {
	case errors.Is(e.Err, errRemoved):
		return fmt.Sprintf("run %s stops here and cannot be resumed", e.Run)
	case e.New:
		return fmt.Sprintf("run %s did not begin: start it again %s", e.Run, e.when())
	}
	return fmt.Sprintf("run %s stops here: resume it %s", e.Run, e.when())
}

func (e *WriteError) when() string {
	switch {
	case diskFull(e.Err):
		return "when there is space"
	case readOnly(e.Err):
		return "when the file system takes writes"
	case errors.Is(e.Err, fs.ErrPermission):
		return "when this user may write there"
	}
	return "when the disk works again"
}

// Unwrap implements errors.Unwrap.
func (e *WriteError) Unwrap() error { return e.Err }

var errRemoved = errors.New("the file was removed while the run was going")

// failed makes a write's error a *[WriteError] with the path it is about.
func (r *Run) failed(path string, err error) error {
	var busy *BusyError
	if err == nil || errors.As(err, &busy) {
		return err
	}
	var at *fs.PathError
	if errors.As(err, &at) {
		path = at.Path
	}
	return &WriteError{Run: r.id, New: r.fresh, Path: path, Err: err}
}

// keptBuffer is the largest buffer that is kept for the next append.
const keptBuffer = 1 << 20

// Append makes events durable, in order, with one write and one sync however
// many they are. They must carry on the numbers of the record. It implements the
// engine's Log.
//
// After any error nothing more can be appended (see [ErrUnknownState]): the caller
// has already decided on the ground of these events. What the failed append left
// behind is not taken back, since that could fail halfway too; opening the run
// again cuts it off or finds it whole. A context that is done stops an append
// before it begins, never in the middle.
func (r *Run) Append(ctx context.Context, events []event.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(events) == 0 {
		return nil
	}
	err := r.append(ctx, events)
	if err != nil {
		err = fmt.Errorf("append event %d: %w", events[0].Seq, err)
		if r.dead == nil {
			r.dead = err
		}
	}
	return err
}

func (r *Run) append(ctx context.Context, events []event.Event) error {
	switch {
	case r.dead != nil:
		return fmt.Errorf("%w; it was: %w", ErrUnknownState, r.dead)
	case r.log == nil:
		return ErrReadOnly
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	next, lines := r.chain, r.buf[:0]
	for i := range events {
		var err error
		if lines, err = next.Append(lines, &events[i]); err != nil {
			return err
		}
	}
	if r.buf = lines; cap(lines) > keptBuffer {
		r.buf = nil
	}
	if err := r.write(lines); err != nil {
		return r.failed(r.at.log, err)
	}
	r.chain = next
	r.stats.Appends++
	r.stats.Events += len(events)
	r.stats.Bytes += int64(len(lines))
	return nil
}

// write puts lines at the log's end and makes them durable. A log that has lost
// its name would be written in vain.
func (r *Run) write(lines []byte) error {
	if n, err := r.log.Write(lines); err != nil {
		return err
	} else if n < len(lines) {
		return io.ErrShortWrite
	}
	r.stats.Syncs++
	if err := r.log.Sync(); err != nil {
		return err
	}
	removed, err := r.log.Removed()
	if err == nil && removed {
		err = errRemoved
	}
	return err
}
