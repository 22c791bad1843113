package store

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	dirMode  = 0o700
	fileMode = 0o600
)

// disk is every change this package makes to files, so that tests can make any
// of them fail, or stop there.
type disk interface {
	// Mkdir makes a directory; an existing one is fs.ErrExist.
	Mkdir(path string) error
	// Create opens a new or emptied file.
	Create(path string) (file, error)
	// Append opens an existing file; writes go to its end.
	Append(path string) (file, error)
	// Rename moves a file, over another if need be, or a directory to a free name.
	Rename(from, to string) error
	// RemoveAll removes path and what is in it; it may be missing.
	RemoveAll(path string) error
	// SyncDir makes the names in a directory durable.
	SyncDir(path string) error
}

// file is one open file of a disk.
type file interface {
	io.WriteCloser
	// Truncate sets the size.
	Truncate(size int64) error
	// Sync makes content and size durable.
	Sync() error
	// Removed reports whether the file has lost its name.
	Removed() (bool, error)
}

// osDisk is the real thing.
type osDisk struct{}

func (osDisk) Mkdir(path string) error { return os.Mkdir(path, dirMode) }

func (osDisk) Create(path string) (file, error) {
	return open(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
}

func (osDisk) Append(path string) (file, error) { return open(path, os.O_WRONLY|os.O_APPEND) }

func (osDisk) Rename(from, to string) error { return os.Rename(from, to) }

func (osDisk) RemoveAll(path string) error { return os.RemoveAll(path) }

func (osDisk) SyncDir(path string) error { return syncDir(path) }

func open(path string, flags int) (file, error) {
	f, err := os.OpenFile(path, flags, fileMode)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

type osFile struct{ *os.File }

// Sync implements file.
func (f osFile) Sync() error { return datasync(f.File) }

// Removed implements file.
func (f osFile) Removed() (bool, error) {
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	return unlinked(info), nil
}

// makeDirs makes path and what is missing above it, each durable.
func makeDirs(d disk, path string) error {
	err := d.Mkdir(path)
	switch {
	case errors.Is(err, fs.ErrExist):
		info, err := os.Stat(path)
		if err == nil && !info.IsDir() {
			err = &fs.PathError{Op: "mkdir", Path: path, Err: errors.New("a file of that name is in the way")}
		}
		return err
	case errors.Is(err, fs.ErrNotExist):
		if err := makeDirs(d, filepath.Dir(path)); err != nil {
			return err
		}
		err = d.Mkdir(path)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return d.SyncDir(filepath.Dir(path))
}
