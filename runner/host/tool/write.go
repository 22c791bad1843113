package tool

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/host/tool/look"
	"github.com/pawl-ci/pawl/runner/host/tool/patch"
)

// readable reads a text file that is to be changed. ok is false when there is
// none.
func (t *Tools) readable(name string) (content string, ok bool, err error) {
	raw, _, err := t.tree.Read(name, maxFile)
	if missing(err) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	return string(raw), true, nil
}

// writeFile keeps an existing file's CRLF line ends when the new content has
// plain ones: nobody means to change every line.
func (t *Tools) writeFile(_ context.Context, a args) (runner.ToolResult, error) {
	name, content := a.text("path"), a.text("content")
	if len(content) > maxFile {
		return runner.ToolResult{}, problemf("the content has %d bytes; %d are the most", len(content), maxFile)
	}
	old, exists, err := t.readable(name)
	if err != nil {
		return runner.ToolResult{}, err
	}
	note := ""
	if exists && patch.CRLF(old) && !strings.Contains(content, "\r") {
		content, note = patch.ToCRLF(content), "; its CRLF line ends were kept"
	}
	if exists && old == content {
		return done("write "+name+" (unchanged)", name+" had this content already"+note)
	}
	if err := t.tree.Write(name, []byte(content), nil); err != nil {
		return runner.ToolResult{}, err
	}
	if !exists {
		n := patch.Lines(content)
		return done(fmt.Sprintf("write %s (new, %s)", name, delta(n, 0)), fmt.Sprintf("created %s (%s)", name, look.Count(n, "line")))
	}
	change := delta(patch.Delta(old, content))
	return done(fmt.Sprintf("write %s (%s)", name, change), fmt.Sprintf("replaced the content of %s (%s lines)%s", name, change, note))
}

func (t *Tools) deleteFile(_ context.Context, a args) (runner.ToolResult, error) {
	name := a.text("path")
	if err := t.tree.Remove(name); err != nil {
		return runner.ToolResult{}, err
	}
	return done("delete "+name, "deleted "+name)
}

func (t *Tools) moveFile(_ context.Context, a args) (runner.ToolResult, error) {
	from, to := a.text("from"), a.text("to")
	if err := t.tree.Move(from, to); err != nil {
		return runner.ToolResult{}, err
	}
	return done(fmt.Sprintf("move %s to %s", from, to), fmt.Sprintf("moved %s to %s", from, to))
}

// editFile replaces a piece of text that is there once, or everywhere if asked.
func (t *Tools) editFile(_ context.Context, a args) (runner.ToolResult, error) {
	name := a.text("path")
	content, exists, err := t.readable(name)
	switch {
	case err != nil:
		return runner.ToolResult{}, err
	case !exists:
		return runner.ToolResult{}, problemf("%s does not exist; write_file creates files", name)
	case look.Binary([]byte(content)):
		return runner.ToolResult{}, problemf("%s is binary", name)
	}
	fresh, line, places, err := patch.Edit(content, a.text("old_text"), a.text("new_text"), a.flag("replace_all"))
	if err != nil {
		return runner.ToolResult{}, problemf("%s is unchanged: %v", name, err)
	}
	if len(fresh) > maxFile {
		return runner.ToolResult{}, problemf("%s would have %d bytes; %d are the most", name, len(fresh), maxFile)
	}
	if err := t.tree.Write(name, []byte(fresh), nil); err != nil {
		return runner.ToolResult{}, err
	}
	what := fmt.Sprintf("edited %s at line %d", name, line)
	if places > 1 {
		what = fmt.Sprintf("edited %s in %d places, the first at line %d", name, places, line)
	}
	return done(fmt.Sprintf("edit %s (%s)", name, delta(patch.Delta(content, fresh))), what)
}
