package page

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-ci/pawl/report"
	"github.com/pawl-ci/pawl/report/diagram"
	"github.com/pawl-ci/pawl/report/score"
	"github.com/pawl-ci/pawl/report/words"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// dot separates facts within a line.
const dot = " · "

// maxDetail is the length of a reason or a hint in the first section.
const maxDetail = 400

func (d *drawing) name(text string) string { return d.code(text, maxName) }

// head is the outcome and the few figures that everybody asks for. It holds no
// fence: the limit may cut it after any line.
func (d *drawing) head() {
	s := d.s
	emoji, _ := s.symbol()
	d.printf("## %s %s\n\n", emoji, s.headline(d.name))
	if s.Outcome.Detail != "" {
		d.printf("**Why:** %s\n\n", d.code(s.Outcome.Detail, maxDetail))
	}
	if s.Outcome.Hint != "" {
		d.printf("**Hint:** %s\n\n", d.code(s.Outcome.Hint, maxDetail))
	}
	d.table("Run", d.runText())
	if s.Recipe != nil {
		d.row("**Recipe**", d.recipeText())
	}
	d.row("**Branch**", d.branchText())
	d.row("**Model**", d.modelText())
	d.row("**Time**", s.timeText())
	d.row("**Tokens**", s.tokenText())
	d.row("**Cost**", s.costText())
	d.row("**Verification**", d.verifyText())
	if text := d.sandboxText(); text != "" {
		d.row("**Sandbox**", text)
	}
}

// sandboxText says whether the commands of the last attempt were confined, and
// what was not enforced. What was, stands where everything lies.
func (d *drawing) sandboxText() string {
	sandbox := d.s.sandbox()
	switch {
	case sandbox == nil:
		return ""
	case len(sandbox.Missing) > 0:
		return "in part" + dot + "**not enforced:** " + d.code(strings.Join(sandbox.Missing, dot), maxDetail)
	}
	return "commands were confined: " + words.Count(int64(len(sandbox.Enforced)), "restriction") + " held"
}

// sandbox is what confined the commands of the last attempt, or nil.
func (s summary) sandbox() *event.Sandbox {
	if len(s.Attempts) == 0 {
		return nil
	}
	return s.Attempts[len(s.Attempts)-1].Sandbox
}

func (d *drawing) runText() string {
	text := d.name(string(d.s.RunID))
	if !d.s.StartedAt.IsZero() {
		text += dot + d.s.StartedAt.Format("2006-01-02 15:04:05") + " UTC"
	}
	if n := len(d.s.Attempts); n > 1 {
		text += dot + words.Count(int64(n), "attempt")
	}
	return text
}

// recipeText names the recipe and how its policy judges the run.
func (d *drawing) recipeText() string {
	text := d.name(d.s.Recipe.Name) + " " + d.name(words.Short(string(d.s.Recipe.Digest)))
	if v := d.s.Evaluation; v != nil {
		text += dot + verdictMark(*v) + d.name(v.Metric) + " = " + d.name(score.Text(v.Value))
		for _, m := range v.Secondary {
			text += dot + d.name(m.Metric) + " = " + d.name(score.Text(m.Value))
		}
	}
	return text
}

// verdictMark says in a word what a policy makes of a run.
func verdictMark(v score.Verdict) string {
	switch {
	case !v.Decided:
		return "not decided: "
	case v.Success:
		return "success: "
	}
	return "no success: "
}

func (d *drawing) branchText() string {
	s := d.s
	if s.Branch == "" {
		return "none"
	}
	text := d.name(s.Branch)
	switch {
	case s.BaseRef != "":
		text += " from " + d.name(s.BaseRef) + " at " + d.name(words.Short(s.Base))
	case s.Base != "":
		text += " from " + d.name(words.Short(s.Base))
	}
	if s.Head != "" && s.Head != s.Base {
		text += ", now at " + d.name(words.Short(s.Head))
	}
	return text
}

// maxModels is how many models are named in one line.
const maxModels = 4

func (d *drawing) modelText() string {
	if len(d.s.Models) == 0 {
		return "none has answered"
	}
	var parts []string
	for i, m := range d.s.Models {
		if i == maxModels {
			parts = append(parts, fmt.Sprintf("and %d more", len(d.s.Models)-i))
			break
		}
		parts = append(parts, d.model(m.Name)+dot+words.Count(m.Spend.Calls, "call"))
	}
	return strings.Join(parts, ", ")
}

// model draws a model's name; the label of a scripted one always stays.
func (d *drawing) model(name string) string { return d.code(modelName(name, maxName), maxName) }

func (s summary) timeText() string {
	text := words.Span(s.RunningMS) + " running"
	if s.ParkedMS > 0 {
		text += dot + words.Span(s.ParkedMS) + " parked"
	}
	if s.DownMS > 0 {
		text += dot + words.Span(s.DownMS) + " down"
	}
	return text
}

func (s summary) tokenText() string {
	spent := s.Budget.Spent
	text := words.Number(spent.TokensIn) + " in"
	if spent.TokensCached > 0 {
		text += fmt.Sprintf(" (%d%% cached)", spent.CachedPercent())
	}
	text += dot + words.Number(spent.TokensOut) + " out"
	if spent.ForfeitedTokens > 0 {
		text += dot + words.Number(spent.ForfeitedTokens) + " forfeited"
	}
	if held := s.Budget.ReservedTokens; held > 0 {
		text += dot + words.Number(held) + " held"
	}
	if g := s.Budget.Gauge("max_tokens"); g.Max > 0 {
		text += dot + share(g) + " of " + g.MaxText()
	}
	return text
}

