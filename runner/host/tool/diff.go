package tool

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/host/tool/look"
)

// gitDiff compares the files as they are now with the run's first commit. New
// files are part of what a run has done, so they are part of the diff.
func (t *Tools) gitDiff(ctx context.Context, a args) (runner.ToolResult, error) {
	rel, name := ".", "everything"
	if a.text("path") != "" {
		var err error
		if rel, err = t.tree.Rel(a.text("path")); err != nil {
			return runner.ToolResult{}, err
		}
		name = rel
	}
	base := t.c.Base
	if base == "" {
		base = "HEAD"
	}
	out, complete, err := t.git(ctx, "diff", "--no-ext-diff", "--no-textconv", "--no-color", "--find-renames", "--unified=3",
		"--src-prefix=a/", "--dst-prefix=b/", "--submodule=short", "--ignore-submodules=dirty", "--diff-algorithm=histogram",
		"--end-of-options", base, "--", rel)
	if err != nil {
		return runner.ToolResult{}, err
	}
	fresh, _, err := t.git(ctx, "ls-files", "-z", "-o", "--exclude-standard", "--", rel)
	if err != nil {
		return runner.ToolResult{}, err
	}
	changes := look.Changes(out)
	for f := range strings.SplitSeq(strings.TrimSuffix(fresh, "\x00"), "\x00") {
		if f != "" {
			changes = append(changes, t.untracked(f))
		}
	}
	summary := fmt.Sprintf("diff %s (%s)", name, look.Count(len(changes), "file"))
	if len(changes) == 0 {
		return done(summary, "[nothing has changed]")
	}
	return done(summary, look.RenderChanges(changes, complete, maxDiff))
}

// untracked is a new file as git would show it once it is added.
func (t *Tools) untracked(name string) look.Change {
	content, _, err := t.tree.Read(name, maxFile)
	if err != nil {
		return look.Change{Title: "A " + name, Text: fmt.Sprintf("diff --git a/%s b/%s\nnew file mode 100644\n[not shown: %v]\n", name, name, err)}
	}
	return look.Added(name, content)
}
