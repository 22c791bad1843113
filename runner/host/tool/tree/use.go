package tree

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
)

// Stat describes what has that name; a link is not followed. The error is an
// *[Error] wrapping fs.ErrNotExist when there is nothing.
func (t *Tree) Stat(name string) (fs.FileInfo, error) {
	p, err := t.locate(name, false)
	if err != nil {
		return nil, err
	}
	defer p.close()
	if p.info == nil {
		return nil, &Error{Name: name, Reason: "does not exist", Err: fs.ErrNotExist}
	}
	return p.info, nil
}

// Open opens a regular file for reading. Links inside the worktree are followed.
func (t *Tree) Open(name string) (*os.File, fs.FileInfo, error) {
	p, err := t.locate(name, true)
	if err != nil {
		return nil, nil, err
	}
	defer p.close()
	if p.info == nil {
		return nil, nil, &Error{Name: name, Reason: "does not exist", Err: fs.ErrNotExist}
	}
	f, info, err := p.open()
	if err != nil {
		return nil, nil, t.explain(name, err)
	}
	return f, info, nil
}

// Read returns the content of a regular file of at most limit bytes.
func (t *Tree) Read(name string, limit int64) ([]byte, fs.FileInfo, error) {
	f, info, err := t.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, nil, t.explain(name, err)
	}
	if int64(len(content)) > limit {
		return nil, nil, refuse(name, "is too large: %d bytes, where %d are the most", max(info.Size(), limit+1), limit)
	}
	return content, info, nil
}

// Write makes content that of a file, in one step: a reader sees the old or the
// new. Directories on the way are made, links inside the worktree followed, and
// an existing file keeps its mode; exec, unless nil, decides whether it can be
// executed.
func (t *Tree) Write(name string, content []byte, exec *bool) error {
	p, err := t.locate(name, true)
	if err != nil {
		return err
	}
	defer p.close()
	if p.info != nil {
		if reason := unusable(p.info); reason != "" {
			return refuse(name, "%s", reason)
		}
	}
	if err := p.makeParents(); err != nil {
		return t.explain(name, err)
	}
	if err := p.replace(content, exec); err != nil {
		return t.explain(name, err)
	}
	return nil
}

// makeParents makes the missing directories and moves p below them.
func (p *place) makeParents() error {
	for _, part := range p.missing {
		if err := p.dir.Mkdir(part, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		info, err := p.dir.Lstat(part)
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return errMoved
		}
		below, err := enter(p.dir, part, info)
		if err != nil {
			return err
		}
		_ = p.dir.Close()
		p.dir = below
	}
	p.missing = nil
	return nil
}

func (p *place) replace(content []byte, exec *bool) error {
	perm := fs.FileMode(0o666) // less the umask
	if exec != nil && *exec {
		perm = 0o777
	}
	draft := ".pawl-" + rand.Text()
	f, err := p.dir.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if p.info != nil && err == nil {
		err = f.Chmod(keptMode(p.info.Mode().Perm(), exec))
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = p.dir.Rename(draft, p.base)
	}
	if err != nil {
		_ = p.dir.Remove(draft)
	}
	return err
}

// keptMode is an existing file's mode with the executable bits as asked for:
// whoever may read may execute.
func keptMode(perm fs.FileMode, exec *bool) fs.FileMode {
	switch {
	case exec == nil:
		return perm
	case *exec:
		return perm | perm>>2&0o111
	}
	return perm &^ 0o111
}

// Remove removes a file or a link, not a directory.
func (t *Tree) Remove(name string) error {
	p, err := t.locate(name, false)
	if err != nil {
		return err
	}
	defer p.close()
	switch {
	case p.info == nil:
		return &Error{Name: name, Reason: "does not exist", Err: fs.ErrNotExist}
	case p.info.IsDir():
		return refuse(name, "is a directory")
	}
	if err := p.dir.Remove(p.base); err != nil {
		return t.explain(name, err)
	}
	return nil
}

// Move gives a file, link or directory another name, which must be free.
// Directories on the way are made.
func (t *Tree) Move(from, to string) error {
	source, err := t.locate(from, false)
	if err != nil {
		return err
	}
	defer source.close()
	target, err := t.locate(to, false)
	if err != nil {
		return err
	}
	defer target.close()
	switch {
	case source.info == nil:
		return &Error{Name: from, Reason: "does not exist", Err: fs.ErrNotExist}
	case source.name == ".":
		return refuse(from, "is the worktree itself")
	case target.info != nil:
		return refuse(to, "exists already")
	case within(source.name, target.name):
		return refuse(to, "is inside of what is to be moved")
	}
	if err := target.makeParents(); err != nil {
		return t.explain(to, err)
	}
	// Both names are free of links; the root keeps the move inside.
	if err := t.root.Rename(source.name, target.name); err != nil {
		return t.explain(from, err)
	}
	return nil
}

// within reports whether name is dir or below it.
func within(dir, name string) bool {
	return name == dir || len(name) > len(dir) && name[:len(dir)] == dir && name[len(dir)] == '/'
}

// Dir is a directory that is held open; files in it are opened without going
// down from the root again.
type Dir struct {
	tree *Tree
	dir  *os.Root
	name string
}

// Dir opens a directory. Close it after use.
func (t *Tree) Dir(name string) (*Dir, error) {
	p, err := t.locate(name, true)
	if err != nil {
		return nil, err
	}
	defer p.close()
	switch {
	case p.info == nil:
		return nil, &Error{Name: name, Reason: "does not exist", Err: fs.ErrNotExist}
	case !p.info.IsDir():
		return nil, refuse(name, "is not a directory")
	}
	below, err := enter(p.dir, p.base, p.info)
	if err != nil {
		return nil, t.explain(name, err)
	}
	return &Dir{t, below, p.name}, nil
}

// Close lets go of the directory.
func (d *Dir) Close() error { return d.dir.Close() }

// Open opens a regular file in the directory, by its last name. Links are not
// followed.
func (d *Dir) Open(base string) (*os.File, fs.FileInfo, error) {
	name := path.Join(d.name, base)
	if _, err := d.tree.Rel(name); err != nil {
		return nil, nil, err
	}
	info, err := d.dir.Lstat(base)
	if err != nil {
		return nil, nil, d.tree.explain(name, err)
	}
	f, info, err := (&place{dir: d.dir, base: base, info: info, name: name}).open()
	if err != nil {
		return nil, nil, d.tree.explain(name, err)
	}
	return f, info, nil
}

// Walk lists the files and links below the directory, sorted within each
// directory, until limit names are reached. git directories are left out.
func (d *Dir) Walk(limit int) ([]string, error) {
	list, err := d.dir.Open(".")
	if err != nil {
		return nil, d.tree.explain(d.name, err)
	}
	entries, err := list.ReadDir(-1)
	_ = list.Close()
	if err != nil {
		return nil, d.tree.explain(d.name, err)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int {
		if a.Name() < b.Name() {
			return -1
		}
		return 1
	})
	var names []string
	for _, e := range entries {
		name := path.Join(d.name, e.Name())
		switch {
		case len(names) >= limit:
			return names, nil
		case namesGit(e.Name()):
			continue
		case !e.IsDir():
			names = append(names, name)
			continue
		}
		// A directory that went away or may not be read has no files to offer.
		if below, err := d.tree.Dir(name); err == nil {
			more, _ := below.Walk(limit - len(names))
			_ = below.Close()
			names = append(names, more...)
		}
	}
	return names, nil
}
