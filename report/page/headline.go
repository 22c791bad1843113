package page

import (
	"slices"
	"strings"

	"github.com/pawl-ci/pawl/report"
	"github.com/pawl-ci/pawl/report/words"
	"github.com/pawl-ci/pawl/runner/event"
)

// Headline is the outcome in one sentence of plain text, without a symbol: for a
// check's title, a log line, a notification.
func Headline(s report.Summary) string { return summary{&s}.plain() }

// summary adds to a report's summary how it is said.
type summary struct{ *report.Summary }

func (s summary) plain() string {
	return s.headline(func(name string) string { return words.Clip(words.OneLine(name), maxName) })
}

// maxName is the length at which a name is cut off in sentences and tables.
const maxName = 80

// symbol is the outcome in one character: for markdown, and for a terminal.
func (s summary) symbol() (emoji, plain string) {
	switch {
	case s.Status == report.Done && s.Vouched():
		return "✅", "✓"
	case s.Status == report.Done:
		return "⚠️", "!"
	case s.Status == report.Failed:
		return "❌", "✗"
	case s.Status == report.Parked:
		return "⏸️", "‖"
	case s.Status == report.Stopped:
		return "🛑", "■"
	case s.Process == report.ProcessGone:
		return "⚠️", "!"
	}
	return "⏳", "…"
}

// headline says the outcome; name draws names that come from elsewhere.
func (s summary) headline(name func(string) string) string {
	flow := name(s.Workflow)
	switch s.Status {
	case report.Done:
		return s.doneWords(flow)
	case report.Failed:
		return "failed: " + flow + ", because " + s.failedWords(name)
	case report.Parked:
		return "parked: " + flow + " waits for a person at " + s.openGates(name)
	case report.Stopped:
		return "stopped: " + s.stoppedWords(flow, name)
	}
	at := ""
	if s.Outcome.Node != "" {
		at = " at " + name(s.Outcome.Node)
	}
	switch s.Process {
	case report.ProcessAlive:
		return "running: " + flow + " is" + at
	case report.ProcessGone:
		return "interrupted: the process that worked on " + flow + " is gone" + strings.Replace(at, " at", ", it was at", 1)
	}
	return "running, or interrupted: the record of " + flow + " ends" + at
}

func (s summary) doneWords(flow string) string {
	text := "done: "
	if !s.Vouched() {
		text = "done, but not verified: "
	}
	changed := s.changedWords()
	if changed == "" {
		changed = "had nothing to change"
	}
	text += flow + " " + changed
	if len(s.Commits) > 0 || s.Verification.State == report.VerifyPassed {
		text += ", " + s.Verification.State.Words()
	}
	return text
}

// changedWords is "changed 2 files in 1 commit", or "" without a commit.
func (s summary) changedWords() string {
	commits := int64(len(s.Commits))
	switch {
	case commits == 0:
		return ""
	case s.Diff != nil:
		return "changed " + words.Count(int64(len(s.Diff.Files)), "file") + " in " + words.Count(commits, "commit")
	}
	return "made " + words.Count(commits, "commit")
}

func (s summary) failedWords(name func(string) string) string {
	text := failureWords[s.Outcome.Class]
	if text == "" {
		text = "it did not reach its goal"
	}
	if s.Outcome.Node != "" {
		text += " at " + name(s.Outcome.Node)
	}
	return text
}

func (s summary) openGates(name func(string) string) string {
	var names []string
	for _, g := range s.Gates {
		if drawn := name(g.Node); g.State == report.GateOpen && !slices.Contains(names, drawn) {
			names = append(names, drawn)
		}
	}
	if len(names) == 0 {
		return "a gate"
	}
	return strings.Join(names[:min(len(names), 3)], ", ")
}

func (s summary) stoppedWords(flow string, name func(string) string) string {
	switch event.StopReason(s.Outcome.Class) {
	case event.StopBudget:
		return flow + " reached its limit " + name(s.Outcome.Limit)
	case event.StopCancelled:
		return flow + " was cancelled"
	case event.StopKilled:
		return "the kill switch is on"
	case event.StopHost:
		return "something outside " + flow + " failed"
	}
	return flow + " ended without an outcome"
}

// scriptLabel marks a scripted model's name.
const scriptLabel = "(script)"

// modelName shortens a model's name without ever losing the label that says that
// no model was at work.
func modelName(name string, n int) string {
	name = words.OneLine(name)
	if base, scripted := strings.CutSuffix(name, scriptLabel); scripted {
		return words.Clip(strings.TrimSpace(base), n-len(scriptLabel)-1) + " " + scriptLabel
	}
	return words.Clip(name, n)
}

// failureWords says what a class of failure means.
var failureWords = map[string]string{
	string(event.FailNode):          "the path reached fail",
	string(event.FailLoopExhausted): "a loop was used up without success",
	string(event.FailNoEdge):        "no edge was open",
	string(event.FailVerify):        "the repository's tests do not pass",
	string(event.FailOutput):        "an output did not fit",
	string(event.FailInput):         "a value was missing or of the wrong type",
	string(event.FailCommand):       "a command failed",
	string(event.FailModel):         "the model could not be used",
	string(event.FailSteps):         "tool_max_steps was used up",
	string(event.FailTimeout):       "time ran out",
}
