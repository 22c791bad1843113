package language

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/report/words"
	"github.com/pawl-ci/pawl/runner/lang/flow"
)

// cost is the worst case of one workflow, and what its budget says to it.
type cost struct {
	flow.WorstCase
	Limits budget.Limits `json:"limits"`
}

// readPrices is the price table with that of a file on top; path may be "". A model
// that takes the place of all others gives them its price, or leaves them without.
func readPrices(a *cli.App, path, model string) (budget.Table, error) {
	table := budget.Prices()
	if path != "" {
		text, err := os.ReadFile(a.Path(path))
		if err != nil {
			return table, cli.Usage(fmt.Errorf("read prices: %s: %w", path, cli.Reason(err)), "")
		}
		own, err := budget.ParseTable(text)
		if err != nil {
			return table, cli.Usage(fmt.Errorf("%s: %w", path, err), "")
		}
		table = table.Merge(own)
	}
	if model == "" {
		return table, nil
	}
	price, priced := table.Lookup(model)
	if !priced {
		return budget.Table{}, nil
	}
	every, err := budget.NewTable(budget.Entry{Match: "*", Price: price})
	if err != nil {
		return table, cli.Usage(fmt.Errorf("price of %s: %w", model, err), "")
	}
	return table.Merge(every), nil
}

// worstCase computes what a checked workflow can cost at most; nil when it cannot
// run.
func (v *validation) worstCase(s *cli.Source) *cost {
	if !v.flags.cost || s.Workflow == nil || s.Findings.HasErrors() {
		return nil
	}
	c := &cost{flow.Of(s.Workflow).WorstCase(flow.CostOptions{DefaultModel: v.flags.model, Prices: v.prices}), s.Workflow.Limits}
	if v.flags.model == "" {
		return c
	}
	for i := range c.Nodes {
		if c.Nodes[i].Calls > 0 {
			c.Nodes[i].Model = v.flags.model
		}
	}
	if _, priced := v.prices.Lookup(v.flags.model); !priced && c.Total.Calls > 0 {
		c.Unpriced = []string{v.flags.model}
	}
	return c
}

// draw writes the table of one workflow.
func (c *cost) draw(w io.Writer, name, workflow string) error {
	rows := [][]string{{"visits", "calls", "tokens in", "tokens out", "cost", "node"}}
	for _, n := range c.Nodes {
		subject := n.Node
		if n.Calls > 0 {
			subject += " (" + cmp.Or(words.OneLine(n.Model), "a model that the run will know") + ")"
		}
		rows = append(rows, append(c.figures(n.Visits, n.Usage, n.Model), subject))
	}
	total := c.figures(0, c.Total, "")
	total[0] = ""
	rows = append(rows, append(total, "in all"))
	_, err := fmt.Fprintf(w, "\n%s: one run of %s, at most\n\n%s\n%s", words.OneLine(name), workflow, columns(rows), c.notes())
	return err
}

// columns sets all columns but the last to the right.
func columns(rows [][]string) string {
	last := len(rows[0]) - 1
	widths := make([]int, last)
	for _, row := range rows {
		for i := range last {
			widths[i] = max(widths[i], len(row[i]))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		for i := range last {
			fmt.Fprintf(&b, "  %*s", widths[i], row[i])
		}
		b.WriteString("  " + row[last] + "\n")
	}
	return b.String()
}

// figures are the columns of a usage.
func (c *cost) figures(visits int64, u budget.Usage, model string) []string {
	price := u.Cost.String()
	if u.Calls > 0 && slices.Contains(c.Unpriced, model) {
		price = "no price"
	}
	if u.Cost == math.MaxInt64 {
		price = "no end"
	}
	return []string{figure(visits), figure(u.Calls), figure(u.Input), figure(u.Output), price}
}

// figure is a number; the largest one there is stands for all above it.
func figure(n int64) string {
	if n == math.MaxInt64 {
		return "no end"
	}
	return words.Number(n)
}

// notes say what the figures leave out, and what the budget makes of them.
func (c *cost) notes() string {
	var b strings.Builder
	if len(c.Unpriced) > 0 {
		fmt.Fprintf(&b, "  not in the sum, for want of a price (--prices FILE): %s\n", words.OneLine(strings.Join(c.Unpriced, ", ")))
	}
	var open []string
	for _, n := range c.Nodes {
		if n.Open {
			open = append(open, n.Node)
		}
	}
	if len(open) > 0 {
		fmt.Fprintf(&b, "  counted with one turn of tools, for want of tool_max_steps: %s\n", strings.Join(open, ", "))
	}
	if limits := c.limits(); limits != "" {
		fmt.Fprintf(&b, "  the budget ends a run at %s\n", limits)
	} else if c.Total.Calls > 0 {
		b.WriteString("  there is no budget: nothing else ends a run\n")
	}
	return b.String()
}

func (c *cost) limits() string {
	var all []string
	if c.Limits.MaxCost > 0 {
		all = append(all, c.Limits.MaxCost.String())
	}
	if c.Limits.MaxTokens > 0 {
		all = append(all, words.Count(c.Limits.MaxTokens, "token"))
	}
	if c.Limits.MaxIterations > 0 {
		all = append(all, words.Count(c.Limits.MaxIterations, "step"))
	}
	if c.Limits.MaxDuration > 0 {
		all = append(all, words.Span(c.Limits.MaxDuration.Milliseconds()))
	}
	return strings.Join(all, " or ")
}
