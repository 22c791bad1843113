package tree

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
)

// Error says why a file cannot be used. Its text is a sentence for whoever gave
// the name.
type Error struct {
	Name   string
	Reason string
	Err    error // the system's error, or nil
}

// Error implements error.
func (e *Error) Error() string { return shown(e.Name) + " " + e.Reason }

// Unwrap implements errors.Unwrap.
func (e *Error) Unwrap() error { return e.Err }

func refuse(name, format string, args ...any) *Error {
	return &Error{Name: name, Reason: fmt.Sprintf(format, args...)}
}

// shown is a name in a message, on one line.
func shown(name string) string {
	if name == "" {
		return "the empty path"
	}
	const most = 300
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "") + "…"
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '�'
		}
		return r
	}, name)
}

const (
	outside   = "is outside of the worktree; paths are relative to its root"
	insideGit = "is inside a git directory, which is out of reach"
)

// Rel is name in its proper form: relative to the root, with slashes, without
// "." and "..", "." for the root itself. An absolute name below the root is
// understood. It looks at the name only; links are met when a file is used.
func (t *Tree) Rel(name string) (string, error) {
	if name == "" || strings.ContainsRune(name, 0) {
		return "", refuse(name, "is not a path")
	}
	rel := name
	if filepath.IsAbs(name) {
		below, err := filepath.Rel(t.path, name)
		if err != nil {
			return "", refuse(name, outside)
		}
		rel = below
	}
	rel = path.Clean(filepath.ToSlash(rel))
	if !filepath.IsLocal(filepath.FromSlash(rel)) {
		return "", refuse(name, outside)
	}
	if namesGit(rel) {
		return "", refuse(name, insideGit)
	}
	return rel, nil
}

// namesGit reports whether a part of name is .git, or would be taken for it by a
// file system that ignores case, trailing dots and blanks, invisible characters
// or what follows a colon, or that knows short names. A backslash separates too.
func namesGit(name string) bool {
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '/' || r == '\\' }) {
		part, _, _ = strings.Cut(part, ":")
		part = strings.TrimRight(strings.Map(visible, part), ". ")
		if strings.EqualFold(part, ".git") || len(part) == len("git~1") && strings.EqualFold(part[:4], "git~") {
			return true
		}
	}
	return false
}

// visible drops the characters that HFS+ ignores in names.
func visible(r rune) rune {
	switch {
	case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		return -1
	}
	return r
}
