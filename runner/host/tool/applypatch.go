package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/host/tool/look"
	"github.com/pawl-ci/pawl/runner/host/tool/patch"
	"github.com/pawl-ci/pawl/runner/host/tool/tree"
)

const maxPatch = 4 << 20 // bytes

// applyPatch works out what every file will be, and only then writes.
func (t *Tools) applyPatch(_ context.Context, a args) (runner.ToolResult, error) {
	if len(a.text("patch")) > maxPatch {
		return runner.ToolResult{}, problemf("the patch has %d bytes; %d are the most", len(a.text("patch")), maxPatch)
	}
	files, err := patch.Parse(a.text("patch"))
	if err != nil {
		return runner.ToolResult{}, notApplied(err)
	}
	d := draft{tree: t.tree, files: map[string]*drafted{}}
	var report []string
	added, removed := 0, 0
	for i := range files {
		notes, err := d.apply(&files[i])
		if err != nil {
			return runner.ToolResult{}, notApplied(err)
		}
		plus, minus := files[i].Counts()
		added, removed = added+plus, removed+minus
		report = append(report, describe(&files[i])+" ("+delta(plus, minus)+")")
		for _, n := range notes {
			report = append(report, "  "+n)
		}
	}
	if err := d.commit(); err != nil {
		return runner.ToolResult{}, err
	}
	summary := look.Count(len(files), "file")
	if len(files) == 1 {
		summary = files[0].Path()
	}
	text := clip("applied to "+look.Count(len(files), "file")+":\n"+strings.Join(report, "\n"), maxCommand)
	return done(fmt.Sprintf("patch %s (%s)", summary, delta(added, removed)), text)
}

// notApplied says that a patch that does not fit has changed nothing.
func notApplied(err error) error {
	var misfit *patch.Error
	if errors.As(err, &misfit) || theirs(err) {
		return problemf("nothing was changed: %v", err)
	}
	return err
}

func describe(f *patch.File) string {
	switch {
	case f.Old == "":
		return "created " + f.New
	case f.New == "":
		return "deleted " + f.Old
	case f.Old != f.New:
		return "moved " + f.Old + " to " + f.New
	}
	return "changed " + f.New
}

// draft is what the worktree will be.
type draft struct {
	tree  *tree.Tree
	files map[string]*drafted
	order []string // names in files, as they came up
}

// drafted is one file, before and after.
type drafted struct {
	was, is         string
	existed, exists bool
	wasExec         bool
	exec            *bool // nil leaves it
}

// at is the draft of a file. A link is not a file to patch.
func (d *draft) at(name string) (*drafted, string, error) {
	rel, err := d.tree.Rel(name)
	if err != nil {
		return nil, "", err
	}
	if f := d.files[rel]; f != nil {
		return f, rel, nil
	}
	f := &drafted{}
	info, err := d.tree.Stat(rel)
	switch {
	case missing(err), d.cleared(rel):
	case err != nil:
		return nil, "", err
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, "", problemf("%s is a symbolic link", name)
	default:
		content, _, err := d.tree.Read(rel, maxFile)
		if err != nil {
			return nil, "", err
		}
		f.was, f.existed, f.wasExec = string(content), true, info.Mode().Perm()&0o100 != 0
	}
	f.is, f.exists = f.was, f.existed
	d.files[rel] = f
	d.order = append(d.order, rel)
	return f, rel, nil
}

// cleared reports whether a file that the draft deletes is in the way of name.
func (d *draft) cleared(name string) bool {
	for i, c := range name {
		if f := d.files[name[:i]]; c == '/' && f != nil && !f.exists {
			return true
		}
	}
	return false
}

// apply puts one file of a patch into the draft.
func (d *draft) apply(f *patch.File) ([]string, error) {
	before, err := d.source(f)
	if err != nil {
		return nil, err
	}
	after, notes, err := f.Apply(before.is)
	if err != nil {
		return nil, err
	}
	if f.New == "" {
		if after != "" {
			return nil, problemf("the patch deletes %s, but its hunks leave %s of it", f.Old, look.Count(patch.Lines(after), "line"))
		}
		before.is, before.exists = "", false
		return notes, nil
	}
	target := before
	if f.Old != f.New {
		if target, _, err = d.at(f.New); err != nil {
			return nil, err
		}
		if target.exists {
			return nil, problemf("%s exists already", f.New)
		}
		exec := before.wasExec
		before.is, before.exists = "", false
		target.exec = &exec
	}
	if len(after) > maxFile {
		return nil, problemf("%s would have %d bytes; %d are the most", f.New, len(after), maxFile)
	}
	target.is, target.exists = after, true
	if f.Exec != nil {
		target.exec = f.Exec
	}
	return notes, nil
}

// source is the file that a patch begins with: an empty one where it creates.
func (d *draft) source(f *patch.File) (*drafted, error) {
	if f.Old == "" {
		return &drafted{}, nil
	}
	before, rel, err := d.at(f.Old)
	switch {
	case err != nil:
		return nil, err
	case !before.exists:
		return nil, &tree.Error{Name: rel, Reason: "does not exist", Err: fs.ErrNotExist}
	case look.Binary([]byte(before.is)):
		return nil, problemf("%s is binary", rel)
	}
	return before, nil
}

// commit writes the draft: first what goes, then what comes. If that fails in the
// middle, what was done is undone.
func (d *draft) commit() error {
	steps := d.steps()
	for i, name := range steps {
		err := d.files[name].put(d.tree, name)
		if err == nil {
			continue
		}
		for _, undone := range slices.Backward(steps[:i]) {
			if failure := d.files[undone].undo(d.tree, undone); failure != nil {
				// Not for the model to mend: the worktree is neither old nor new.
				return fmt.Errorf("apply a patch: %v; undo it: %v", err, failure)
			}
		}
		return notApplied(err)
	}
	return nil
}

// steps are the files that change, in the order in which they are written.
func (d *draft) steps() []string {
	var gone, written []string
	for _, name := range d.order {
		switch f := d.files[name]; {
		case f.existed && !f.exists:
			gone = append(gone, name)
		case f.exists && (!f.existed || f.is != f.was || f.exec != nil && *f.exec != f.wasExec):
			written = append(written, name)
		}
	}
	return append(gone, written...)
}

func (f *drafted) put(t *tree.Tree, name string) error {
	if !f.exists {
		return t.Remove(name)
	}
	return t.Write(name, []byte(f.is), f.exec)
}

func (f *drafted) undo(t *tree.Tree, name string) error {
	if !f.existed {
		return t.Remove(name)
	}
	return t.Write(name, []byte(f.was), &f.wasExec)
}
