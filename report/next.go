package report

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/report/words"
	"github.com/pawl-ci/pawl/runner/event"
)

// next says what a person may do, most useful first, with lines to paste.
func next(s *Summary, pawl string) []Action {
	resume := pawl + " resume " + words.ShellWord(string(s.RunID))
	switch s.Status {
	case Parked:
		return append(answers(s), look(s)...)
	case Stopped:
		return append(goOn(s, resume), look(s)...)
	case Running:
		if s.Process == ProcessAlive {
			return []Action{{Text: "See how far it is", Commands: []string{pawl + " inspect " + words.ShellWord(string(s.RunID))}}}
		}
		return []Action{{Text: "Go on where the record ends, if no process works on it", Commands: []string{resume}}}
	case Failed:
		return append(slices.Concat(seeFailing(s), look(s)), again(s, pawl)...)
	}
	return append(look(s), take(s)...)
}

func answers(s *Summary) []Action {
	var list []Action
	for _, g := range s.Gates {
		if g.State == GateOpen {
			list = append(list, Action{Text: "Answer the gate", Subject: g.Node, Commands: g.Lines})
		}
	}
	return list
}

// answerLines are the commands that answer g: one per choice of its first field
// that has a closed set of answers. qualified names the node too, which tells
// several open gates apart.
func answerLines(g *Gate, run, pawl string, qualified bool) []string {
	choice := slices.IndexFunc(g.Fields, func(f gates.Field) bool { return len(choices(f)) > 0 })
	values := []string{""}
	if choice >= 0 {
		values = choices(g.Fields[choice])
	}
	var lines []string
	for _, v := range values {
		line := pawl + " resume " + words.ShellWord(run)
		for i, f := range g.Fields {
			name := f.Name
			if qualified {
				name = g.Node + "." + name
			}
			switch {
			case i == choice:
				line += " --answer " + words.ShellWord(name+"="+v)
			case !f.Optional:
				line += " --answer " + words.ShellWord(name+"="+placeholder(f))
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// maxChoices is how many ready-made answers a gate offers.
const maxChoices = 6

func choices(f gates.Field) []string {
	if f.Kind == gates.Bool {
		return []string{"true", "false"}
	}
	return f.Enum[:min(len(f.Enum), maxChoices)]
}

func placeholder(f gates.Field) string {
	switch f.Kind {
	case gates.Bool:
		return "true"
	case gates.Int, gates.Float:
		return "0"
	case gates.JSON:
		return "{}"
	}
	if len(f.Enum) > 0 {
		return f.Enum[0]
	}
	return "…"
}

// goOn continues a run that stopped.
func goOn(s *Summary, resume string) []Action {
	switch event.StopReason(s.Outcome.Class) {
	case event.StopBudget:
		if flag := raised(s); flag != "" {
			return []Action{{Text: "Go on with a higher limit", Subject: s.Outcome.Limit, Commands: []string{resume + flag}}}
		}
		return []Action{{Text: "Mend what the hint says, then go on", Commands: []string{resume}}}
	case event.StopKilled:
		return []Action{{Text: "Lift the kill switch, then go on", Commands: []string{resume}}}
	case event.StopHost:
		return []Action{{Text: "Mend the cause, then go on: finished work is not repeated", Commands: []string{resume}}}
	}
	return []Action{{Text: "Go on where it stopped: finished work is not repeated", Commands: []string{resume}}}
}

// raised is the flag that doubles the limit that stopped the run. A limit of
// which nothing was used was not the trouble (a model without a price, say).
func raised(s *Summary) string {
	for _, g := range s.Budget.Limits {
		if g.Limit != s.Outcome.Limit || g.Max <= 0 || g.Max > 1<<61 || g.Used == 0 {
			continue
		}
		text := strings.ReplaceAll(g.Text(2*g.Max), ",", "")
		if g.Unit == "ms" {
			text = (time.Duration(2*g.Max) * time.Millisecond).String()
		}
		return " --" + strings.ReplaceAll(g.Limit, "_", "-") + " " + strings.TrimPrefix(text, "$")
	}
	return ""
}

// seeFailing repeats the commands that failed, where they failed.
func seeFailing(s *Summary) []Action {
	list := s.Verification.Evidence
	if s.Paths.Worktree == "" || len(list) == 0 || list[len(list)-1].Passed {
		return nil
	}
	a := Action{Text: "See the tests fail in the run's worktree"}
	for _, c := range list[len(list)-1].Commands {
		// A command of several lines has no exact form on one.
		if c.Exit != 0 && words.OneLine(c.Command) == c.Command {
			a.Commands = append(a.Commands, "cd "+words.ShellWord(path.Join(s.Paths.Worktree, c.Dir))+" && "+c.Command)
		}
	}
	if a.Commands == nil {
		return nil
	}
	return []Action{a}
}

// look shows the change; there is one as soon as there is a commit.
func look(s *Summary) []Action {
	if len(s.Commits) == 0 || s.Branch == "" || s.Base == "" {
		return nil
	}
	return []Action{{Text: "Look at the change", Commands: []string{"git diff " + words.ShellWord(words.Short(s.Base)) + "..." + words.ShellWord(s.Branch)}}}
}

// take merges a change that is done.
func take(s *Summary) []Action {
	if len(s.Commits) == 0 || s.Branch == "" {
		return nil
	}
	return []Action{{Text: "Take it", Commands: []string{"git merge " + words.ShellWord(s.Branch)}}}
}

func again(s *Summary, pawl string) []Action {
	if s.Source == "" {
		return nil
	}
	return []Action{{Text: "Try again on a fresh branch", Commands: []string{pawl + " run " + words.ShellWord(s.Source)}}}
}
