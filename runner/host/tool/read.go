package tool

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/host/tool/look"
	"github.com/pawl-ci/pawl/runner/host/tool/tree"
)

const (
	sniffed = 8000     // bytes by which text is told from binary
	counted = 64 << 20 // bytes through which lines are counted
)

// readFile gives back text exactly as it is, so that edit_file can quote it.
// What is not the file's text stands in brackets on lines of its own.
func (t *Tools) readFile(ctx context.Context, a args) (runner.ToolResult, error) {
	name, offset := a.text("path"), a.number("offset", 1)
	f, info, err := t.tree.Open(name)
	if err != nil {
		return runner.ToolResult{}, t.elsewhere(ctx, name, err)
	}
	defer f.Close()
	summary := "read " + name
	in := bufio.NewReaderSize(f, 64<<10)
	if start, _ := in.Peek(sniffed); look.Binary(start) {
		return done(summary+" (binary)", fmt.Sprintf("[%s is binary, %d bytes]", name, info.Size()))
	}
	w := window{first: offset, count: a.number("limit", millions), room: maxRead}
	if err := w.read(ctx, in); err != nil {
		return runner.ToolResult{}, fmt.Errorf("read %s: %w", name, err)
	}
	if w.total == 0 {
		return done(summary+" (empty)", fmt.Sprintf("[%s is empty]", name))
	}
	if w.shown == 0 && offset > w.total {
		return runner.ToolResult{}, problemf("%s has only %s, and offset is %d", name, look.Count(w.total, "line"), offset)
	}
	if offset > 1 || w.shown < w.total {
		summary = fmt.Sprintf("%s (lines %d–%d of %s)", summary, offset, offset+w.shown-1, w.lines())
	}
	return done(summary, w.render())
}

// elsewhere adds to a missing file where others of its name are, and to a folder
// how to look into it.
func (t *Tools) elsewhere(ctx context.Context, name string, err error) error {
	if strings.HasSuffix(err.Error(), "is a directory") {
		return problemf("%v; list_files shows what is in it", err)
	}
	var known *tree.Error
	if !errors.As(err, &known) || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	files, listErr := t.files(ctx, ".")
	if listErr != nil {
		return err
	}
	base, others := name[strings.LastIndexByte(name, '/')+1:], []string{}
	for _, f := range files.Names {
		if strings.HasSuffix("/"+f, "/"+base) && len(others) < 5 {
			others = append(others, f)
		}
	}
	if len(others) == 0 {
		return err
	}
	return problemf("%v; files of that name: %s", err, strings.Join(others, ", "))
}

// window is the part of a file that is shown.
type window struct {
	first, count int // lines asked for
	room         int // bytes left

	text    []byte
	shown   int  // lines in text
	cut     int  // bytes of the only line in text that did not fit
	total   int  // lines of the file
	unknown bool // the file has more lines than total
}

// read reads the file to its end, or as far as lines are counted.
func (w *window) read(ctx context.Context, in *bufio.Reader) error {
	for left := counted; ctx.Err() == nil; {
		keep := 0
		if w.total+1 >= w.first && w.shown < w.count {
			keep = w.room
		}
		line, length, err := nextLine(in, keep, left)
		if err != nil || length == 0 {
			return err
		}
		w.total++
		if keep > 0 {
			w.show(line, length)
		}
		if left -= length; left <= 0 {
			w.unknown = true
			return nil
		}
	}
	return ctx.Err()
}

// show takes a line if it fits whole; only the first one is cut.
func (w *window) show(line []byte, length int) {
	if length > w.room && w.shown > 0 {
		w.room = 0
		return
	}
	w.text = append(w.text, line...)
	w.shown++
	w.cut = length - len(line)
	w.room -= len(line)
}

// nextLine reads a line with its end, or about most bytes of it, and returns its
// first bytes, at most keep, and its length; 0 is the end of the file.
func nextLine(in *bufio.Reader, keep, most int) (line []byte, length int, err error) {
	for length < most {
		part, err := in.ReadSlice('\n')
		length += len(part)
		line = append(line, part[:min(len(part), keep-len(line))]...)
		switch {
		case err == nil || errors.Is(err, io.EOF):
			return line, length, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, length, err
		}
	}
	return line, length, nil
}

func (w *window) lines() string {
	if w.unknown {
		return fmt.Sprintf("more than %d", w.total)
	}
	return fmt.Sprint(w.total)
}

// render is the text with notes on what it is not.
func (w *window) render() string {
	text := string(w.text)
	notes := []string{}
	if n := strings.Count(text, "\n"); n > 0 && n == strings.Count(text, "\r\n") {
		text = strings.ReplaceAll(text, "\r\n", "\n")
		notes = append(notes, "[line ends are CRLF; write plain ones, they are kept as CRLF]")
	}
	if w.cut > 0 {
		notes = append(notes, fmt.Sprintf("[line %d is cut: %d more bytes]", w.first, w.cut))
	}
	if next := w.first + w.shown; next <= w.total {
		notes = append(notes, fmt.Sprintf("[lines %d–%d of %s; go on with offset %d]", w.first, next-1, w.lines(), next))
	}
	if len(notes) > 0 && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + strings.Join(notes, "\n")
}
