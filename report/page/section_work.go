package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/report"
	"github.com/pawl-ci/pawl/report/words"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// Bounds of the tables: a report is read by people, and the record holds the
// rest.
const (
	firstSteps  = 40
	lastSteps   = 120
	maxFiles    = 100
	maxCommits  = 50
	maxGates    = 20
	maxCommands = 20
	maxFailing  = 20
	tailLines   = 60
	tailBytes   = 6000
	maxValue    = 300
	textWidth   = 96
)

func (d *drawing) timeline() {
	if len(d.s.Path) == 0 {
		return
	}
	heads := []string{"Step", ">Calls", ">Tools", ">Time", ">Tokens in", ">Cached", ">Out", ">Forfeited", ">Cost", "Outcome"}
	lost := d.s.Budget.Spent.ForfeitedCalls > 0
	if !lost {
		heads = slices.DeleteFunc(heads, func(h string) bool { return h == ">Forfeited" })
	}
	blank := make([]string, len(heads)-1)
	d.table(heads...)
	for i, st := range d.s.Path {
		switch left := len(d.s.Path) - firstSteps - lastSteps; {
		case left <= 0 || i < firstSteps || i >= firstSteps+left:
			d.row(d.stepCells(st, lost)...)
		case i == firstSteps:
			d.row(append([]string{fmt.Sprintf("… %s more …", words.Number(int64(left)))}, blank...)...)
		}
	}
	cells := append([]string{"**all**"}, spendCells(d.s.Budget.Spent, d.s.Tools.Calls, d.s.RunningMS, lost)...)
	d.row(append(cells, "")...)
}

func (d *drawing) stepCells(st report.Step, lost bool) []string {
	name := d.name(st.Node)
	if st.Visit > 1 {
		name += fmt.Sprintf("&nbsp;%d", st.Visit)
	}
	if st.Branch == st.Node {
		name = "⑂&nbsp;" + name
	} else if st.Branch != "" {
		name = "⑂&nbsp;" + name + " in " + d.name(st.Branch)
	}
	return append(append([]string{name}, spendCells(st.Spend, int64(st.ToolCalls), st.RunningMS, lost)...), d.outcome(st))
}

func branchCount(n int) string {
	if n == 1 {
		return "1 branch"
	}
	return fmt.Sprintf("%d branches", n)
}

func spendCells(s report.Spend, tools, ms int64, lost bool) []string {
	time := strings.ReplaceAll(words.Span(ms), " ", "&nbsp;")
	cells := []string{some(s.Calls + s.ForfeitedCalls), some(tools), time, some(s.TokensIn), some(s.TokensCached), some(s.TokensOut)}
	if lost {
		cells = append(cells, some(s.ForfeitedTokens))
	}
	cost := ""
	if s.Used() {
		cost = s.CostText()
	}
	return append(cells, cost)
}

// some is a number, or nothing for none.
func some(n int64) string {
	if n == 0 {
		return ""
	}
	return words.Number(n)
}

// stepWords are the states of a step for people.
var stepWords = map[report.StepState]string{
	report.StepArrived: "not begun", report.StepRunning: "⏳ running", report.StepWaiting: "⏸️ waiting for a person",
	report.StepInterrupted: "⚠️ interrupted", report.StepFinished: "✓", report.StepFailed: "❌ failed",
}

func (d *drawing) outcome(st report.Step) string {
	parts := []string{stepWords[st.State]}
	if st.Failure != nil {
		parts = append(parts, d.name(st.Failure.Class)+": "+d.code(st.Failure.Detail, 160))
	}
	if len(st.Chosen) > 0 {
		parts = append(parts, "chose "+d.name(strings.Join(st.Chosen, ", "))+": "+d.code(st.Reason, 160))
	}
	if st.By != "" {
		parts = append(parts, "answered by model "+d.name(st.By))
	}
	for _, f := range st.Facts {
		parts = append(parts, d.name(f.Name)+": "+factValue(d, f.Value))
	}
	if st.Exit != nil && len(st.Facts) == 0 {
		parts = append(parts, fmt.Sprintf("exit %d", *st.Exit))
	}
	if st.Attempts > 1 {
		parts = append(parts, words.Count(int64(st.Attempts), "attempt"))
	}
	if st.Retries > 0 {
		parts = append(parts, "begun again "+words.Count(int64(st.Retries), "time"))
	}
	if st.CutBytes > 0 {
		parts = append(parts, fmt.Sprintf("%s bytes of tool results left out of the conversation", words.Number(st.CutBytes)))
	}
	if st.Repairs > 0 {
		parts = append(parts, words.Count(int64(st.Repairs), "repair"))
	}
	if st.Merged > 0 {
		parts = append(parts, branchCount(st.Merged)+" merged")
	}
	if len(st.Conflicts) > 0 {
		parts = append(parts, "conflict in "+d.code(strings.Join(st.Conflicts, ", "), 160))
	}
	if st.Commit != "" {
		parts = append(parts, "commit "+d.name(words.Short(st.Commit)))
	}
	return strings.Join(parts, dot)
}

func factValue(d *drawing, value string) string {
	if value == "yes" || value == "no" {
		return value
	}
	return d.name(value)
}

func (d *drawing) verification() {
	v := d.s.Verification
	if len(v.Evidence) == 0 {
		return
	}
	last := v.Evidence[len(v.Evidence)-1]
	d.printf("%s %s", verifySymbols[v.State], v.State.Words())
	if last.Reason != "" {
		d.printf(": %s", d.code(last.Reason, maxDetail))
	}
	d.printf("\n")
	d.commands(last.Commands)
	if n := len(v.Evidence) - 1; n > 0 {
		d.earlier(v.Evidence[:n])
	}
}

