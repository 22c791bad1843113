package page

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/report"
	"github.com/pawl-ci/pawl/report/score"
	"github.com/pawl-ci/pawl/report/versus"
	"github.com/pawl-ci/pawl/report/words"
	"github.com/pawl-ci/pawl/runner/event"
)

// winnerMark stands beside the recipe that won.
const winnerMark = "★"

// Compare writes a comparison for a terminal: one row for each recipe, the best
// first, one for each run when a recipe has several, and what is missing. Cells
// are never cut where they name a run. The error is w's.
func Compare(w io.Writer, c versus.Comparison, color bool) error {
	v := ranked{&c, words.OneLine}
	var b strings.Builder
	b.WriteString(paint(v.title(), v.colour(), color) + "\n")
	table := aligned(append([][]string{v.heads()}, v.rows()...))
	b.WriteString(table)
	if runs := v.runs(); len(runs) > 0 {
		b.WriteString("\n" + aligned(append([][]string{{"RUN", "RECIPE", "REPEAT", "SUCCESS", v.metric(), "TOKENS", "COST", "TIME", "OUTCOME"}}, runs...)))
	}
	for _, line := range v.notes() {
		b.WriteString(paint("  "+line, dim, color) + "\n")
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write comparison: %w", err)
	}
	return nil
}

// CompareMarkdown writes the same as Markdown, for a summary or a comment. Names
// stand in code spans. The error is w's.
func CompareMarkdown(w io.Writer, c versus.Comparison) error {
	d := &drawing{s: summary{&report.Summary{}}}
	v := ranked{&c, func(text string) string { return d.code(text, maxDetail) }}
	d.printf("## %s\n\n", v.title())
	d.table(">#", "Recipe", ">Success", ">"+d.code(v.metric(), maxName), ">Tokens", ">Cost", ">Time", ">Effective tokens per verified change", ">Cost per verified change", "Outcome", "Run")
	for _, row := range v.rows() {
		d.row(row...)
	}
	if runs := v.runs(); len(runs) > 0 {
		d.printf("\n### Runs\n\n")
		d.table("Run", "Recipe", ">Repeat", "Success", ">"+d.code(v.metric(), maxName), ">Tokens", ">Cost", ">Time", "Outcome")
		for _, row := range runs {
			d.row(row...)
		}
	}
	d.printf("\n")
	for _, line := range v.notes() {
		d.printf("- %s\n", words.Prose(line))
	}
	if _, err := io.WriteString(w, d.b.String()); err != nil {
		return fmt.Errorf("write comparison: %w", err)
	}
	return nil
}

// ranked adds to a comparison how it is said; name draws what comes from
// elsewhere.
type ranked struct {
	*versus.Comparison
	name func(string) string
}

func (v ranked) title() string {
	flow := v.name(words.Clip(v.Workflow, maxName))
	switch {
	case v.Winner != "":
		return fmt.Sprintf("%s: %s wins", flow, v.name(v.Winner))
	case v.Ended < v.Planned:
		return fmt.Sprintf("%s: not decided, %d of %s ended", flow, v.Ended, words.Count(int64(v.Planned), "run"))
	case !slices.ContainsFunc(v.Recipes, func(r versus.Contender) bool { return r.Successes > 0 }):
		return flow + ": no recipe succeeds"
	}
	return flow + ": the best recipes are equal"
}

func (v ranked) colour() string {
	if v.Winner != "" {
		return green
	}
	return yellow
}

func (v ranked) metric() string {
	if v.Metric == "" {
		return "METRIC"
	}
	return words.OneLine(v.Metric)
}

func (v ranked) heads() []string {
	return []string{"#", "RECIPE", "SUCCESS", v.metric(), "TOKENS", "COST", "TIME", "ET/VERIFIED", "USD/VERIFIED", "OUTCOME", "RUN"}
}

func (v ranked) rows() [][]string {
	var rows [][]string
	for _, r := range v.Recipes {
		place := fmt.Sprint(r.Place)
		if r.Winner {
			place = winnerMark
		}
		row := []string{place, v.name(r.Name), fmt.Sprintf("%d of %d", r.Successes, r.Planned)}
		if r.Runs == 0 {
			rows = append(rows, append(row, "–", "–", "–", "–", "–", "–", "not begun", "–"))
			continue
		}
		row = append(row, v.value(r), words.Number(r.Tokens), costText(budget.Micros(r.Cost), r.Unpriced), words.Span(r.Millis))
		rows = append(rows, append(row, perVerified(r)...))
		rows[len(rows)-1] = append(rows[len(rows)-1], v.outcomes(r), v.runName(r))
	}
	return rows
}

// value is the metric of a recipe; of yes and no that differ, how often yes.
func (v ranked) value(r versus.Contender) string {
	if r.Value != nil {
		return v.known(r.Value)
	}
	yes, known := 0, 0
	for _, run := range r.List {
		if run.Verdict == nil {
			continue
		}
		if b, truth := run.Verdict.Value.(bool); truth {
			known++
			if b {
				yes++
			}
		}
	}
	if known == 0 {
		return "–"
	}
	return fmt.Sprintf("true in %d of %d", yes, known)
}

