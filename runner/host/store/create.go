package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pawl-ci/pawl/runner/event"
)

// Create begins the record of a new run under the store directory dir, which is
// made when it is missing, and takes its lock. A run that exists already is an
// error that wraps fs.ErrExist. Until Create has returned, the run is not
// listed; neither is it before its first event.
func Create(dir string, run event.RunID) (*Run, error) { return create(osDisk{}, dir, run) }

func create(d disk, dir string, run event.RunID) (*Run, error) {
	if err := checkID(run); err != nil {
		return nil, err
	}
	r := newRun(d, dir, run)
	if _, err := os.Lstat(r.at.dir); err == nil {
		return nil, fmt.Errorf("create run %s: %w: %s", run, fs.ErrExist, r.at.dir)
	}
	r.fresh = true
	err := r.build(dir)
	if err == nil {
		err = r.start()
	}
	if err != nil {
		return nil, fmt.Errorf("create run %s: %w", run, r.failed(r.at.dir, err))
	}
	r.fresh = false
	return r, nil
}

func newRun(d disk, dir string, run event.RunID) *Run {
	return &Run{id: run, at: pathsOf(dir, run), disk: d, chain: event.Chain{Run: run}}
}

// build makes the run's directory under a name that nothing lists, and gives it
// its own when it is complete.
func (r *Run) build(dir string) (err error) {
	if err := makeStore(r.disk, dir); err != nil {
		return err
	}
	half := pathsAt(dir, ".new-"+string(r.id))
	if err := r.disk.RemoveAll(half.dir); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = r.disk.RemoveAll(half.dir)
		}
	}()
	for _, path := range []string{half.dir, half.blobs} {
		if err := r.disk.Mkdir(path); err != nil {
			return err
		}
	}
	f, err := r.disk.Create(half.log)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := r.syncDir(half.dir); err != nil {
		return err
	}
	return r.disk.Rename(half.dir, r.at.dir)
}

// makeStore makes the store directory. One that was empty is hidden from git; one
// that holds things already belongs to somebody, who decides that.
func makeStore(d disk, dir string) error {
	if err := makeDirs(d, dir); err != nil {
		return err
	}
	ignore := filepath.Join(dir, ".gitignore")
	if unused(dir, ignore) {
		if err := hide(d, ignore); err != nil {
			return err
		}
	}
	return makeDirs(d, filepath.Join(dir, "runs"))
}

// unused reports whether dir is empty but for an ignore file that a process did
// not live to fill.
func unused(dir, ignore string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 1 {
		return false
	}
	if len(entries) == 0 {
		return true
	}
	info, err := os.Stat(ignore)
	return err == nil && info.Size() == 0
}

func hide(d disk, ignore string) error {
	f, err := d.Create(ignore)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte("*\n"))
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
