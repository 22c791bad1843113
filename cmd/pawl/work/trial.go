package work

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/cmd/pawl/models"
	"github.com/pawl-ci/pawl/cmd/pawl/records"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/machine"
)

// Flags are the flags of a run, for commands that make several.
type Flags struct{ run runFlags }

// Bind adds the flags to cmd. Nobody is asked at a terminal.
func (f *Flags) Bind(cmd *cobra.Command) {
	f.run.bind(cmd)
	f.run.bindVars(cmd)
	_ = cmd.Flags().MarkHidden("no-interactive") // it is always so
	f.run.noInteractive = true
}

// Limits are the bounds that the flags give; a figure that is 0 was not given.
func (f *Flags) Limits() budget.Limits { return f.run.limits.over(budget.Limits{}) }

// Access resolves who answers model calls. The caller closes it.
func (f *Flags) Access(ctx context.Context, a *cli.App) (*models.Access, error) {
	set, err := newSettings(ctx, a, &f.run)
	if err != nil {
		return nil, err
	}
	return set.Access, nil
}

// Vars are the values of a workflow's variables, or what is wrong with --var.
func (f *Flags) Vars(s *cli.Source) (map[string]any, error) {
	return parseVars(s.Workflow, f.run.vars)
}

// Trial is one run of several.
type Trial struct {
	App    *cli.App // its own: what the run prints goes there
	Source *cli.Source
	Vars   map[string]any
	Place  *records.Place // shared
	ID     event.RunID
	Limits budget.Limits // in place of the workflow's, where they are not 0
	Group  *event.Comparison
}

// Run makes the run, with the flags and a model access of its own. The state is
// nil when the run could not begin, or broke off.
func (t *Trial) Run(ctx context.Context, f *Flags) (*machine.State, error) {
	flags := f.run
	flags.noInteractive = true
	flags.limits = limitFlags{parsed: t.Limits.MaxCost, tokens: t.Limits.MaxTokens, duration: t.Limits.MaxDuration, iterations: t.Limits.MaxIterations}
	set, err := newSettings(ctx, t.App, &flags)
	if err != nil {
		return nil, err
	}
	defer set.Close()
	j := &job{app: t.App, settings: set, source: t.Source, place: t.Place, id: t.ID, flags: &flags, group: t.Group}
	if err := j.buildCage(); err != nil {
		return nil, err
	}
	defer j.freeCage()
	done, err := j.start(ctx, t.Vars)
	if done == nil {
		return nil, err
	}
	return done.state, err
}
