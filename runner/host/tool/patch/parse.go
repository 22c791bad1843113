package patch

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Parse reads a unified diff of one or more files, as git and diff -u write it.
// Text before the first file is ignored. The error is an *[Error].
func Parse(text string) ([]File, error) {
	p := &parser{lines: strings.Split(strings.TrimSuffix(text, "\n"), "\n")}
	p.unwrap()
	for p.skipTo(p.startsFile) {
		f, err := p.file()
		if err != nil {
			return nil, err
		}
		p.files = append(p.files, f)
		if err := p.between(&f); err != nil {
			return nil, err
		}
	}
	if len(p.files) == 0 {
		return nil, &Error{At: 1, Reason: notADiff(text)}
	}
	return p.files, nil
}

func notADiff(text string) string {
	const form = "a unified diff begins with \"--- a/PATH\", \"+++ b/PATH\" and \"@@ -LINE,COUNT +LINE,COUNT @@\""
	if strings.Contains(text, "*** Begin Patch") {
		return "this is another patch format; " + form
	}
	return "there is no file header; " + form
}

type parser struct {
	lines []string
	next  int
	files []File
}

// unwrap drops the carriage returns of a patch that was written with CRLF as a
// whole, and not just about such a file.
func (p *parser) unwrap() {
	for _, l := range p.lines {
		if strings.HasPrefix(l, "--- ") || strings.HasPrefix(l, "diff --git ") {
			if !strings.HasSuffix(l, "\r") {
				return
			}
			break
		}
	}
	for i, l := range p.lines {
		p.lines[i] = strings.TrimSuffix(l, "\r")
	}
}

func (p *parser) line(i int) string {
	if i < len(p.lines) {
		return p.lines[i]
	}
	return ""
}

func (p *parser) startsFile(i int) bool {
	l := p.line(i)
	return strings.HasPrefix(l, "diff --git ") || strings.HasPrefix(l, "--- ") && strings.HasPrefix(p.line(i+1), "+++ ")
}

func (p *parser) skipTo(found func(int) bool) bool {
	for ; p.next < len(p.lines); p.next++ {
		if found(p.next) {
			return true
		}
	}
	return false
}

// between checks that nothing but another file, blank lines or the end of a mail
// follows a file: a stray line is a hunk that was cut wrongly.
func (p *parser) between(f *File) error {
	for ; p.next < len(p.lines) && !p.startsFile(p.next); p.next++ {
		switch l := p.line(p.next); {
		case l == "-- " || l == "--":
			p.next = len(p.lines)
			return nil
		case strings.TrimSpace(l) != "" && !strings.HasPrefix(l, "```"):
			return &Error{Path: f.Path(), At: p.next + 1, Reason: fmt.Sprintf("%s belongs to no hunk; "+
				"lines of a hunk begin with a space, \"-\" or \"+\"", quote(l))}
		}
	}
	return nil
}

// header is what stands before a file's hunks.
type header struct {
	git, old, new    string // the text after the keyword
	from, to         string // of a rename
	created, deleted bool
	exec             *bool
}

func (p *parser) file() (File, error) {
	at := p.next + 1
	var h header
	for ; p.next < len(p.lines) && !h.endsBefore(p.line(p.next)); p.next++ {
		more, err := h.read(p.line(p.next))
		if err != nil {
			return File{}, &Error{At: p.next + 1, Reason: err.Error()}
		}
		if !more {
			break
		}
	}
	f, err := h.file()
	if err != nil {
		return File{}, &Error{Path: f.Path(), At: at, Reason: err.Error()}
	}
	for p.atHunk() {
		h, err := p.hunk()
		if err != nil {
			err.Path, err.Hunk = f.Path(), len(f.Hunks)+1
			return File{}, err
		}
		f.Hunks = append(f.Hunks, h)
	}
	if len(f.Hunks) == 0 && f.Old == f.New && f.Exec == nil {
		return File{}, &Error{Path: f.Path(), At: at, Reason: "it changes nothing: there is no \"@@ -LINE,COUNT +LINE,COUNT @@\" after the header"}
	}
	return f, nil
}

// atHunk moves over blank lines to a hunk's header, if one follows.
func (p *parser) atHunk() bool {
	i := p.next
	for i < len(p.lines) && strings.TrimSpace(p.lines[i]) == "" {
		i++
	}
	found := strings.HasPrefix(p.line(i), "@@")
	if found {
		p.next = i
	}
	return found
}

// endsBefore reports whether line begins the header of another file.
func (h *header) endsBefore(line string) bool {
	return strings.HasPrefix(line, "diff --git ") && (h.git != "" || h.old != "") ||
		strings.HasPrefix(line, "--- ") && h.old != ""
}

