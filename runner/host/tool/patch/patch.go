package patch

import (
	"fmt"
	"strconv"
	"strings"
)

// File is what a patch does to one file.
type File struct {
	Old, New string // paths as written, without a/ and b/; "" is none: created or deleted
	Exec     *bool  // executable or not from now on; nil leaves it
	Hunks    []Hunk
}

// Hunk is one stretch of changes.
type Hunk struct {
	OldStart, OldLines int // 1-based; with no lines, the line it comes after
	NewStart, NewLines int
	Lines              []Line
	At                 int    // line of the patch that its header is on
	Note               string // what was wrong with the header and has been set right, or ""
}

// Line is one line of a hunk.
type Line struct {
	Op    byte   // ' ' kept, '-' removed, '+' added
	Text  string // without its line end
	NoEnd bool   // the patch says that no line end follows
}

// Error says why a patch cannot be read or applied.
type Error struct {
	Path   string // the file it is about, or ""
	Hunk   int    // from 1, or 0
	At     int    // line of the patch
	Reason string
}

// Error implements error.
func (e *Error) Error() string {
	switch {
	case e.Hunk > 0:
		return fmt.Sprintf("%s, hunk %d (line %d of the patch): %s", plain(e.Path), e.Hunk, e.At, e.Reason)
	case e.Path != "":
		return fmt.Sprintf("%s (line %d of the patch): %s", plain(e.Path), e.At, e.Reason)
	}
	return fmt.Sprintf("line %d of the patch: %s", e.At, e.Reason)
}

// plain is a path for a message: quoted if it holds control characters.
func plain(path string) string {
	if q := strconv.Quote(path); strings.Trim(q, `"`) != path {
		return q
	}
	return path
}

// Path is the file's name in messages.
func (f *File) Path() string {
	if f.New != "" {
		return f.New
	}
	return f.Old
}

// Counts are the numbers of added and removed lines.
func (f *File) Counts() (added, removed int) {
	for i := range f.Hunks {
		for _, l := range f.Hunks[i].Lines {
			switch l.Op {
			case '+':
				added++
			case '-':
				removed++
			}
		}
	}
	return added, removed
}