func (s summary) costText() string {
	text := s.Budget.Spent.CostText()
	if g := s.Budget.Gauge("max_cost_usd"); g.Max > 0 {
		text += " of " + g.MaxText()
	}
	if s.Budget.Spent.ForfeitedCostMicros > 0 {
		text += dot + s.Budget.Spent.ForfeitedCostMicros.String() + " of it forfeited"
	}
	if held := s.Budget.ReservedCostMicros; held > 0 {
		text += dot + held.String() + " more held"
	}
	return text
}

// verifySymbols are the states of verification in one character.
var verifySymbols = map[report.VerifyState]string{
	report.VerifyPassed: "✅", report.VerifyFailed: "❌", report.VerifyNoTests: "⚠️", report.VerifyStale: "⚠️", report.VerifyOff: "⚠️", report.VerifyNotRun: "–",
}

func (d *drawing) verifyText() string {
	v := d.s.Verification
	text := verifySymbols[v.State] + " " + v.State.Words()
	if len(v.Evidence) == 0 {
		return text + d.s.yet()
	}
	for _, c := range v.Evidence[len(v.Evidence)-1].Commands {
		text += dot + d.name(c.Command)
		if c.Counts != nil {
			text += " " + countsText(*c.Counts)
		}
		if len(text) > maxDetail {
			return text + " …"
		}
	}
	return text
}

// yet says that what was not done may still come.
func (s summary) yet() string {
	if s.Status == report.Done || s.Status == report.Failed || s.Verification.State != report.VerifyNotRun {
		return ""
	}
	return " yet"
}

func (d *drawing) next() {
	for _, a := range d.s.Next {
		d.printf("%s", a.Text)
		if a.Subject != "" {
			d.printf(" %s", d.name(a.Subject))
		}
		d.printf(":\n\n")
		if len(a.Commands) > 0 {
			d.fence("sh", strings.Join(a.Commands, "\n"))
		}
		d.printf("\n")
	}
}

func (d *drawing) warnings() {
	for _, w := range d.s.Warnings {
		d.printf("- %s\n", words.Prose(w))
	}
}

func (d *drawing) where() {
	s := d.s
	rows := [][2]string{
		{"Branch", s.Branch}, {"Head", s.Head}, {"Base", s.Base}, {"Workflow", s.Source},
		{"Worktree", s.Paths.Worktree}, {"Record", s.Paths.Record}, {"Report", s.Paths.Report},
	}
	if sandbox := s.sandbox(); sandbox != nil {
		rows = append(rows, [2]string{"Sandbox", strings.Join(sandbox.Enforced, dot)})
	}
	d.table("What", "Where")
	for _, r := range rows {
		if r[1] != "" {
			d.row(r[0], d.code(r[1], maxDetail))
		}
	}
}

// path is the graph with the way taken, and the way in words.
func (d *drawing) path() {
	if len(d.s.Path) == 0 {
		return
	}
	if graph := diagram.Mermaid(d.s.Flow, *d.s.Summary); graph != "" {
		d.fence("mermaid", graph)
		d.printf("\n")
	}
	d.printf("%s\n", d.s.pathWords(d.name, 40))
}

// pathWords is the way taken as one line; of a long one, both ends. Branches that
// were under way together stand in braces.
func (s summary) pathWords(name func(string) string, most int) string {
	return wayWords(s.Path, "", name, most)
}

// wayWords is the way of one branch, given all steps in and below it.
func wayWords(steps []report.Step, branch string, name func(string) string, most int) string {
	var parts []string
	for len(steps) > 0 {
		if steps[0].Branch == branch {
			parts = append(parts, stepWord(steps[0], name))
			steps = steps[1:]
			continue
		}
		end := slices.IndexFunc(steps, func(st report.Step) bool { return st.Branch == branch })
		if end < 0 {
			end = len(steps)
		}
		parts = append(parts, besides(steps[:end], branch, name, most))
		steps = steps[end:]
	}
	if n := len(parts); n > most {
		parts = slices.Concat(parts[:most/2], []string{fmt.Sprintf("… %d more …", n-most/2*2)}, parts[n-most/2:])
	}
	return strings.Join(parts, " → ")
}

// besides are the branches next to each other below branch, in the order in which
// they began.
func besides(steps []report.Step, branch string, name func(string) string, most int) string {
	var order []string
	below := make(map[string][]report.Step)
	for _, st := range steps {
		rest := strings.TrimPrefix(strings.TrimPrefix(st.Branch, branch), "/")
		first, _, _ := strings.Cut(rest, "/")
		path := strings.TrimPrefix(branch+"/"+first, "/")
		if below[path] == nil {
			order = append(order, path)
		}
		below[path] = append(below[path], st)
	}
	var ways []string
	for i, path := range order {
		if i == most && len(order) > most+1 {
			ways = append(ways, fmt.Sprintf("… %d more", len(order)-most))
			break
		}
		ways = append(ways, wayWords(below[path], path, name, most))
	}
	return "{ " + strings.Join(ways, " | ") + " }"
}

func stepWord(st report.Step, name func(string) string) string {
	word := name(st.Node)
	if v := st.Via; v != nil && v.Loop != "" {
		word += " (" + name(v.Loop) + " " + loopCount(*v) + ")"
	}
	if st.State == report.StepFailed && st.Node != ir.FailID {
		word += " ✗"
	}
	return word
}

// loopCount is "1 of 3", or "1" when the bound is not known.
func loopCount(v report.Via) string {
	if v.Max == 0 {
		return words.Number(int64(v.Count))
	}
	return fmt.Sprintf("%d of %d", v.Count, v.Max)
}
