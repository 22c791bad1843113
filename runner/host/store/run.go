package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"sync"

	"github.com/pawl-ci/pawl/runner/event"
)

// Run is the record of one run, opened by this process. It implements the
// engine's ports Log and Blobs. Get may be called from many goroutines; Put and
// Append too, but an order between two Appends is the caller's business.
type Run struct {
	id    event.RunID
	at    paths
	disk  disk
	lock  *lock // nil when opened for reading
	blobs blobs
	fresh bool // create has not returned yet

	mu    sync.Mutex
	log   file // nil when opened for reading, or closed
	chain event.Chain
	buf   []byte
	stats Stats
	dead  error // why nothing more may be appended
}

// Stats counts what was done to the disk since the run was opened.
type Stats struct {
	Appends int   // calls of Append that succeeded
	Events  int   // in them
	Bytes   int64 // written to log and blobs
	Blobs   int   // written
	Syncs   int   // files and directories made durable
}

// ErrReadOnly is what changes get on a run that was opened for reading, or that
// is closed.
var ErrReadOnly = errors.New("the record is not open for writing")

// paths are where a run's things lie.
type paths struct{ runs, dir, log, blobs, lock string }

func pathsOf(dir string, run event.RunID) paths { return pathsAt(dir, string(run)) }

func pathsAt(dir, name string) paths {
	runs := filepath.Join(dir, "runs")
	at := filepath.Join(runs, name)
	return paths{
		runs: runs, dir: at, log: filepath.Join(at, "events.jsonl"),
		blobs: filepath.Join(at, "blobs"), lock: filepath.Join(at, "lock"),
	}
}

var idPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`) })

// checkID keeps names out that would lead elsewhere.
func checkID(run event.RunID) error {
	if !idPattern().MatchString(string(run)) || !filepath.IsLocal(string(run)) {
		return fmt.Errorf("%q is no run id: want at most 64 of a-z, 0-9 and -, not starting with -", run)
	}
	return nil
}

// ID is the run's name.
func (r *Run) ID() event.RunID { return r.id }

// Dir is the run's directory; a report may be put beside the log.
func (r *Run) Dir() string { return r.at.dir }

// Stats is what was done so far.
func (r *Run) Stats() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stats
}

// Close gives the lock up. Everything that was confirmed is durable already, so
// there is nothing left that could fail. Closing twice is harmless.
func (r *Run) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.log != nil {
		_ = r.log.Close()
		r.log = nil
	}
	if r.lock != nil {
		r.lock.release()
		r.lock = nil
	}
}

// syncDir makes a directory's names durable and counts it.
func (r *Run) syncDir(path string) error {
	r.mu.Lock()
	r.stats.Syncs++
	r.mu.Unlock()
	return r.disk.SyncDir(path)
}
