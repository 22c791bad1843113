package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-ci/pawl/runner/event"
)

// Summary is what the two ends of a record tell about a run.
type Summary struct {
	Run   event.RunID
	First event.Event // its RunStarted
	Last  event.Event // newest whole event; its number is how many there are
	Size  int64       // bytes of the log
	Live  bool        // a process works on it now
	PID   int         // that process; 0 when it is not known
	Err   error       // why First or Last could not be read, and are zero
}

// List summarises the runs in a store directory, newest first; runs whose
// beginning cannot be read come last. It reads only the first and the last line
// of each. A directory that does not exist holds no runs.
func List(dir string) ([]Summary, error) {
	names, err := runNames(dir)
	if err != nil {
		return nil, err
	}
	list := make([]Summary, 0, len(names))
	for _, name := range names {
		s, begun := summarise(dir, name)
		if begun {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b Summary) int {
		if c := b.First.Time.Compare(a.First.Time); c != 0 {
			return c
		}
		return strings.Compare(string(b.Run), string(a.Run))
	})
	return list, nil
}

// runNames lists the runs that have begun to write a record, sorted.
func runNames(dir string) ([]event.RunID, error) {
	entries, err := os.ReadDir(filepath.Join(dir, "runs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	var names []event.RunID
	for _, e := range entries {
		name := event.RunID(e.Name())
		if !e.IsDir() || checkID(name) != nil {
			continue
		}
		log, err := os.Stat(pathsOf(dir, name).log)
		if errors.Is(err, fs.ErrNotExist) || err == nil && log.Size() == 0 {
			continue
		}
		names = append(names, name)
	}
	return names, nil
}

// summarise reads the ends of one record. begun is false for a directory without
// an event: a run that is being created, or that died before its first event.
func summarise(dir string, run event.RunID) (s Summary, begun bool) {
	s.Run = run
	f, err := os.Open(pathsOf(dir, run).log)
	if errors.Is(err, fs.ErrNotExist) {
		return s, false
	}
	if err != nil {
		s.Err = err
		return s, true
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		s.Err = err
		return s, true
	}
	s.Size = info.Size()
	if begun, s.Err = s.ends(f); s.Err != nil {
		s.Err = fmt.Errorf("run %s: %w", run, s.Err)
	}
	if begun {
		if pid, live, err := Live(dir, run); err == nil {
			s.PID, s.Live = pid, live
		}
	}
	return s, begun
}

// ends reads the first and the last whole line of the log.
func (s *Summary) ends(log io.ReaderAt) (begun bool, err error) {
	first, last, err := endLines(log, s.Size)
	if err != nil {
		return true, err
	}
	if first == nil {
		return false, nil
	}
	if s.First, _, err = event.Decode(first, event.Hash{}); err != nil {
		return true, fmt.Errorf("first event: %w", err)
	}
	if s.Last, err = event.Peek(last); err != nil {
		return true, fmt.Errorf("last event: %w", err)
	}
	return true, nil
}

// endLines finds the first and the last line that have their newline; nil when
// there is none.
func endLines(log io.ReaderAt, size int64) (first, last []byte, err error) {
	head, err := readEnd(log, size, 1, func(int64) int64 { return 0 })
	if err != nil {
		return nil, nil, err
	}
	end := bytes.IndexByte(head, '\n')
	if end < 0 {
		return nil, nil, nil
	}
	first = head[:end]
	tail, err := readEnd(log, size, 2, func(n int64) int64 { return size - n })
	if err != nil {
		return nil, nil, err
	}
	end = bytes.LastIndexByte(tail, '\n')
	if end < 0 {
		return first, first, nil // the log was cut meanwhile
	}
	return first, tail[bytes.LastIndexByte(tail[:end], '\n')+1 : end], nil
}

// readEnd reads from one end of a log, further and further, until it has seen as
// many newlines as wanted or everything. from says where n bytes begin.
func readEnd(log io.ReaderAt, size int64, newlines int, from func(n int64) int64) ([]byte, error) {
	for n := int64(8 << 10); ; n *= 4 {
		n = min(n, size)
		have := make([]byte, n)
		if _, err := log.ReadAt(have, from(n)); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if n == size || bytes.Count(have, []byte{'\n'}) >= newlines {
			return have, nil
		}
	}
}

// namedAtMost is how many candidates an error lists.
const namedAtMost = 5

// Resolve finds the run that text names: its whole id, or the beginning of just
// one. An error for none wraps fs.ErrNotExist; one for several names them.
func Resolve(dir, text string) (event.RunID, error) {
	names, err := runNames(dir)
	if err != nil {
		return "", err
	}
	var found []string
	for _, name := range names {
		if string(name) == text {
			return name, nil
		}
		if text != "" && strings.HasPrefix(string(name), text) {
			found = append(found, string(name))
		}
	}
	switch {
	case len(found) == 1:
		return event.RunID(found[0]), nil
	case len(found) == 0:
		return "", fmt.Errorf("no run in %s is called %q or begins so: %w", dir, text, fs.ErrNotExist)
	case len(found) > namedAtMost:
		found = append(found[:namedAtMost], fmt.Sprintf("and %d more", len(found)-namedAtMost))
	}
	return "", fmt.Errorf("%q is the beginning of several runs: %s", text, strings.Join(found, ", "))
}
