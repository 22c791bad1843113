package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/host/store"
)

// readRun reads a record without taking its lock, with the values that a fold
// needs.
func readRun(p *place, id event.RunID) ([]event.Event, error) {
	record, events, _, err := store.OpenRead(p.store, id)
	if err != nil {
		return nil, storeProblem(err)
	}
	defer record.Close()
	return events, loadAll(record, events)
}

func loadAll(record *store.Run, events []event.Event) error {
	for i := range events {
		if err := events[i].Load(record.Get); err != nil {
			return host(fmt.Errorf("read the record of %s: %w", record.ID(), err), "")
		}
	}
	return nil
}

// runDir is where a run's record lies.
func (p *place) runDir(id event.RunID) string { return filepath.Join(p.store, "runs", string(id)) }

// discard takes back a record that was begun and never used.
func discard(record *store.Run) error {
	record.Close()
	if err := os.RemoveAll(record.Dir()); err != nil {
		return fmt.Errorf("take the empty record back: %w", err)
	}
	return nil
}

// storeProblem gives an error of the store its exit status; nil stays nil.
func storeProblem(err error) error {
	var busy *store.BusyError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &busy), errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrExist):
		return usage(err, "")
	}
	return host(err, diskHint(err))
}
