package look

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"

	"github.com/pawl-ci/pawl/runner/host/tool/tree"
)

const (
	searchedFile = 4 << 20   // bytes; larger files are passed over, and counted
	searchedAll  = 512 << 20 // bytes of all files together
	mostMatches  = 200       // lines
	matchWidth   = 240       // bytes of a line that are shown
)

// Search looks for a regular expression in files. It is for one Run.
type Search struct {
	re     *regexp.Regexp
	around int // lines shown around a match
	limit  int // bytes of the result

	tree    *tree.Tree
	dir     *tree.Dir // of the file before
	dirName string
	given   Listing

	out     bytes.Buffer
	files   int // with matches
	matches int // lines
	read    int // bytes
	passed  int // files too large
	looked  int // files
}

// NewSearch prepares a search that shows around lines beside each match in at most
// limit bytes. The error is a sentence about the pattern.
func NewSearch(pattern string, around, limit int) (*Search, error) {
	if pattern == "" {
		return nil, errors.New("the pattern is empty")
	}
	re, err := regexp.Compile("(?m)" + pattern)
	if err != nil {
		why := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		return nil, fmt.Errorf("the pattern is not a regular expression (RE2): %s; to look for the text itself, use %s", why, regexp.QuoteMeta(pattern))
	}
	return &Search{re: re, around: around, limit: limit}, nil
}

// Run looks through the listed files until the result is full or ctx is done.
func (s *Search) Run(ctx context.Context, t *tree.Tree, l Listing) {
	s.tree, s.given = t, l
	defer s.close()
	for _, name := range l.Names {
		if ctx.Err() != nil || s.full() {
			return
		}
		s.file(name)
	}
}

func (s *Search) close() {
	if s.dir != nil {
		_ = s.dir.Close()
	}
}

func (s *Search) full() bool {
	return s.out.Len() >= s.limit || s.matches >= mostMatches || s.read >= searchedAll
}

// file looks through one file. Binary and special files have no lines; one that
// cannot be opened has vanished or is none of ours.
func (s *Search) file(name string) {
	s.looked++
	content := s.content(name)
	if content == nil || Binary(content) {
		return
	}
	s.read += len(content)
	if bytes.Contains(content, []byte("\r\n")) {
		content = bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))
	}
	if !s.re.Match(content) {
		return
	}
	if lines := s.lines(content); len(lines) > 0 {
		s.show(name, content, lines)
	}
}

func (s *Search) content(name string) []byte {
	if dir := path.Dir(name); s.dir == nil || dir != s.dirName {
		s.close()
		var err error
		if s.dir, err = s.tree.Dir(dir); err != nil {
			s.dir = nil
			return nil
		}
		s.dirName = dir
	}
	f, info, err := s.dir.Open(path.Base(name))
	if err != nil {
		return nil
	}
	defer f.Close()
	if info.Size() > searchedFile {
		s.passed++
		return nil
	}
	content, err := io.ReadAll(io.LimitReader(f, searchedFile))
	if err != nil {
		return nil
	}
	return content
}

// lines are the 0-based numbers of lines in which a match begins.
func (s *Search) lines(content []byte) []int {
	var lines []int
	line, counted := 0, 0
	for _, m := range s.re.FindAllIndex(content, mostMatches*4) {
		if m[0] == len(content) && bytes.HasSuffix(content, []byte("\n")) {
			break // an empty match behind the last line
		}
		line += bytes.Count(content[counted:m[0]], []byte("\n"))
		counted = m[0]
		if len(lines) == 0 || lines[len(lines)-1] != line {
			lines = append(lines, line)
		}
	}
	return lines
}

// show writes a file's matches.
func (s *Search) show(name string, content []byte, matches []int) {
	lines := strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
	if s.out.Len() > 0 {
		s.out.WriteByte('\n')
	}
	fmt.Fprintf(&s.out, "%s\n", shown(name))
	s.files++
	next := 0 // first line that has not been shown
	for i, m := range matches {
		if s.full() {
			return
		}
		from := max(m-s.around, next)
		if s.around > 0 && i > 0 && from > next {
			s.out.WriteString("--\n")
		}
		to := min(m+s.around+1, len(lines))
		if i+1 < len(matches) {
			to = min(to, matches[i+1])
		}
		for n := from; n < to && s.out.Len() < s.limit; n++ {
			mark := '-'
			if n == m {
				mark = ':'
			}
			fmt.Fprintf(&s.out, "%d%c %s\n", n+1, mark, s.narrow(lines[n]))
		}
		next = to
		s.matches++
	}
}

// narrow cuts a long line around its match.
func (s *Search) narrow(line string) string {
	if len(line) <= matchWidth {
		return line
	}
	start := 0
	if m := s.re.FindStringIndex(line); m != nil {
		start = max(0, m[0]-matchWidth/3)
	}
	end := min(len(line), start+matchWidth)
	cut := strings.ToValidUTF8(line[start:end], "")
	if start > 0 {
		cut = "…" + cut
	}
	if end < len(line) {
		cut += "…"
	}
	return cut
}

// Summary is the number of matches, for people.
func (s *Search) Summary() string {
	return fmt.Sprintf("%s in %s", Count(s.matches, "line"), Count(s.files, "file"))
}

// Render shows the matches, by file: "12: text", and "11- text" around them. It
// may exceed the limit by a line and the notes.
func (s *Search) Render() string {
	out := strings.TrimSuffix(s.out.String(), "\n")
	var notes []string
	switch {
	case s.full():
		notes = append(notes, fmt.Sprintf("[there may be more: stopped after %d matches, in file %d of %d; narrow it with path, glob or pattern]",
			s.matches, s.looked, len(s.given.Names)))
	case s.matches == 0:
		notes = append(notes, fmt.Sprintf("[no match in %s]", Count(len(s.given.Names), "file")))
	}
	if s.passed > 0 {
		notes = append(notes, fmt.Sprintf("[%s larger than %d MiB passed over]", Count(s.passed, "file"), searchedFile>>20))
	}
	if !s.given.Complete {
		notes = append(notes, "[there are more files than could be looked through; name a folder with path]")
	}
	if out != "" && len(notes) > 0 {
		out += "\n"
	}
	return out + strings.Join(notes, "\n")
}
