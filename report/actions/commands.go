package actions

import (
	"fmt"
	"io"
	"strings"

	"github.com/pawl-ci/pawl/report/words"
	githubactions "github.com/sethvargo/go-githubactions"
)

// Commands writes workflow commands to a step's standard output. It belongs to
// one goroutine; nothing else may write to the same output meanwhile.
type Commands struct {
	action *githubactions.Action
	out    *sink
	counts map[Level]int
	used   int
}

// New writes commands to w. used is how many annotations earlier steps of the job
// have made, as far as the caller knows: GitHub shows 50 a job.
func New(w io.Writer, used int) *Commands {
	out := &sink{w: w}
	action := githubactions.New(
		githubactions.WithWriter(out),
		githubactions.WithGetenv(func(string) string { return "" }),
	)
	return &Commands{action: action, out: out, counts: make(map[Level]int), used: used}
}

// sink remembers the first error of w. The library panics when a write fails; here
// it never learns of it.
type sink struct {
	w   io.Writer
	err error
}

// Write implements io.Writer.
func (s *sink) Write(p []byte) (int, error) {
	if s.err == nil {
		_, s.err = s.w.Write(p)
	}
	return len(p), nil
}

// fail is the first error of the output, in the words of what was being done.
func (c *Commands) fail(what string) error {
	if c.out.err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, c.out.err)
}

// Mask keeps value out of the log from here on: each of its lines, because a log
// is searched line by line. Lines of one or two characters stay: hiding them would
// make the whole log unreadable and hide nothing. The commands hold the value, so
// they go to a runner only.
func (c *Commands) Mask(value string) error {
	for _, line := range strings.FieldsFunc(value, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if line = strings.TrimSpace(line); len(line) > 2 {
			c.action.AddMask(line)
		}
	}
	return c.fail("mask a value")
}

// Group folds what body writes under title. Groups do not nest.
func (c *Commands) Group(title string, body func() error) error {
	c.action.Group(words.OneLine(title))
	err := body()
	c.action.EndGroup()
	if err != nil {
		return err
	}
	return c.fail("write a group")
}

// Untrusted calls body with a writer whose text the runner takes for text,
// whatever it holds: commands are off meanwhile, and the word that turns them on
// again is drawn from random.
func (c *Commands) Untrusted(random io.Reader, body func(w io.Writer) error) error {
	word, err := token(random)
	if err != nil {
		return fmt.Errorf("write untrusted text: %w", err)
	}
	c.action.IssueCommand(&githubactions.Command{Name: "stop-commands", Message: word})
	text := &lineEnd{w: c.out, at: true}
	err = body(text)
	if !text.at {
		io.WriteString(c.out, "\n") // the sink keeps its error
	}
	c.action.IssueCommand(&githubactions.Command{Name: word})
	if err != nil {
		return err
	}
	return c.fail("write untrusted text")
}

// lineEnd knows whether what was written ended a line: a command must begin one.
type lineEnd struct {
	w  io.Writer
	at bool
}

// Write implements io.Writer.
func (l *lineEnd) Write(p []byte) (int, error) {
	if len(p) > 0 {
		l.at = p[len(p)-1] == '\n'
	}
	return l.w.Write(p)
}