// known draws a value; what a model wrote is drawn like a name.
func (v ranked) known(value any) string {
	if _, number := score.Number(value); number {
		return words.OneLine(score.Text(value))
	}
	if value == nil {
		return "–"
	}
	return v.name(words.Clip(score.Text(value), shortName))
}

func perVerified(r versus.Contender) []string {
	if r.EffectivePerVerified == nil {
		return []string{"–", "–"}
	}
	return []string{words.Number(*r.EffectivePerVerified), costText(budget.Micros(*r.CostPerVerified), r.Unpriced)}
}

func costText(cost budget.Micros, unpriced bool) string {
	return report.Spend{CostMicros: cost, Unpriced: unpriced}.CostText()
}

// outcomes is how the runs of a recipe ended: one by its reason, several counted.
func (v ranked) outcomes(r versus.Contender) string {
	if len(r.List) == 1 && r.Planned == 1 {
		return outcomeText(r.List[0])
	}
	var order []string
	count := make(map[string]int)
	for _, run := range r.List {
		status := runStatus(run)
		if count[status]++; count[status] == 1 {
			order = append(order, status)
		}
	}
	slices.Sort(order)
	for i, status := range order {
		order[i] = fmt.Sprintf("%d %s", count[status], status)
	}
	if missing := r.Planned - len(r.List); missing > 0 {
		order = append(order, fmt.Sprintf("%d not begun", missing))
	}
	return strings.Join(order, ", ")
}

func runStatus(r versus.ComparedRun) string {
	if r.Process == report.ProcessGone {
		return "interrupted"
	}
	return string(r.Status)
}

// outcomeText is the status and, when it is no success by itself, the class of
// what happened.
func outcomeText(r versus.ComparedRun) string {
	text := runStatus(r)
	if class := r.Outcome.Class; class != "" && r.Status != report.Parked {
		text += " (" + words.OneLine(class)
		if r.Outcome.Limit != "" {
			text += ": " + words.OneLine(r.Outcome.Limit)
		}
		text += ")"
	}
	return text
}

func (v ranked) runName(r versus.Contender) string {
	if len(r.List) == 1 {
		return v.name(string(r.List[0].RunID))
	}
	return words.Count(int64(len(r.List)), "run")
}

// runs has a row for each run when some recipe has more than one.
func (v ranked) runs() [][]string {
	var rows [][]string
	several := false
	for _, r := range v.Recipes {
		several = several || len(r.List) > 1
		for _, run := range r.List {
			value, success := any(nil), "no"
			if run.Verdict != nil {
				value = run.Verdict.Value
			}
			switch {
			case run.Success:
				success = "yes"
			case !run.Ended:
				success = "–"
			}
			rows = append(rows, []string{v.name(string(run.RunID)), v.name(r.Name), fmt.Sprint(run.Repeat), success, v.known(value),
				words.Number(run.Tokens), costText(run.Cost, run.Unpriced), words.Span(run.Millis), outcomeText(run)})
		}
	}
	if !several {
		return nil
	}
	return rows
}

// notes say what the table leaves out, and what can be done.
func (v ranked) notes() []string {
	var notes []string
	line := fmt.Sprintf("%d of %s ended", v.Ended, words.Count(int64(v.Planned), "run"))
	if v.Base != "" {
		line += ", all from commit " + words.Short(v.Base)
	}
	line += ", " + costText(v.Spent, v.Unpriced) + " spent"
	if v.MaxCost > 0 {
		line += " of " + v.MaxCost.String() + " for all"
	}
	notes = append(notes, line)
	if v.Metric == "" && slices.ContainsFunc(v.Recipes, judged) {
		notes = append(notes, "the recipes are judged by different metrics: success, then cost decides")
	}
	for _, r := range v.Recipes {
		for _, run := range r.List {
			if again := goOn(run); again != "" {
				notes = append(notes, again)
			}
		}
	}
	if v.ID != "" {
		notes = append(notes, "shown again by: pawl compare --runs "+words.ShellWord(v.ID))
	}
	return notes
}

func judged(r versus.Contender) bool {
	return slices.ContainsFunc(r.List, func(run versus.ComparedRun) bool { return run.Verdict != nil })
}

// goOn is the line that takes a run up again, or "".
func goOn(r versus.ComparedRun) string {
	id := words.ShellWord(string(r.RunID))
	switch {
	case r.Status == report.Parked:
		return "waiting for a person: pawl resume " + id + " --answer FIELD=VALUE"
	case r.Status == report.Stopped && r.Outcome.Class != string(event.StopBudget), r.Status == report.Running && r.Process == report.ProcessGone:
		return "cut short: pawl resume " + id
	}
	return ""
}
