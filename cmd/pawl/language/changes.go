package language

import (
	"fmt"
	"io"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/pawl-ci/pawl/report/words"
	"github.com/pawl-ci/pawl/runner/lang/diag"
)

// show says what became of the files: names and diffs on standard output, what is
// wrong on standard error.
func (l *layout) show() error {
	if l.app.JSON {
		return l.app.WriteJSON(l.document())
	}
	for i := range l.files {
		if err := l.say(&l.files[i]); err != nil {
			return err
		}
	}
	if n := l.changes(); l.flags.check && n > 0 {
		verb := "are"
		if n == 1 {
			verb = "is"
		}
		l.app.Notice("%s %s not laid out; pawl fmt writes them", words.Count(int64(n), "file"), verb)
	}
	return nil
}

// say says what became of one file.
func (l *layout) say(f *laidOut) error {
	switch {
	case f.problem != nil:
		_, err := fmt.Fprintf(l.app.Err, "%s: error: %v\n", words.OneLine(f.name), f.problem)
		return err
	case len(f.wrong) > 0:
		return diag.Render(l.app.Err, f.wrong, l.app.Colors(l.app.Err))
	case f.changed() && l.flags.diff:
		_, err := io.WriteString(l.app.Out, painted(f.diff(), l.app.Colors(l.app.Out)))
		return err
	case f.stdin && !l.dry():
		_, err := io.WriteString(l.app.Out, f.after)
		return err
	case f.changed():
		_, err := fmt.Fprintln(l.app.Out, words.OneLine(f.name))
		return err
	}
	return nil
}

// diff is what changes in a file, in the form that patch(1) reads.
func (f *laidOut) diff() string {
	name := words.OneLine(f.name)
	all := diff.Diff(name, []byte(f.before), name, []byte(f.after))
	_, hunks, _ := strings.Cut(string(all), "\n") // without the line that repeats the names
	return hunks
}

// painted gives the lines of a diff colours.
func painted(text string, color bool) string {
	if !color {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "+"):
			line = "\x1b[32m" + line + "\x1b[0m"
		case strings.HasPrefix(line, "-"):
			line = "\x1b[31m" + line + "\x1b[0m"
		case strings.HasPrefix(line, "@@"):
			line = "\x1b[36m" + line + "\x1b[0m"
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// fmtJSON is what --json prints; docs/cli.md promises it.
type fmtJSON struct {
	OK      bool          `json:"ok"`      // exit status 0
	Changed int           `json:"changed"` // files that were or would be written anew
	Failed  int           `json:"failed"`  // files that were refused, or not read or written
	Files   []laidOutJSON `json:"files"`
}

type laidOutJSON struct {
	File        string    `json:"file"`
	Changed     bool      `json:"changed"`
	Written     bool      `json:"written"`
	Problem     string    `json:"problem,omitempty"` // why it was not read or written
	Text        *string   `json:"text,omitempty"`    // of standard input, laid out
	Diff        string    `json:"diff,omitempty"`    // with --diff
	Diagnostics diag.List `json:"diagnostics"`       // why it was refused
}

func (l *layout) document() fmtJSON {
	doc := fmtJSON{OK: l.status() == nil, Changed: l.changes(), Files: []laidOutJSON{}}
	for i := range l.files {
		f := &l.files[i]
		entry := laidOutJSON{File: f.name, Changed: f.changed(), Diagnostics: diag.List{}}
		entry.Written = entry.Changed && !f.stdin && !l.dry()
		if f.problem != nil {
			entry.Problem = f.problem.Error()
		}
		if f.failed() {
			doc.Failed++
			entry.Diagnostics = append(entry.Diagnostics, f.wrong...)
		} else if f.stdin && !l.dry() {
			entry.Text = &f.after
		}
		if entry.Changed && l.flags.diff {
			entry.Diff = f.diff()
		}
		doc.Files = append(doc.Files, entry)
	}
	return doc
}
