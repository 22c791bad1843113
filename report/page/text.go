package page

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"
	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/report"
	"github.com/pawl-ci/pawl/report/score"
	"github.com/pawl-ci/pawl/report/words"
	"github.com/pawl-ci/pawl/runner/event"
)

// shortName is the length at which a name is cut off on a terminal.
const shortName = 40

// textColumns is the width that a line on a terminal keeps to where it can.
const textColumns = 110

// maxTextLines is the height of [Text].
const maxTextLines = 15

// maxTextCommands is how many lines to paste it shows at most.
const maxTextCommands = 6

// Text writes the last lines of a run for a terminal: at most 15, with ANSI
// colours when color is set. The error is w's.
func Text(w io.Writer, sum report.Summary, color bool) error {
	s := summary{&sum}
	_, plain := s.symbol()
	lines := []string{paint(plain+" "+columns(s.plain(), 2*textColumns), s.colour(), color)}
	next := s.commands()
	for _, f := range s.textFacts() {
		if f[1] != "" && len(lines)+len(next) < maxTextLines {
			lines = append(lines, paint(fmt.Sprintf("  %-8s ", f[0]), dim, color)+columns(f[1], textColumns-11))
		}
	}
	for i, command := range next {
		name := ""
		if i == 0 {
			name = "next"
		}
		lines = append(lines, paint(fmt.Sprintf("  %-8s ", name), dim, color)+command)
	}
	if _, err := io.WriteString(w, strings.Join(lines, "\n")+"\n"); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// textFacts are the named lines of the terminal form, most important first; empty
// ones, and those for which there is no room, are left out.
func (s summary) textFacts() [][2]string {
	where := s.Paths.Report
	if where == "" {
		where = s.Paths.Record
	}
	return [][2]string{
		{"why", s.Outcome.Detail},
		{"hint", s.Outcome.Hint},
		{"run", s.runLine()},
		{"recipe", s.recipeLine()},
		{"branch", s.branchLine()},
		{"verify", s.verifyLine()},
		{"path", s.pathLine()},
		{"model", s.modelLine()},
		{"spent", s.tokenText() + dot + s.costText()},
		{"report", where},
		{"time", s.timeText()},
		{"diff", s.diffLine()},
	}
}

// pathLine shows as many steps as fit into a line; both ends always.
func (s summary) pathLine() string {
	for most := 14; most > 2; most -= 2 {
		if line := s.pathWords(words.OneLine, most); widths.StringWidth(line) <= textColumns-11 {
			return line
		}
	}
	return s.pathWords(words.OneLine, 2)
}

func (s summary) runLine() string {
	text := string(s.RunID)
	if n := len(s.Attempts); n > 1 {
		text += dot + words.Count(int64(n), "attempt")
	}
	return text
}

func (s summary) recipeLine() string {
	if s.Recipe == nil {
		return ""
	}
	text := s.Recipe.Name
	if v := s.Evaluation; v != nil {
		text += dot + verdictMark(*v) + v.Metric + " = " + score.Text(v.Value)
	}
	return text
}

func (s summary) branchLine() string {
	if s.Branch == "" {
		return ""
	}
	text := s.Branch
	if s.Head != "" && s.Head != s.Base {
		text += " at " + words.Short(s.Head)
	}
	return text
}

func (s summary) verifyLine() string {
	text := s.Verification.State.Words() + s.yet()
	if n := len(s.Verification.Evidence); n > 0 {
		for _, c := range s.Verification.Evidence[n-1].Commands {
			text += dot + c.Command
			if c.Counts != nil {
				text += " " + countsText(*c.Counts)
			}
		}
	}
	return text
}

func (s summary) modelLine() string {
	var parts []string
	for _, m := range s.Models {
		parts = append(parts, modelName(m.Name, shortName)+dot+words.Count(m.Spend.Calls, "call"))
	}
	if s.Tools.Calls > 0 {
		parts = append(parts, words.Count(s.Tools.Calls, "tool call"))
	}
	return strings.Join(parts, ", ")
}

func (s summary) diffLine() string {
	if s.Diff == nil || len(s.Diff.Files) == 0 {
		return ""
	}
	return fmt.Sprintf("%s +%d −%d", words.Count(int64(len(s.Diff.Files)), "file"), s.Diff.Added, s.Diff.Removed)
}

// commands are the lines to paste, in order of use. None is ever cut, because
// somebody will paste it.
func (s summary) commands() []string {
	var list []string
	for _, a := range s.Next {
		for _, c := range a.Commands {
			list = append(list, words.OneLine(c))
		}
	}
	if n := len(list) - maxTextCommands; n > 0 {
		list = append(list[:maxTextCommands-1], fmt.Sprintf("… and %d more in the report", n+1))
	}
	return list
}

// The colours of a terminal.
const (
	dim    = "2"
	green  = "1;32"
	yellow = "1;33"
	red    = "1;31"
)

func (s summary) colour() string {
	emoji, _ := s.symbol()
	switch emoji {
	case "✅":
		return green
	case "❌", "🛑":
		return red
	}
	return yellow
}

func paint(text, colour string, on bool) string {
	if !on || text == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// widths measures text the same way on every machine: the library's default
// would ask the environment.
var widths = &runewidth.Condition{StrictEmojiNeutral: true}

// columns cuts text to n columns of a terminal.
func columns(text string, n int) string { return widths.Truncate(words.OneLine(text), n, "…") }

// Row is one line of a list of runs.
type Row struct {
	RunID      event.RunID    `json:"run_id"`
	Workflow   string         `json:"workflow"`
	Status     report.Status  `json:"status"`
	Process    report.Process `json:"process,omitempty"`
	StartedAt  time.Time      `json:"started_at"`
	Age        time.Duration  `json:"-"` // since StartedAt, as the caller's clock has it
	Branch     string         `json:"branch"`
	CostMicros budget.Micros  `json:"cost_micros"`
	Unpriced   bool           `json:"unpriced"`
}

// RowOf reduces a summary to its line in a list; now gives the age.
func RowOf(s report.Summary, now time.Time) Row {
	return Row{
		RunID: s.RunID, Workflow: s.Workflow, Status: s.Status, Process: s.Process, StartedAt: s.StartedAt,
		Age: max(now.Sub(s.StartedAt), 0), Branch: s.Branch,
		CostMicros: s.Budget.Spent.Cost(), Unpriced: s.Budget.Spent.Unpriced,
	}
}

// List writes runs as a table for a terminal, in the order given. Without rows
// it writes nothing. The error is w's.
func List(w io.Writer, rows []Row) error {
	if len(rows) == 0 {
		return nil
	}
	cells := [][]string{{"RUN", "WORKFLOW", "STATUS", "AGE", "COST", "BRANCH"}}
	for _, r := range rows {
		cost := report.Spend{CostMicros: r.CostMicros, Unpriced: r.Unpriced}.CostText()
		status := string(r.Status)
		if r.Process == report.ProcessGone {
			status = "interrupted"
		}
		cells = append(cells, []string{
			words.OneLine(string(r.RunID)), words.Clip(words.OneLine(r.Workflow), shortName), status, words.Span(r.Age.Milliseconds()), cost, words.OneLine(r.Branch),
		})
	}
	if _, err := io.WriteString(w, aligned(cells)); err != nil {
		return fmt.Errorf("write list: %w", err)
	}
	return nil
}

// aligned pads every column but the last.
func aligned(rows [][]string) string {
	wide := make([]int, len(rows[0]))
	for _, r := range rows {
		for i, c := range r {
			wide[i] = max(wide[i], widths.StringWidth(c))
		}
	}
	var b strings.Builder
	for _, r := range rows {
		for i, c := range r[:len(r)-1] {
			b.WriteString(c + strings.Repeat(" ", wide[i]-widths.StringWidth(c)+2))
		}
		b.WriteString(r[len(r)-1] + "\n")
	}
	return b.String()
}