func (d *drawing) commands(list []event.CommandEvidence) {
	if len(list) == 0 {
		return
	}
	d.printf("\n")
	d.table("Command", "Directory", ">Exit", "Tests", ">Time")
	for _, c := range list[:min(len(list), maxCommands)] {
		exit, tests := fmt.Sprintf("%s %d", passSymbol(c.Exit == 0), c.Exit), ""
		if c.TimedOut {
			exit = "❌ timed out"
		}
		if c.Counts != nil {
			tests = countsText(*c.Counts)
		}
		dir := c.Dir
		if dir == "" {
			dir = "."
		}
		d.row(d.code(c.Command, maxValue), d.name(dir), exit, tests, words.Span(c.Millis))
	}
	for _, c := range list[:min(len(list), maxCommands)] {
		d.output(c)
	}
}

func passSymbol(passed bool) string {
	if passed {
		return "✅"
	}
	return "❌"
}

func countsText(c event.Counts) string {
	text := fmt.Sprintf("%d passed", c.Passed)
	if c.Unit != "" {
		text = words.Count(int64(c.Passed), c.Unit) + " passed"
	}
	if c.Failed > 0 {
		text += fmt.Sprintf(", %d failed", c.Failed)
	}
	if c.Skipped > 0 {
		text += fmt.Sprintf(", %d skipped", c.Skipped)
	}
	return text
}

// output shows what a command printed last: open when it failed.
func (d *drawing) output(c event.CommandEvidence) {
	if c.Counts != nil && len(c.Counts.Failing) > 0 {
		d.printf("\nFailing in %s:\n\n", d.name(c.Command))
		for _, name := range c.Counts.Failing[:min(len(c.Counts.Failing), maxFailing)] {
			d.printf("- %s\n", d.code(name, maxValue))
		}
	}
	if strings.TrimSpace(c.Tail) == "" {
		return
	}
	open := ""
	if c.Exit != 0 {
		open = " open"
	}
	text, cut := words.Tail(c.Tail, tailLines, tailBytes)
	what := "Output"
	if cut {
		what = "End of the output"
	}
	d.printf("\n<details%s><summary>%s of %s</summary>\n\n", open, what, d.htmlName(c.Command))
	d.fence("text", text)
	d.printf("\n</details>\n")
}

// htmlName draws untrusted text where HTML is read and markdown is not.
func (d *drawing) htmlName(text string) string {
	return "<code>" + words.Entities(words.Clip(words.OneLine(text), maxName)) + "</code>"
}

func (d *drawing) earlier(list []report.Evidence) {
	d.printf("\nEarlier: ")
	const most = 10
	if n := len(list) - most; n > 0 {
		d.printf("%s more, ", words.Number(int64(n)))
		list = list[n:]
	}
	for i, e := range list {
		if i > 0 {
			d.printf(", ")
		}
		word := "failed"
		if e.Passed {
			word = "passed"
		}
		d.printf("%s %d %s", d.name(e.Node), e.Visit, word)
	}
	d.printf(".\n")
}

func (d *drawing) gates() {
	for i, g := range d.s.Gates {
		if i == maxGates {
			d.printf("… and %d more.\n", len(d.s.Gates)-i)
			return
		}
		d.printf("#### %s %s\n\n", d.name(g.Node), d.gateWords(g))
		if strings.TrimSpace(g.Text) != "" {
			d.fence("text", words.Wrap(words.Clip(g.Text, tailBytes), textWidth))
			d.printf("\n")
		}
		if g.State == report.GateAnswered {
			d.values(g.Values)
		} else {
			d.asked(g)
		}
		d.printf("\n")
	}
}

func (d *drawing) gateWords(g report.Gate) string {
	switch g.State {
	case report.GateAnswered:
		text := "answered"
		if g.Via == report.ByModel {
			return text + " in place of a person by model " + d.name(g.By)
		}
		if g.By != "" {
			text += " by " + d.name(g.By)
		}
		if g.Via != "" {
			text += " through " + d.name(g.Via)
		}
		return text + " after " + words.Span(g.WaitedMS)
	case report.GateClosed:
		return "was not answered: the run ended first"
	}
	if g.Ref != "" {
		return "waits for an answer at " + d.code(g.Ref, maxValue)
	}
	return "waits for an answer"
}

// values are an answer, field by field in the order of their names.
func (d *drawing) values(raw json.RawMessage) {
	v, err := ir.Decode(raw)
	object, ok := v.(map[string]any)
	if err != nil || !ok || len(object) == 0 {
		return
	}
	names := make([]string, 0, len(object))
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names)
	d.table("Field", "Answer")
	for _, name := range names {
		text, err := ir.Render(object[name])
		if err == nil {
			d.row(d.name(name), d.code(text, maxValue))
		}
	}
}

// asked is what an open gate wants, and what it is about.
func (d *drawing) asked(g report.Gate) {
	if len(g.Fields) > 0 {
		d.table("Field", "Wants")
	}
	for _, f := range g.Fields {
		d.row(d.name(f.Name), d.wants(f))
	}
	var pretty bytes.Buffer
	if len(g.Input) > 2 && json.Indent(&pretty, g.Input, "", "  ") == nil {
		d.printf("\n<details><summary>What came in</summary>\n\n")
		d.fence("json", words.Clip(pretty.String(), tailBytes))
		d.printf("\n</details>\n")
	}
}

func (d *drawing) wants(f gates.Field) string {
	text := d.name(string(f.Kind))
	if len(f.Enum) > 0 {
		drawn := make([]string, len(f.Enum))
		for i, e := range f.Enum {
			drawn[i] = d.name(e)
		}
		text = "one of " + strings.Join(drawn, ", ")
	}
	if f.Optional {
		text += ", may be left out"
	}
	return text
}