// read takes one line; it is false when the line is not part of a header.
func (h *header) read(line string) (bool, error) {
	for _, k := range []struct {
		word string
		set  func(string) error
	}{
		{"diff --git ", put(&h.git)}, {"--- ", put(&h.old)}, {"+++ ", put(&h.new)},
		{"rename from ", put(&h.from)}, {"rename to ", put(&h.to)},
		{"index ", ignore}, {"similarity index ", ignore}, {"dissimilarity index ", ignore}, {"old mode ", ignore},
		{"new mode ", h.mode},
		{"new file mode ", func(s string) error { h.created = true; return h.mode(s) }},
		{"deleted file mode ", func(string) error { h.deleted = true; return nil }},
		{"copy from ", refuse("copies are not supported: create the file with all its lines")},
		{"GIT binary patch", refuse("binary patches are not supported")},
		{"Binary files ", refuse("binary patches are not supported")},
	} {
		if rest, ok := strings.CutPrefix(line, k.word); ok {
			return true, k.set(rest)
		}
	}
	return false, nil
}

func put(where *string) func(string) error {
	return func(s string) error { *where = s; return nil }
}

func ignore(string) error { return nil }

func refuse(why string) func(string) error {
	return func(string) error { return errors.New(why) }
}

func (h *header) mode(s string) error {
	exec := strings.HasSuffix(s, "755")
	switch strings.TrimSpace(s) {
	case "100644", "100755":
		h.exec = &exec
		return nil
	case "120000":
		return errors.New("symbolic links are not supported")
	case "160000":
		return errors.New("submodules are not supported")
	}
	return fmt.Errorf("mode %s is neither 100644 nor 100755", quote(s))
}

// file decides on the paths.
func (h *header) file() (File, error) {
	f := File{Exec: h.exec}
	var err error
	switch {
	case h.old != "" && h.new != "":
		f.Old, f.New, err = twoPaths(h.old, h.new)
	case h.from != "" && h.to != "":
	case h.git != "":
		f.Old, f.New, err = gitPaths(h.git)
	default:
		err = errors.New("the header lacks \"--- a/PATH\" or \"+++ b/PATH\"")
	}
	if err != nil {
		return f, err
	}
	if h.from != "" && h.to != "" {
		from, err1 := unquote(h.from)
		to, err2 := unquote(h.to)
		if err1 != nil || err2 != nil {
			return f, errors.New("a path of the rename is not quoted rightly")
		}
		if f.Old != "" && (f.Old != from || f.New != to) {
			return f, fmt.Errorf("the rename is from %s to %s, but the header says %s and %s", from, to, f.Old, f.New)
		}
		f.Old, f.New = from, to
	}
	if h.created {
		f.Old = ""
	}
	if h.deleted {
		f.New = ""
	}
	switch {
	case f.Old == "" && f.New == "":
		return f, errors.New("the header names no file")
	case f.Old != "" && f.New != "" && f.Old != f.New && h.from == "":
		return f, fmt.Errorf("the header names two files, %s and %s; a rename needs \"rename from\" and \"rename to\" lines", f.Old, f.New)
	}
	return f, nil
}

const noFile = "/dev/null"

// twoPaths reads what follows "--- " and "+++ ". The prefixes a/ and b/ are taken
// off only together: a directory may be called a.
func twoPaths(before, after string) (string, string, error) {
	before, after = strings.TrimRight(cutStamp(before), " "), strings.TrimRight(cutStamp(after), " ")
	before, err1 := unquote(before)
	after, err2 := unquote(after)
	if err1 != nil || err2 != nil {
		return "", "", errors.New("a path in the header is not quoted rightly")
	}
	a, okA := strings.CutPrefix(before, "a/")
	b, okB := strings.CutPrefix(after, "b/")
	if (okA || before == noFile) && (okB || after == noFile) {
		before, after = a, b
	}
	if before == noFile {
		before = ""
	}
	if after == noFile {
		after = ""
	}
	return before, after, nil
}

// cutStamp drops the time stamp that diff -u writes behind a tab.
func cutStamp(s string) string {
	s, _, _ = strings.Cut(s, "\t")
	return s
}

// gitPaths reads what follows "diff --git ", which is only needed where both
// names are the same and no other line tells.
func gitPaths(s string) (string, string, error) {
	if strings.HasPrefix(s, `"`) {
		if i := strings.Index(s[1:], `" `); i >= 0 {
			return twoPaths(s[:i+2], s[i+3:])
		}
	}
	if n := len(s); n%2 == 1 && s[n/2] == ' ' {
		return twoPaths(s[:n/2], s[n/2+1:])
	}
	return "", "", fmt.Errorf("%s does not name the file twice", quote("diff --git "+s))
}

// unquote undoes git's quoting of unusual paths.
func unquote(s string) (string, error) {
	if !strings.HasPrefix(s, `"`) {
		return s, nil
	}
	return strconv.Unquote(s)
}

// quote shows a line in a message, cut when long.
func quote(s string) string { return strconv.Quote(cut(s, 120)) }

// cut shortens text at the end of a character.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
