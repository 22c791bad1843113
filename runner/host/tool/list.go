package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/host/tool/look"
)

// files lists what git tracks or would track below dir, which may be a file. Where
// there is no git or no repository, it is everything but git directories.
func (t *Tools) files(ctx context.Context, dir string) (look.Listing, error) {
	rel, err := t.tree.Rel(dir)
	if err != nil {
		return look.Listing{}, err
	}
	out, complete, err := t.git(ctx, "ls-files", "-z", "-t", "-c", "-d", "-o", "--exclude-standard", "--", rel)
	switch {
	case ctx.Err() != nil:
		return look.Listing{}, ctx.Err()
	case err != nil:
		return look.Walk(t.tree, rel)
	}
	return look.Listing{Names: look.Tracked(out), Complete: complete}, nil
}

// chosen lists the files that a tool's arguments path and glob name.
func (t *Tools) chosen(ctx context.Context, a args) (dir string, l look.Listing, err error) {
	if dir = a.text("path"); dir == "" {
		dir = "."
	}
	if dir, err = t.tree.Rel(dir); err != nil {
		return dir, l, err
	}
	if _, err = t.tree.Stat(dir); err != nil {
		return dir, l, err
	}
	if l, err = t.files(ctx, dir); err != nil {
		return dir, l, err
	}
	if err := l.Only(a.text("glob"), dir); err != nil {
		return dir, l, problem(err.Error())
	}
	return dir, l, nil
}

func (t *Tools) listFiles(ctx context.Context, a args) (runner.ToolResult, error) {
	dir, l, err := t.chosen(ctx, a)
	if err != nil {
		return runner.ToolResult{}, err
	}
	summary := fmt.Sprintf("list %s (%s)", dir, look.Count(len(l.Names), "file"))
	if len(l.Names) == 0 {
		return done(summary, "[no files]")
	}
	text := l.Render(dir, a.number("depth", 0), maxList)
	if !l.Complete {
		text += "\n[there are more files than could be listed; name a folder with path]"
	}
	return done(summary, text)
}

// search looks through files in the order of their names.
func (t *Tools) search(ctx context.Context, a args) (runner.ToolResult, error) {
	s, err := look.NewSearch(a.text("pattern"), a.number("context", 0), maxSearch)
	if err != nil {
		return runner.ToolResult{}, problem(err.Error())
	}
	_, l, err := t.chosen(ctx, a)
	if err != nil {
		return runner.ToolResult{}, err
	}
	s.Run(ctx, t.tree, l)
	return done(fmt.Sprintf("search %s (%s)", clip(a.text("pattern"), 60), s.Summary()), s.Render())
}

// missing reports whether err says that there is nothing of a name.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
