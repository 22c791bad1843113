package actions

import (
	"fmt"
	"strconv"

	"github.com/pawl-ci/pawl/report/words"
	"github.com/pawl-ci/pawl/runner/lang/diag"
	githubactions "github.com/sethvargo/go-githubactions"
)

// GitHub's limits for annotations; what goes beyond is dropped without a word.
const (
	maxPerLevel = 10 // of one level and one step
	maxPerJob   = 50
	maxMessage  = 4096 // characters
)

// Level is how serious an annotation is.
type Level string

// The levels.
const (
	Error   Level = "error"
	Warning Level = "warning"
	Notice  Level = "notice"
)

// levels are shown in this order, so that a limit never hides an error behind a
// notice.
var levels = []Level{Error, Warning, Notice}

// Annotation is a message on a line of a file. Without a File it stands on the
// job's page. Lines and columns count from 1; 0 is unknown.
type Annotation struct {
	Level     Level
	Title     string
	Message   string
	File      string // relative to the repository's root
	Line      int
	EndLine   int
	Column    int
	EndColumn int
}

// FromDiagnostics makes annotations of findings in files.
func FromDiagnostics(list diag.List) []Annotation {
	out := make([]Annotation, 0, len(list))
	for _, d := range list {
		a := d.Annotation()
		out = append(out, Annotation{
			Level: Level(a.Level), Title: a.Title, Message: a.Message,
			File: a.File, Line: a.Line, EndLine: a.EndLine, Column: a.Column, EndColumn: a.EndColumn,
		})
	}
	return out
}

// Annotate writes annotations, errors first. Of each level a step may make ten,
// and a job fifty of all; where that is not enough, the last one says how many
// are left out.
func (c *Commands) Annotate(list []Annotation) error {
	for _, level := range levels {
		var some []Annotation
		for _, a := range list {
			if a.Level == level {
				some = append(some, a)
			}
		}
		c.annotate(level, some)
	}
	return c.fail("write annotations")
}

func (c *Commands) annotate(level Level, list []Annotation) {
	room := max(min(maxPerLevel-c.counts[level], maxPerJob-c.used), 0)
	if len(list) == 0 {
		return
	}
	if room == 0 {
		fmt.Fprintf(c.out, "%s not shown as annotations: GitHub's limit is reached\n", words.Count(int64(len(list)), string(level)))
		return
	}
	if gone := len(list) - room; gone > 0 {
		list = append(list[:room-1:room-1], leftOut(level, gone+1))
	}
	for _, a := range list {
		c.emit(a)
	}
	c.counts[level] += len(list)
	c.used += len(list)
}

func leftOut(level Level, n int) Annotation {
	return Annotation{Level: level, Message: fmt.Sprintf("%s not shown here: GitHub shows %d of each kind a step and %d a job. The log holds them all.",
		words.Count(int64(n), "more "+string(level)), maxPerLevel, maxPerJob)}
}

func (c *Commands) emit(a Annotation) {
	at := c.action.WithFieldsMap(a.fields())
	text := words.Clip(words.Text(a.Message), maxMessage)
	switch a.Level {
	case Error:
		at.Errorf("%s", text)
	case Warning:
		at.Warningf("%s", text)
	default:
		at.Noticef("%s", text)
	}
}

// fields are the properties of the command. Columns are given only for a range
// within one line, as GitHub asks.
func (a Annotation) fields() githubactions.CommandProperties {
	f := githubactions.CommandProperties{}
	if a.Title != "" {
		f["title"] = words.OneLine(a.Title)
	}
	if a.File == "" {
		return f
	}
	f["file"] = words.OneLine(a.File)
	set := func(name string, n int) {
		if n > 0 {
			f[name] = strconv.Itoa(n)
		}
	}
	set("line", a.Line)
	set("endLine", a.EndLine)
	if a.EndLine == 0 || a.EndLine == a.Line {
		set("col", a.Column)
		set("endColumn", a.EndColumn)
	}
	return f
}
