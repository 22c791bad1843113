//go:build !windows

package store

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// unlinked reports whether no name leads to the file any more.
func unlinked(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink == 0
}

// diskFull reports whether err means that there is no room left.
func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// readOnly reports whether err means that the file system takes no writes.
func readOnly(err error) bool { return errors.Is(err, syscall.EROFS) }
