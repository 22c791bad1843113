package store

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

var (
	errFault = errors.New("injected failure")
	errCrash = errors.New("the process has crashed")
)

// fault is what happens at one operation of a faultDisk.
type fault int

const (
	none fault = iota
	fails
	failsPersisted // it takes effect, its caller is told otherwise
	shortWrite     // half of it takes effect, then the disk is full
	crashBefore
	crashAfter
)

var faults = []fault{fails, failsPersisted, shortWrite, crashBefore, crashAfter}

func (f fault) String() string {
	return [...]string{"none", "fails", "fails but persisted", "short write", "crash before", "crash after"}[f]
}

// faultDisk makes one operation end in a fault, and knows what would survive if
// the machine lost power: content that was synced, under names whose directory
// was synced.
type faultDisk struct {
	at      int // number of the operation that faults, from 1
	fault   fault
	op      int
	crashed bool
	files   []*content
	names   []name
}

// content is one file, however often it is opened.
type content struct {
	path       string
	size, safe int64 // bytes, and those of them that would survive
}

// name is a name that is not durable yet.
type name struct{ path, from string }

type faultFile struct {
	file
	d *faultDisk
	c *content
}

// do runs one operation under the disk's rules.
func (d *faultDisk) do(operation func() error) error {
	if d.crashed {
		return errCrash
	}
	d.op++
	f := none
	if d.op == d.at {
		f = d.fault
	}
	switch f {
	case fails, shortWrite:
		return errFault
	case crashBefore:
		d.crashed = true
		return errCrash
	}
	err := operation()
	switch {
	case f == failsPersisted:
		return errFault
	case f == crashAfter:
		d.crashed = true
		return errCrash
	}
	return err
}

func (d *faultDisk) Mkdir(path string) error {
	return d.do(func() error {
		err := osDisk{}.Mkdir(path)
		if err == nil {
			d.names = append(d.names, name{path: path})
		}
		return err
	})
}

func (d *faultDisk) Create(path string) (file, error) {
	var f file
	err := d.do(func() (err error) {
		f, err = osDisk{}.Create(path)
		if err == nil {
			d.forget(path)
			d.names = append(d.names, name{path: path})
		}
		return err
	})
	c := &content{path: path}
	d.files = append(d.files, c)
	return d.watch(c, f, err)
}

func (d *faultDisk) Append(path string) (file, error) {
	c, err := d.existing(path)
	if err != nil {
		return nil, err
	}
	var f file
	err = d.do(func() (err error) { f, err = osDisk{}.Append(path); return err })
	return d.watch(c, f, err)
}

// existing is the content of a file that may be older than the disk.
func (d *faultDisk) existing(path string) (*content, error) {
	for i := len(d.files) - 1; i >= 0; i-- {
		if d.files[i].path == path {
			return d.files[i], nil
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	c := &content{path: path, size: info.Size(), safe: info.Size()}
	d.files = append(d.files, c)
	return c, nil
}

func (d *faultDisk) watch(c *content, f file, err error) (file, error) {
	if err != nil {
		if f != nil {
			f.Close()
		}
		return nil, err
	}
	return &faultFile{file: f, d: d, c: c}, nil
}

func (d *faultDisk) Rename(from, to string) error {
	return d.do(func() error {
		if err := (osDisk{}).Rename(from, to); err != nil {
			return err
		}
		move := func(path *string) {
			if rest, inside := strings.CutPrefix(*path, from); inside {
				*path = to + rest
			}
		}
		for _, f := range d.files {
			move(&f.path)
		}
		for i := range d.names {
			move(&d.names[i].path)
		}
		d.names = append(d.names, name{path: to, from: from})
		return nil
	})
}

func (d *faultDisk) RemoveAll(path string) error {
	return d.do(func() error {
		d.forget(path)
		return osDisk{}.RemoveAll(path)
	})
}

// forget drops what is known about path and what is in it.
func (d *faultDisk) forget(path string) {
	under := func(p string) bool { return p == path || strings.HasPrefix(p, path+string(filepath.Separator)) }
	d.files = slices.DeleteFunc(d.files, func(c *content) bool { return under(c.path) })
	d.names = slices.DeleteFunc(d.names, func(n name) bool { return under(n.path) })
}

func (d *faultDisk) SyncDir(path string) error {
	return d.do(func() error {
		kept := d.names[:0]
		for _, n := range d.names {
			if filepath.Dir(n.path) != path {
				kept = append(kept, n)
			}
		}
		d.names = kept
		return nil
	})
}

// losePower takes away everything that was not made durable.
func (d *faultDisk) losePower() error {
	var errs []error
	for _, f := range d.files {
		if info, err := os.Stat(f.path); err == nil && info.Size() > f.safe {
			errs = append(errs, os.Truncate(f.path, f.safe))
		}
	}
	for i := len(d.names) - 1; i >= 0; i-- {
		n := d.names[i]
		if n.from == "" {
			errs = append(errs, os.RemoveAll(n.path))
			continue
		}
		if err := os.Rename(n.path, n.from); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (f *faultFile) Write(p []byte) (int, error) {
	if !f.d.crashed && f.d.op+1 == f.d.at && f.d.fault == shortWrite {
		f.d.op++
		n, _ := f.file.Write(p[:len(p)/2])
		f.c.size += int64(n)
		return n, syscall.ENOSPC
	}
	n := 0
	err := f.d.do(func() (err error) { n, err = f.file.Write(p); f.c.size += int64(n); return err })
	return n, err
}

func (f *faultFile) Truncate(size int64) error {
	return f.d.do(func() error { f.c.size = size; return f.file.Truncate(size) })
}

func (f *faultFile) Sync() error { return f.d.do(func() error { f.c.safe = f.c.size; return nil }) }
