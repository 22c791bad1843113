package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/host/workspace/git"
)

// taste fixes what the user's configuration could say about merges.
var taste = []string{
	"-c", "merge.conflictStyle=merge", "-c", "merge.renames=true", "-c", "merge.directoryRenames=false",
	"-c", "merge.renormalize=false", "-c", "merge.verbosity=0",
}

// Merge merges branches into r.Ours one after the other by git's three-way merge,
// up to the first conflict that r.Sides does not decide. It makes commits of two
// parents and moves no branch and no file. Programs that the repository names as
// merge drivers are not run: files under them conflict when both sides changed.
func (b *Branches) Merge(ctx context.Context, r runner.MergeRequest) (runner.MergeResult, error) {
	out := runner.MergeResult{Head: r.Ours}
	if !b.root.repo.mergeTree {
		return out, &Problem{Kind: OldGit, Text: "merging parallel branches needs git 2.38 or newer", Hint: "install a newer git, or let only one branch write"}
	}
	for i, branch := range r.Branches {
		m, err := b.one(ctx, out.Head, branch.Commit)
		if err != nil {
			return out, fmt.Errorf("merge branch %s: %w", branch.Branch, err)
		}
		if i == 0 && len(r.Sides) > 0 {
			if err := b.choose(ctx, m, r.Sides); err != nil {
				return out, fmt.Errorf("merge branch %s: %w", branch.Branch, err)
			}
		}
		commit := r.Commit
		commit.Subject += " " + branch.Branch
		id, err := b.seal(ctx, m, commit)
		if err != nil {
			return out, fmt.Errorf("merge branch %s: %w", branch.Branch, err)
		}
		if len(m.files) > 0 {
			out.Conflicts, out.Marked = b.conflicts(ctx, m), id
			return out, nil
		}
		out.Head = id
		out.Merged++
	}
	return out, nil
}

// merged is the tree of one merge. While files holds any, it is one with marks.
type merged struct {
	ours, theirs string
	tree         string
	paths        []string // in conflict, in git's order
	files        map[string]*sides
}

// sides are the contents of a file in conflict: "mode object", "" when the file is
// not there.
type sides struct{ ours, theirs string }

// one merges two commits.
func (b *Branches) one(ctx context.Context, ours, theirs string) (*merged, error) {
	c, err := b.root.repo.pins.Merging(ctx, b.root.located(git.Call{Conf: taste}))
	if err != nil {
		return nil, err
	}
	c.Args = []string{"merge-tree", "--write-tree", "-z", "--no-messages", ours, theirs}
	out, err := b.root.repo.git.Run(ctx, c)
	switch {
	case git.Said(err, "not something we can merge", "unknown revision", "bad object"):
		return nil, &Problem{Kind: UnknownCommit, Text: fmt.Sprintf("%s or %s is no commit of %s", short(ours), short(theirs), b.root.repo.Top), Hint: "fetch the run's branches", Err: err}
	case err != nil && git.Exit(err) != 1:
		return nil, err
	}
	m := &merged{ours: ours, theirs: theirs, files: make(map[string]*sides)}
	fields := strings.Split(out, "\x00")
	m.tree = strings.TrimSpace(fields[0])
	for _, line := range fields[1:] {
		entry, path, ok := strings.Cut(line, "\t")
		words := strings.Fields(entry)
		if !ok || len(words) != 3 {
			continue
		}
		f := m.files[path]
		if f == nil {
			f = &sides{}
			m.files[path] = f
			m.paths = append(m.paths, path)
		}
		switch words[2] {
		case "2":
			f.ours = words[0] + " " + words[1]
		case "3":
			f.theirs = words[0] + " " + words[1]
		}
	}
	if err != nil && len(m.files) == 0 {
		return nil, errors.New("git reports a conflict and names no file")
	}
	return m, nil
}

// choose puts the files whose side is decided into the tree.
func (b *Branches) choose(ctx context.Context, m *merged, decided map[string]string) error {
	var info strings.Builder
	for _, path := range m.paths {
		f := m.files[path]
		content := f.ours
		switch decided[path] {
		case event.Theirs:
			content = f.theirs
		case event.Ours:
		default:
			continue
		}
		delete(m.files, path)
		if content == "" {
			content = "0 " + strings.Repeat("0", len(m.tree))
		}
		info.WriteString(content + "\t" + path + "\x00")
	}
	index, err := os.CreateTemp(b.root.entry, "pawl-merge-*")
	if err != nil {
		return err
	}
	_ = index.Close()
	_ = os.Remove(index.Name()) // git refuses an empty index
	defer os.Remove(index.Name())
	scratch := git.Call{Env: []string{"GIT_INDEX_FILE=" + index.Name()}}
	for _, step := range []git.Call{
		{Args: []string{"read-tree", m.tree}},
		{Args: []string{"update-index", "-z", "--index-info"}, Stdin: info.String()},
	} {
		step.Env = scratch.Env
		if _, err := b.root.call(ctx, step); err != nil {
			return err
		}
	}
	scratch.Args = []string{"write-tree"}
	tree, err := b.root.call(ctx, scratch)
	m.tree = strings.TrimSpace(tree)
	return err
}

// seal makes the commit of a merge.
func (b *Branches) seal(ctx context.Context, m *merged, c runner.Commit) (string, error) {
	msg, err := message(c)
	if err != nil {
		return "", err
	}
	at := c.Time
	if len(m.files) > 0 {
		msg, at = "conflict of "+b.root.run+"\n", time.Unix(0, 0)
	}
	return b.root.commitTree(ctx, m.tree, []string{m.ours, m.theirs}, msg, at)
}

// Bounds of what a person gets to see of conflicts.
const (
	shownConflicts = 20
	shownBytes     = 2000
)

// conflicts describes the files in conflict, the first ones with an excerpt.
func (b *Branches) conflicts(ctx context.Context, m *merged) []event.Conflict {
	var out []event.Conflict
	for _, path := range m.paths {
		f := m.files[path]
		if f == nil {
			continue
		}
		c := event.Conflict{Path: path, Ours: f.ours != "", Theirs: f.theirs != ""}
		if len(out) < shownConflicts {
			// An excerpt is a help and may be missing.
			if text, err := b.root.do(ctx, "cat-file", "blob", m.tree+":"+path); err == nil {
				c.Text = disputed(text)
			}
		}
		out = append(out, c)
	}
	return out
}

// disputed cuts a file with marks down to what stands between them.
func disputed(text string) string {
	if strings.ContainsRune(text, 0) {
		return ""
	}
	var b strings.Builder
	inside := false
	for line := range strings.Lines(strings.ToValidUTF8(text, "\uFFFD")) {
		inside = inside || strings.HasPrefix(line, "<<<<<<<")
		if inside && b.Len()+len(line) > shownBytes {
			b.WriteString("…\n")
			break
		}
		if inside {
			b.WriteString(line)
		}
		inside = inside && !strings.HasPrefix(line, ">>>>>>>")
	}
	return strings.TrimSuffix(b.String(), "\n")
}
