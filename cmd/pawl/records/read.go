package records

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/host/store"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
)

// Read reads a record without taking its lock, with the values that a fold
// needs.
func Read(p *Place, id event.RunID) ([]event.Event, error) {
	record, events, _, err := store.OpenRead(p.Store, id)
	if err != nil {
		return nil, StoreProblem(err)
	}
	defer record.Close()
	return events, LoadAll(record, events)
}

// LoadAll fetches the values of events that lie beside the record.
func LoadAll(record *store.Run, events []event.Event) error {
	for i := range events {
		if err := events[i].Load(record.Get); err != nil {
			return cli.Host(fmt.Errorf("read the record of %s: %w", record.ID(), err), "")
		}
	}
	return nil
}

// RunDir is where a run's record lies.
func (p *Place) RunDir(id event.RunID) string { return filepath.Join(p.Store, "runs", string(id)) }

// Discard takes back a record that was begun and never used.
func Discard(record *store.Run) error {
	record.Close()
	if err := os.RemoveAll(record.Dir()); err != nil {
		return fmt.Errorf("take the empty record back: %w", err)
	}
	return nil
}

// StoreProblem gives an error of the store its exit status; nil stays nil.
func StoreProblem(err error) error {
	var busy *store.BusyError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &busy), errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrExist):
		return cli.Usage(err, "")
	}
	return cli.Host(err, cli.DiskHint(err))
}
