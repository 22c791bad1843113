package compare

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/cmd/pawl/records"
	"github.com/pawl-ci/pawl/cmd/pawl/work"
	"github.com/pawl-ci/pawl/report"
	"github.com/pawl-ci/pawl/report/page"
	"github.com/pawl-ci/pawl/report/versus"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/host/store"
)

// flags are the flags of the command.
type flags struct {
	work.Flags
	recipes  []string
	baseline bool
	repeat   int
	parallel int
	markdown bool
	runs     []string
}

// The bounds of a comparison: enough to measure, too few to forget one running.
const (
	maxContenders = 26
	maxRepeats    = 100
	maxParallel   = 16
)

// Command is the command compare.
func Command(a *cli.App) *cobra.Command {
	f := &flags{}
	cmd := &cobra.Command{
		Use:   "compare [WORKFLOW] --recipe FILE --recipe FILE...",
		Short: "Run a workflow under several recipes and rank them",
		Long: "Runs each recipe on the same commit, each run on a branch of its own, and prints\n" +
			"a table, the best recipe first: success, the recipe's metric, tokens, cost, time.\n" +
			"Without WORKFLOW the recipes name it. --max-cost-usd and --max-tokens bound all\n" +
			"runs together: each may spend an equal part of what is left when it begins.\n" +
			"Nobody is asked at a gate; --answer answers beforehand, and otherwise the run\n" +
			"parks and is resumed like any other. --runs shows a comparison again.\n\n" +
			"Exit status: 0 all runs ended and one succeeded, 1 none succeeded, 2 bad file or\n" +
			"flag, 3 pawl or the world failed in a run, 8 a run is parked, 9 cut short by a\n" +
			"signal or by the limit of all runs together.",
		Example: "  pawl compare review.iter --recipe fast.yaml --recipe thorough.yaml\n" +
			"  pawl compare review.iter --recipe fast.yaml --baseline --repeat 3 --max-cost-usd 2\n" +
			"  pawl compare --runs latest --markdown",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return compare(cmd.Context(), a, strings.Join(args, ""), f)
		},
	}
	f.Bind(cmd)
	set := cmd.Flags()
	set.StringArrayVar(&f.recipes, "recipe", nil, "let the recipe in `FILE` take part (repeatable)")
	set.BoolVar(&f.baseline, "baseline", false, "let the workflow without a recipe take part")
	set.IntVar(&f.repeat, "repeat", 1, "run each recipe `N` times; the table shows medians")
	set.IntVar(&f.parallel, "parallel", 1, "run `N` at a time")
	set.BoolVar(&f.markdown, "markdown", false, "print the table as markdown")
	set.StringSliceVar(&f.runs, "runs", nil, "run nothing and compare these: run `IDS`, a comparison's id, or latest")
	return cmd
}

func compare(ctx context.Context, a *cli.App, workflow string, f *flags) error {
	if err := f.check(workflow); err != nil {
		return err
	}
	if len(f.runs) > 0 {
		place, err := records.Open(ctx, a, false)
		if err != nil {
			return err
		}
		list, err := recordedRuns(ctx, a, place, f.runs)
		if err != nil {
			return err
		}
		return showComparison(a, versus.Compare(list), f.markdown)
	}
	c, err := newComparison(ctx, a, workflow, f)
	if err != nil {
		return err
	}
	c.run(ctx)
	result, err := c.result(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	a.Status = c.status(ctx, result)
	return showComparison(a, result, f.markdown)
}

// check refuses what cannot be meant.
func (f *flags) check(workflow string) error {
	taking := len(f.recipes)
	if f.baseline {
		taking++
	}
	switch {
	case len(f.runs) > 0 && (taking > 0 || workflow != ""):
		return cli.Usage(errors.New("--runs compares what has run already, and takes no workflow and no recipe"), "")
	case len(f.runs) > 0:
		return nil
	case taking < 2:
		return cli.Usage(errors.New("a comparison needs at least two recipes"), "give --recipe FILE twice, or once with --baseline for the workflow as it is")
	case taking > maxContenders:
		return cli.Usage(fmt.Errorf("%d recipes are too many: at most %d take part", taking, maxContenders), "")
	case f.baseline && workflow == "":
		return cli.Usage(errors.New("--baseline needs the workflow"), "pawl compare WORKFLOW.iter --baseline --recipe FILE")
	case f.repeat < 1 || f.repeat > maxRepeats:
		return cli.Usage(fmt.Errorf("--repeat %d: want 1 to %d", f.repeat, maxRepeats), "")
	case f.parallel < 1 || f.parallel > maxParallel:
		return cli.Usage(fmt.Errorf("--parallel %d: want 1 to %d", f.parallel, maxParallel), "")
	}
	return nil
}

func showComparison(a *cli.App, c versus.Comparison, markdown bool) error {
	var err error
	switch {
	case a.JSON:
		return a.WriteJSON(c)
	case markdown:
		err = page.CompareMarkdown(a.Out, c)
	default:
		err = page.Compare(a.Out, c, a.Colors(a.Out))
	}
	if err != nil {
		return cli.Host(err, "")
	}
	return nil
}

// latest stands for the newest comparison in --runs.
const latest = "latest"

// recordedRuns are the runs that names mean: runs, or all of a comparison.
func recordedRuns(ctx context.Context, a *cli.App, p *records.Place, names []string) ([]report.Summary, error) {
	listed, err := store.List(p.Store)
	if err != nil {
		return nil, records.StoreProblem(err)
	}
	var ids []event.RunID
	for _, name := range names {
		group := membersOf(listed, name)
		if len(group) == 0 && name == latest {
			return nil, cli.Usage(errors.New("there is no comparison yet"), "pawl compare WORKFLOW.iter --recipe FILE --recipe FILE makes one")
		}
		if len(group) == 0 {
			id, err := store.Resolve(p.Store, name)
			if err != nil {
				return nil, records.StoreProblem(err)
			}
			group = []event.RunID{id}
		}
		ids = append(ids, group...)
	}
	slices.Sort(ids)
	return summaries(ctx, a, p, slices.Compact(ids))
}

// membersOf are the runs of a comparison.
func membersOf(listed []store.Summary, name string) []event.RunID {
	var ids []event.RunID
	for _, l := range listed { // newest first
		first, ok := l.First.Body.(*event.RunStarted)
		if !ok || first.Comparison == nil {
			continue
		}
		if name == latest {
			name = first.Comparison.ID
		}
		if first.Comparison.ID == name {
			ids = append(ids, l.Run)
		}
	}
	return ids
}

func summaries(ctx context.Context, a *cli.App, p *records.Place, ids []event.RunID) ([]report.Summary, error) {
	list := make([]report.Summary, 0, len(ids))
	for _, id := range ids {
		s, err := records.Summarise(ctx, a, p, id)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}
