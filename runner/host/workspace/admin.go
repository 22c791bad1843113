package workspace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// git keeps an entry per linked worktree in <common dir>/worktrees/<id>: its
// HEAD, its index, and in the file gitdir the way back to the worktree's .git.
// The way there is always taken from this side, which agents do not write.

// entryOf returns the entry of the worktree at path, or "".
func (r *Repo) entryOf(path string) string {
	root := filepath.Join(r.CommonDir, "worktrees")
	entries, err := os.ReadDir(root)
	if err != nil {
		return ""
	}
	for _, e := range entries {
		entry := filepath.Join(root, e.Name())
		link, err := os.ReadFile(filepath.Join(entry, "gitdir"))
		if err == nil && resolveLink(entry, string(link)) == filepath.Join(path, ".git") {
			return entry
		}
	}
	return ""
}

// whole reports whether an entry was made completely: a machine that died while
// git made it leaves parts.
func whole(entry string) bool {
	for _, name := range []string{"HEAD", "commondir", "gitdir"} {
		if st, err := os.Stat(filepath.Join(entry, name)); err != nil || st.Size() == 0 {
			return false
		}
	}
	why, err := os.ReadFile(filepath.Join(entry, "locked"))
	return err != nil || strings.TrimSpace(string(why)) != "initializing"
}

func resolveLink(from, link string) string {
	link = filepath.FromSlash(strings.TrimSpace(strings.TrimPrefix(link, "gitdir: ")))
	if !filepath.IsAbs(link) {
		link = filepath.Join(from, link)
	}
	return filepath.Clean(link)
}

// linkTree makes sure that path is a directory whose .git names entry, whatever
// has become of either.
func linkTree(path, entry string) error {
	if st, err := os.Lstat(path); err == nil && !st.IsDir() {
		return fmt.Errorf("use worktree %s: it is no longer a directory", path)
	}
	if err := os.MkdirAll(path, 0o777); err != nil {
		return fmt.Errorf("use worktree %s: %w", path, err)
	}
	link := filepath.Join(path, ".git")
	st, err := os.Lstat(link)
	if err == nil && st.Mode().IsRegular() {
		if text, err := os.ReadFile(link); err == nil && resolveLink(path, string(text)) == entry {
			return nil
		}
	}
	if err := forceRemove(link); err != nil {
		return fmt.Errorf("use worktree %s: %w", path, err)
	}
	if err := os.WriteFile(link, []byte("gitdir: "+filepath.ToSlash(entry)+"\n"), 0o644); err != nil {
		return fmt.Errorf("use worktree %s: %w", path, err)
	}
	return nil
}

// claim prepares a place for a new worktree: path becomes absolute, its parents
// exist, and it is empty or absent. undo takes back the parents that were made.
func claim(path string) (canonical string, undo func(), err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return "", nil, fmt.Errorf("place worktree: %w", err)
	}
	var made []string
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		made = append(made, dir)
	}
	undo = func() {
		for _, dir := range made {
			_ = os.Remove(dir) // one that is in use by now stays
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		undo()
		return "", nil, fmt.Errorf("place worktree: %w", err)
	}
	parent, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		undo()
		return "", nil, fmt.Errorf("place worktree: %w", err)
	}
	path = filepath.Join(parent, filepath.Base(path))
	if !vacant(path) {
		undo()
		return "", nil, &Problem{Kind: PathTaken, Text: path + " exists already and is not empty", Hint: "remove it or choose another place for worktrees"}
	}
	return path, undo, nil
}

// vacant reports whether nothing, or an empty directory, is at path.
func vacant(path string) bool {
	st, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if err != nil || !st.IsDir() {
		return false
	}
	names, err := os.ReadDir(path)
	return err == nil && len(names) == 0
}

// inside reports whether path lies in dir.
func inside(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// forceRemove removes path and all below, read-only directories included. A
// missing path is no error.
func forceRemove(path string) error {
	err := os.RemoveAll(path)
	if err == nil {
		return nil
	}
	makeWritable(path)
	return os.RemoveAll(path)
}

// makeWritable gives the owner every right on the directories at and below path.
func makeWritable(path string) {
	_ = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			return nil
		}
		if st, errStat := os.Lstat(p); errStat == nil && st.IsDir() && st.Mode().Perm()&0o700 != 0o700 {
			_ = os.Chmod(p, st.Mode().Perm()|0o700)
		}
		return nil
	})
}

// copyFile puts a copy of from at to, whole or not at all.
func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.CreateTemp(filepath.Dir(to), ".pawl-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(out.Name())
		}
	}()
	if _, err = io.Copy(out, in); err != nil {
		_ = out.Close()
		return err
	}
	if err = out.Close(); err != nil {
		return err
	}
	return os.Rename(out.Name(), to)
}
