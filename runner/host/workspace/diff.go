package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pawl-ci/pawl/runner/host/workspace/git"
)

// DiffStat is what differs between two states.
type DiffStat struct {
	Files      []FileChange // in git's order, by path
	Insertions int          // lines
	Deletions  int          // lines
}

// FileChange is one file of a diff.
type FileChange struct {
	Path       string
	From       string // former path of a renamed file, or ""
	Status     Status
	OldMode    string // as git writes it: 100644, 100755, 120000 (symlink), 160000 (submodule); 000000 when absent
	NewMode    string
	Insertions int // lines; 0 when Binary
	Deletions  int // lines; 0 when Binary
	Binary     bool
}

// Status says what happened to a file.
type Status string

// The ways a file can change.
const (
	Added       Status = "added"
	Deleted     Status = "deleted"
	Modified    Status = "modified"
	Renamed     Status = "renamed"
	Copied      Status = "copied"
	TypeChanged Status = "type_changed" // e.g. a file became a symlink
)

var statusWords = map[byte]Status{'A': Added, 'D': Deleted, 'M': Modified, 'R': Renamed, 'C': Copied, 'T': TypeChanged}

// Diff compares the present files with base, a commit or a snapshot.
func (t *Tree) Diff(ctx context.Context, base string) (DiffStat, error) {
	tree, err := t.stage(ctx)
	if err != nil {
		return DiffStat{}, fmt.Errorf("diff %s: %w", t.Path, err)
	}
	return t.repo.Diff(ctx, base, tree)
}

// Patch is the unified diff from base to the present files. Above limit bytes
// (0: no limit) it ends after a whole line, and truncated is set.
func (t *Tree) Patch(ctx context.Context, base string, limit int) (text string, truncated bool, err error) {
	tree, err := t.stage(ctx)
	if err != nil {
		return "", false, fmt.Errorf("diff %s: %w", t.Path, err)
	}
	return t.repo.Patch(ctx, base, tree, limit)
}

// Diff compares two commits or trees, given by id.
func (r *Repo) Diff(ctx context.Context, from, to string) (DiffStat, error) {
	out, err := r.do(ctx, "diff-tree", "-r", "-z", "-M", "--raw", "--numstat", "--no-ext-diff", "--no-textconv", "--end-of-options", from, to)
	if err != nil {
		return DiffStat{}, fmt.Errorf("diff %s..%s: %w", short(from), short(to), err)
	}
	d, err := parseDiff(out)
	if err != nil {
		return DiffStat{}, fmt.Errorf("diff %s..%s: %w", short(from), short(to), err)
	}
	return d, nil
}

// Patch is the unified diff between two commits or trees, given by id; limit and
// truncated are as in [Tree.Patch].
func (r *Repo) Patch(ctx context.Context, from, to string, limit int) (text string, truncated bool, err error) {
	w := &upTo{limit: limit}
	err = r.git.Stream(ctx, git.Call{Dir: r.Top, Env: r.gitEnv(),
		Args: []string{"diff-tree", "-r", "-p", "-M", "--no-ext-diff", "--no-textconv", "--no-color", "--end-of-options", from, to}}, w)
	switch {
	case w.full && ctx.Err() == nil:
		whole := w.buf.Bytes()[:limit]
		return string(whole[:bytes.LastIndexByte(whole, '\n')+1]), true, nil
	case err != nil:
		return "", false, fmt.Errorf("diff %s..%s: %w", short(from), short(to), err)
	default:
		return w.buf.String(), false, nil
	}
}

// upTo takes bytes until there are more than limit, then refuses.
type upTo struct {
	buf   bytes.Buffer
	limit int // 0: none
	full  bool
}

var errFull = errors.New("enough")

// Write implements io.Writer.
func (u *upTo) Write(p []byte) (int, error) {
	u.buf.Write(p)
	if u.limit > 0 && u.buf.Len() > u.limit {
		u.full = true
		return 0, errFull
	}
	return len(p), nil
}

// parseDiff reads `git diff-tree -z --raw --numstat`: first a record per file
// with modes and status, then a record per file with line counts.
func parseDiff(out string) (DiffStat, error) {
	var d DiffStat
	at := map[string]int{} // index in d.Files by path
	fields := strings.Split(out, "\x00")
	next := func() string {
		if len(fields) == 0 {
			return ""
		}
		f := fields[0]
		fields = fields[1:]
		return f
	}
	for len(fields) > 0 {
		f := next()
		switch {
		case f == "":
		case f[0] == ':':
			change, err := parseRaw(f, next)
			if err != nil {
				return DiffStat{}, err
			}
			at[change.Path] = len(d.Files)
			d.Files = append(d.Files, change)
		default:
			if err := d.count(f, at, next); err != nil {
				return DiffStat{}, err
			}
		}
	}
	return d, nil
}

// parseRaw reads ":100644 100755 <id> <id> M" and the one or two paths after it.
func parseRaw(f string, next func() string) (FileChange, error) {
	words := strings.Fields(f[1:])
	if len(words) != 5 {
		return FileChange{}, fmt.Errorf("git wrote a line that is not a diff: %.80q", f)
	}
	status, known := statusWords[words[4][0]]
	if !known {
		return FileChange{}, fmt.Errorf("git reported an unknown kind of change: %.80q", f)
	}
	c := FileChange{Status: status, OldMode: words[0], NewMode: words[1], Path: next()}
	if status == Renamed || status == Copied {
		c.From, c.Path = c.Path, next()
	}
	if c.Path == "" {
		return FileChange{}, errors.New("git reported a change without a path")
	}
	return c, nil
}

// count reads "12\t3\tpath", or "12\t3\t" with the old and new path after it.
func (d *DiffStat) count(f string, at map[string]int, next func() string) error {
	parts := strings.SplitN(f, "\t", 3)
	if len(parts) != 3 {
		return fmt.Errorf("git wrote a line that is not a diff: %.80q", f)
	}
	name := parts[2]
	if name == "" {
		next()
		name = next()
	}
	i, ok := at[name]
	if !ok {
		return fmt.Errorf("git counted lines of %q, which it did not list", name)
	}
	c := &d.Files[i]
	if parts[0] == "-" {
		c.Binary = true
		return nil
	}
	var errIns, errDel error
	c.Insertions, errIns = strconv.Atoi(parts[0])
	c.Deletions, errDel = strconv.Atoi(parts[1])
	d.Insertions += c.Insertions
	d.Deletions += c.Deletions
	return errors.Join(errIns, errDel)
}
