package tree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// Tree is a worktree. It may be used from many goroutines.
type Tree struct {
	root *os.Root
	path string
}

// Open opens the worktree at an absolute path. Close it after use.
func Open(dir string) (*Tree, error) {
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("open worktree: %s is not an absolute path", dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open worktree: %w", err)
	}
	return &Tree{root: root, path: filepath.Clean(dir)}, nil
}

// Close lets go of the worktree.
func (t *Tree) Close() error { return t.root.Close() }

// Path is where the worktree is, absolute.
func (t *Tree) Path() string { return t.path }

// place is a name that was followed to its end: the directory, held open, and
// what it says about the last part.
type place struct {
	dir     *os.Root
	base    string      // last part of the name
	info    fs.FileInfo // nil when there is nothing of that name
	missing []string    // directories to make below dir before base can be
	name    string      // the whole name, without links
}

func (p *place) close() { _ = p.dir.Close() }

// mostLinks is how many symbolic links are followed before a circle is assumed.
const mostLinks = 40

// locate follows name. A link at its end is followed when follow is set.
func (t *Tree) locate(name string, follow bool) (*place, error) {
	rel, err := t.Rel(name)
	if err != nil {
		return nil, err
	}
	for range mostLinks {
		p, next, err := t.descend(rel, follow)
		if err != nil {
			return nil, t.explain(name, err)
		}
		if next == "" {
			return p, nil
		}
		if next, err = t.Rel(next); err != nil {
			return nil, &Error{Name: name, Reason: "is reached by a symbolic link that leads " + whereTo(err), Err: err}
		}
		rel = next
	}
	return nil, refuse(name, "is a symbolic link in a circle")
}

func whereTo(err error) string {
	if strings.HasSuffix(err.Error(), insideGit) {
		return "into a git directory, which is out of reach"
	}
	return "out of the worktree"
}

// descend goes down name part by part. When it meets a link it returns the name
// that it stands for.
func (t *Tree) descend(name string, follow bool) (p *place, next string, err error) {
	dir, err := t.root.OpenRoot(".")
	if err != nil {
		return nil, "", err
	}
	defer func() {
		if p == nil {
			_ = dir.Close()
		}
	}()
	parts := strings.Split(name, "/")
	for i, part := range parts {
		last := i == len(parts)-1
		info, err := dir.Lstat(part)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return &place{dir: dir, base: parts[len(parts)-1], missing: parts[i : len(parts)-1], name: name}, "", nil
		case err != nil:
			return nil, "", err
		case info.Mode()&fs.ModeSymlink != 0 && (follow || !last):
			target, err := dir.Readlink(part)
			if err != nil {
				return nil, "", err
			}
			return nil, spliced(parts[:i], target, parts[i+1:]), nil
		case last:
			return &place{dir: dir, base: part, info: info, name: name}, "", nil
		case !info.IsDir():
			return nil, "", refuse(strings.Join(parts[:i+1], "/"), "is not a directory")
		}
		below, err := enter(dir, part, info)
		if err != nil {
			return nil, "", err
		}
		_ = dir.Close()
		dir = below
	}
	return nil, "", fs.ErrInvalid
}

// spliced is a name in which a link is replaced by its target. Parts of it may
// be ".." only behind the ones they undo, which are free of links.
func spliced(before []string, target string, after []string) string {
	if filepath.IsAbs(target) {
		return path.Join(append([]string{filepath.ToSlash(target)}, after...)...)
	}
	return path.Join(path.Join(before...), filepath.ToSlash(target), path.Join(after...))
}

var errMoved = errors.New("was moved while it was opened")

// enter opens the directory that info describes.
func enter(dir *os.Root, name string, info fs.FileInfo) (*os.Root, error) {
	below, err := dir.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if now, err := below.Stat("."); err != nil || !os.SameFile(now, info) {
		_ = below.Close()
		return nil, errMoved
	}
	return below, nil
}

// open opens the regular file at p.
func (p *place) open() (*os.File, fs.FileInfo, error) {
	if reason := unusable(p.info); reason != "" {
		return nil, nil, refuse(p.name, "%s", reason)
	}
	// A pipe that was put there meanwhile must not make us wait.
	f, err := p.dir.OpenFile(p.base, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, nil, err
	}
	now, err := f.Stat()
	if err != nil || !os.SameFile(now, p.info) || !now.Mode().IsRegular() {
		_ = f.Close()
		return nil, nil, errMoved
	}
	return f, now, nil
}

// unusable says why what info describes is not a file with content, or nothing.
func unusable(info fs.FileInfo) string {
	switch {
	case info == nil:
		return "does not exist"
	case info.Mode().IsRegular():
		return ""
	case info.IsDir():
		return "is a directory"
	case info.Mode()&fs.ModeSymlink != 0:
		return "is a symbolic link"
	case info.Mode()&fs.ModeNamedPipe != 0:
		return "is a named pipe, not a file"
	case info.Mode()&fs.ModeSocket != 0:
		return "is a socket, not a file"
	}
	return "is a device, not a file"
}

// explain turns a system's error into a sentence about name.
func (t *Tree) explain(name string, err error) error {
	var known *Error
	if errors.As(err, &known) {
		return known
	}
	e := &Error{Name: name, Err: err}
	switch {
	case errors.Is(err, errMoved):
		e.Reason = errMoved.Error()
	case errors.Is(err, fs.ErrNotExist):
		e.Reason = "does not exist"
	case errors.Is(err, fs.ErrPermission):
		e.Reason = "may not be used: permission denied"
	case errors.Is(err, syscall.ENAMETOOLONG):
		e.Reason = "is too long a name"
	case errors.Is(err, syscall.ENOTDIR):
		e.Reason = "leads through something that is not a directory"
	default:
		var inner *fs.PathError
		if errors.As(err, &inner) {
			err = inner.Err
		}
		e.Reason = "cannot be used: " + err.Error()
	}
	return e
}

// Host reports whether err is the machine's failure, a full disk for instance,
// and not that of the name.
func Host(err error) bool {
	for _, e := range []error{syscall.ENOSPC, syscall.EIO, syscall.EMFILE, syscall.ENFILE, syscall.EROFS, syscall.ENOMEM} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
