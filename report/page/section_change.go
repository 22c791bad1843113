package page

import (
	"fmt"
	"strings"

	"github.com/pawl-ci/pawl/report"
	"github.com/pawl-ci/pawl/report/words"
)

// changes are commits and files.
func (d *drawing) changes() {
	if len(d.s.Commits) > 0 {
		d.table("Commit", "Made by", "What it says")
		for i, c := range d.s.Commits {
			if i == maxCommits {
				d.row(fmt.Sprintf("… and %d more", len(d.s.Commits)-i), "", "")
				break
			}
			subject := ""
			if c.Subject != "" {
				subject = d.code(c.Subject, 160)
			}
			d.row(d.name(words.Short(c.Commit)), fmt.Sprintf("%s %d", d.name(c.Node), c.Visit), subject)
		}
	}
	if d.s.Diff != nil {
		d.printf("\n")
		d.files(*d.s.Diff)
	}
}

func (d *drawing) files(diff report.Diff) {
	if len(diff.Files) == 0 {
		d.printf("No file differs from the base.\n")
		return
	}
	d.table("File", ">Added", ">Removed", "")
	for i, f := range diff.Files {
		if i == maxFiles {
			d.row(fmt.Sprintf("… and %s more", words.Number(int64(len(diff.Files)-i))), "", "", "")
			break
		}
		added, removed := fmt.Sprintf("+%d", f.Added), fmt.Sprintf("−%d", f.Removed)
		if f.Binary {
			added, removed = "", ""
		}
		d.row(d.code(f.Path, 160), added, removed, d.fileNote(f))
	}
	d.row("**"+words.Count(int64(len(diff.Files)), "file")+"**", fmt.Sprintf("**+%s**", words.Number(int64(diff.Added))), fmt.Sprintf("**−%s**", words.Number(int64(diff.Removed))), "")
}

func (d *drawing) fileNote(f report.FileChange) string {
	var notes []string
	switch f.Status {
	case "modified", "":
	case "renamed", "copied":
		notes = append(notes, f.Status+" from "+d.code(f.From, 160))
	case "added":
		notes = append(notes, "new")
	case "type_changed":
		notes = append(notes, "another kind of file")
	default:
		notes = append(notes, d.name(f.Status))
	}
	if f.Binary {
		notes = append(notes, "binary")
	}
	return strings.Join(notes, ", ")
}

// money is the purse: gauges, then who used what.
func (d *drawing) money() {
	s, b := d.s, d.s.Budget
	d.table("Limit", ">Used", ">Of", "")
	for _, g := range b.Limits {
		used, gone := g.Text(g.Used), ""
		if g.Unit == "micros" && b.Spent.Unpriced {
			used = b.Spent.CostText()
		}
		if g.Max > 0 {
			gone = fmt.Sprintf("`%s` %s", bar(g.Percent, g.Used > 0), share(g))
		}
		d.row(limitWords[g.Limit], used, g.MaxText(), gone)
	}
	d.printf("\n")
	d.printf("%s\n", strings.Join(s.moneyWords(), " "))
	if len(s.Models) > 1 {
		d.spends("Model", len(s.Models), func(i int) (string, report.Spend, string) {
			return d.model(s.Models[i].Name), s.Models[i].Spend, ""
		})
	}
	if len(s.Attempts) > 1 {
		d.spends("Attempt", len(s.Attempts), func(i int) (string, report.Spend, string) {
			a := s.Attempts[i]
			return fmt.Sprintf("%d (%s)", a.Number, a.End), a.Spend, words.Span(a.RunningMS)
		})
	}
}

// share is how much of a limit is gone, in percent.
func share(g report.Gauge) string {
	if g.Percent == 0 && g.Used > 0 {
		return "under 1%"
	}
	return fmt.Sprintf("%d%%", g.Percent)
}

// limitWords are the limits for people.
var limitWords = map[string]string{
	"max_tokens": "Tokens", "max_cost_usd": "Cost", "max_duration": "Running time", "max_iterations": "Node executions",
}

// moneyWords are sentences about what the table does not show.
func (s summary) moneyWords() []string {
	b := s.Budget
	text := []string{fmt.Sprintf("%s answered, %s in and %s out.", words.Count(b.Spent.Calls, "model call"), words.Number(b.Spent.TokensIn), words.Number(b.Spent.TokensOut))}
	if b.Spent.TokensCached > 0 {
		text = append(text, fmt.Sprintf("%s of the prompt tokens (%d%%) came from the provider's cache.", words.Number(b.Spent.TokensCached), b.Spent.CachedPercent()))
	}
	if n := b.Spent.ForfeitedCalls; n > 0 {
		lost := report.Spend{CostMicros: b.Spent.ForfeitedCostMicros, Unpriced: b.Spent.Unpriced && b.Spent.ForfeitedCostMicros == 0}
		text = append(text, fmt.Sprintf("%s forfeited: %s tokens and %s count as spent because nobody knows what became of them.",
			words.Count(n, "call"), words.Number(b.Spent.ForfeitedTokens), lost.CostText()))
	}
	if b.OpenCalls > 0 {
		text = append(text, fmt.Sprintf("%s still open: %s tokens are held.", words.Count(b.OpenCalls, "call"), words.Number(b.ReservedTokens)))
	}
	if n := s.Repeats.Calls; n > 0 {
		text = append(text, fmt.Sprintf("%s repeated.", words.Count(n, "call")))
	}
	if b.EffectiveTokens > 0 {
		text = append(text, fmt.Sprintf("Effective tokens: %s.", words.Number(b.EffectiveTokens)))
	}
	return text
}

// maxSpends is how many models or attempts a table shows.
const maxSpends = 30

func (d *drawing) spends(what string, n int, at func(int) (name string, s report.Spend, time string)) {
	d.printf("\n")
	d.table(what, ">Calls", ">Tokens in", ">Cached", ">Out", ">Forfeited", ">Cost", ">Time")
	for i := range n {
		if i == maxSpends {
			d.row(fmt.Sprintf("… and %d more", n-i), "", "", "", "", "", "", "")
			return
		}
		name, s, time := at(i)
		cost := ""
		if s.Used() {
			cost = s.CostText()
		}
		d.row(name, words.Number(s.Calls), words.Number(s.TokensIn), words.Number(s.TokensCached), words.Number(s.TokensOut), some(s.ForfeitedTokens), cost, time)
	}
}

func (d *drawing) tools() {
	t := d.s.Tools
	if t.Calls == 0 {
		return
	}
	d.table("Tool", ">Calls", ">Errors", "")
	for i, u := range t.ByName {
		if i == maxSpends {
			d.row(fmt.Sprintf("… and %d more", len(t.ByName)-i), "", "", "")
			break
		}
		note := ""
		if u.Writes {
			note = "may write"
		}
		d.row(d.name(u.Name), words.Number(u.Calls), some(u.Errors), note)
	}
	if len(t.Last) == 0 {
		return
	}
	d.printf("\nThe last ones:\n\n")
	for _, u := range t.Last {
		mark := ""
		if u.Error {
			mark = " ❌"
		}
		d.printf("- %s %d%s %s\n", d.name(u.Node), u.Visit, mark, d.code(u.Summary, maxValue))
	}
}

// barWidth is the number of blocks in a gauge.
const barWidth = 10

// bar draws a share; anything above nothing shows at least one block.
func bar(percent int, some bool) string {
	full := min(percent*barWidth/100, barWidth)
	if full == 0 && some {
		full = 1
	}
	return strings.Repeat("█", full) + strings.Repeat("░", barWidth-full)
}
