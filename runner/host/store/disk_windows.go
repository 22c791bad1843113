package store

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/windows"
)

// syncDir does nothing: Windows journals names itself and cannot be asked to.
func syncDir(string) error { return nil }

// unlinked is always false: Windows does not remove an open file's name.
func unlinked(fs.FileInfo) bool { return false }

// diskFull reports whether err means that there is no room left.
func diskFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}

// readOnly reports whether err means that the medium takes no writes.
func readOnly(err error) bool { return errors.Is(err, windows.ERROR_WRITE_PROTECT) }
