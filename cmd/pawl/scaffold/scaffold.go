package scaffold

import (
	"bytes"
	"embed"
	"fmt"
	"strings"
)

//go:embed files
var texts embed.FS

// Action is what becomes of a file.
type Action string

// The actions.
const (
	Create Action = "create" // there is none
	Append Action = "append" // there is one, and lines are missing in it
	Keep   Action = "keep"   // there is one; it stays as it is
)

// Options say what is wanted.
type Options struct {
	GitHub bool   // workflow files for GitHub Actions too
	Pin    string // what follows pawl-ci/pawl@ in them
}

// File is one file of the scaffold.
type File struct {
	Path   string // below the directory, with slashes
	About  string // one line for the user
	Action Action
	Note   string // why it is kept, or what is added
	Text   []byte // what is written: all of it, or what is added at the end
}

// offer is a file that can be scaffolded.
type offer struct {
	source string // below files
	path   string
	about  string
	github bool
	lines  bool // may be added to, line by line
}

var offers = []offer{
	{source: "ci-fix.iter", path: "ci-fix.iter", about: "mends a failing test suite"},
	{source: "pr-refine.iter", path: "pr-refine.iter", about: "reviews a change, plans, checks the plan, mends, verifies, and again"},
	{source: "env.example", path: ".env.example", about: "the environment that pawl reads"},
	{source: "gitignore", path: ".gitignore", about: "keeps keys and records out of git", lines: true},
	{source: "pawl-ci-fix.yml", path: ".github/workflows/pawl-ci-fix.yml", about: "runs ci-fix.iter at night and on demand", github: true},
	{source: "pawl-pr-refine.yml", path: ".github/workflows/pawl-pr-refine.yml", about: "runs pr-refine.iter on pull requests that are labelled pawl", github: true},
}

// Plan says what becomes of each file. read returns the content of a path below
// the directory, and whether there is anything of that name; an error of it ends
// the plan.
func Plan(opt Options, read func(path string) (text []byte, there bool, err error)) ([]File, error) {
	var files []File
	for _, o := range offers {
		if o.github && !opt.GitHub {
			continue
		}
		text, err := o.text(opt)
		if err != nil {
			return nil, err
		}
		old, there, err := read(o.path)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", o.path, err)
		}
		f := File{Path: o.path, About: o.about, Action: Create, Text: text}
		if there {
			f.meet(old, o)
		}
		files = append(files, f)
	}
	return files, nil
}

// text is the file's content.
func (o offer) text(opt Options) ([]byte, error) {
	text, err := texts.ReadFile("files/" + o.source)
	if err != nil {
		return nil, fmt.Errorf("scaffold %s: %w", o.path, err)
	}
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(text, []byte("PAWL_PIN"), []byte(opt.Pin)), nil
}

// meet decides about a file that is there already.
func (f *File) meet(old []byte, o offer) {
	wanted := f.Text
	f.Action, f.Text = Keep, nil
	switch {
	case bytes.Equal(bytes.ReplaceAll(old, []byte("\r\n"), []byte("\n")), wanted):
		f.Note = "it is there already"
	case !o.lines:
		f.Note = "yours stays as it is"
	default:
		f.add(old, missing(old, wanted))
	}
}

// missing are the lines of wanted that old does not have.
func missing(old, wanted []byte) []string {
	have := make(map[string]bool)
	for line := range strings.Lines(string(old)) {
		have[strings.Trim(strings.TrimSpace(line), "/")] = true
	}
	var lines []string
	for line := range strings.Lines(string(wanted)) {
		line = strings.TrimSpace(line)
		if !have[strings.Trim(line, "/")] {
			lines = append(lines, line)
		}
	}
	return lines
}

// add makes the text that brings lines to the end of old, in the line ends that
// old has.
func (f *File) add(old []byte, lines []string) {
	if len(lines) == 0 {
		f.Note = "it has all that is needed"
		return
	}
	end := "\n"
	if bytes.Contains(old, []byte("\r\n")) {
		end = "\r\n"
	}
	text := ""
	if len(old) > 0 && !bytes.HasSuffix(old, []byte("\n")) {
		text = end
	}
	f.Action, f.Note = Append, "adds "+strings.Join(lines, ", ")
	f.Text = []byte(text + strings.Join(lines, end) + end)
}
