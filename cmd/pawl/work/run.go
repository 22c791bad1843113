package work

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/cmd/pawl/models"
	"github.com/pawl-ci/pawl/cmd/pawl/records"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/host/mcp"
	"github.com/pawl-ci/pawl/runner/host/store"
	"github.com/pawl-ci/pawl/runner/host/workspace"
	"github.com/pawl-ci/pawl/runner/lang/ir"
	"github.com/pawl-ci/pawl/runner/machine"
)

// runFlags are the flags of run and resume, and what the action sets.
type runFlags struct {
	models        models.Flags
	vars          []string
	answers       []string
	runID         string
	noInteractive bool
	keepWorktree  bool
	toolTimeout   time.Duration
	sandbox       sandboxLevel
	limits        limitFlags
	recipe        string
	trigger       json.RawMessage // the GitHub event, in the action
}

func runCommand(a *cli.App) *cobra.Command {
	f := &runFlags{}
	cmd := &cobra.Command{
		Use:   "run WORKFLOW",
		Short: "Run a workflow on a fresh branch",
		Long: "Compiles the workflow, opens the branch pawl/<workflow>/<run-id> in a worktree of\n" +
			"its own, runs the nodes, verifies with the repository's tests and prints where\n" +
			"everything lies. Your checkout stays untouched. A recipe in the place of the\n" +
			"workflow runs the workflow that it names.\n\n" +
			"Exit status: 0 done, 1 the workflow failed, 2 bad file or flag, 3 pawl or the\n" +
			"world failed, 8 parked at a gate, 9 stopped by a budget or a signal.",
		Example: "  pawl run ci-fix.iter\n  pawl run ci-fix.iter --var task=\"fix the build\" --max-cost-usd 2\n  pawl run ci-fix.iter --model-script script.yaml --answer approved=true\n  pawl run ci-fix.iter --recipe fast.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := run(cmd.Context(), a, args[0], f)
			return err
		},
	}
	f.bind(cmd)
	f.bindVars(cmd)
	cmd.Flags().StringVar(&f.recipe, "recipe", "", "change the workflow by the recipe in `FILE` (YAML or JSON)")
	cmd.Flags().StringVar(&f.runID, "run-id", "", "use this run `ID` instead of a generated one")
	return cmd
}

// bind adds the flags that run and resume share.
func (f *runFlags) bind(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.answers, "answer", nil, "answer a gate: `[NODE.]FIELD=VALUE` (repeatable)")
	flags.BoolVar(&f.noInteractive, "no-interactive", false, "never ask at the terminal; park at gates")
	flags.BoolVar(&f.keepWorktree, "keep-worktree", false, "keep the worktree of a run that is done")
	flags.DurationVar(&f.toolTimeout, "tool-timeout", 10*time.Minute, "how long one command may take, unless its node says otherwise")
	f.sandbox = sandboxAuto
	flags.Var(&f.sandbox, "sandbox", "confine commands: auto (what this system gives), required or none")
	f.models.Bind(flags)
	f.limits.bind(flags)
}

// bindVars adds what only the beginning of a run needs.
func (f *runFlags) bindVars(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.vars, "var", nil, "set workflow variable `NAME=VALUE` (repeatable)")
}

// run is the life of a fresh run.
func run(ctx context.Context, a *cli.App, path string, f *runFlags) (*ended, error) {
	set, err := newSettings(ctx, a, f)
	if err != nil {
		return nil, err
	}
	defer set.Close()
	opt := cli.CompileOptions{Lookup: a.LookupEnv, Model: set.Model, Prices: set.Prices}
	if f.recipe != "" {
		if opt.Recipe, err = a.ReadRecipe(f.recipe); err != nil {
			return nil, err
		}
	}
	src, err := a.ReadSource(path, opt)
	if err != nil {
		return nil, err
	}
	if err := a.Say(src); err != nil {
		return nil, err
	}
	vars, err := parseVars(src.Workflow, f.vars)
	if err != nil {
		return nil, err
	}
	place, err := records.Open(ctx, a, src.Workflow.Worktree)
	if err != nil {
		return nil, err
	}
	j := &job{app: a, settings: set, source: src, place: place, id: event.RunID(f.runID), flags: f}
	if j.id == "" {
		j.id = records.NewRunID(time.Now())
	}
	if err := errors.Join(set.Need(src.Workflow), j.needBackends()); err != nil {
		return nil, err
	}
	if err := j.buildCage(); err != nil {
		return nil, err
	}
	defer j.freeCage()
	return j.start(ctx, vars)
}

// job is one attempt at one run.
type job struct {
	app      *cli.App
	settings *settings
	source   *cli.Source
	place    *records.Place
	id       event.RunID
	flags    *runFlags
	record   *store.Run
	tree     *workspace.Tree // nil without a worktree
	cage     cage
	mcp      *mcp.Servers // nil: the workflow uses none
	branch   string
	changed  []string          // of those, what an edited workflow changes
	ran      map[string]bool   // nodes that the record says have begun; for a resume
	group    *event.Comparison // that the run is a part of; nil for one alone
}

// start opens record and branch, both or neither, and works.
func (j *job) start(ctx context.Context, vars map[string]any) (*ended, error) {
	record, err := store.Create(j.place.Store, j.id)
	if err != nil {
		return nil, records.StoreProblem(err)
	}
	j.record = record
	defer record.Close()
	if j.source.Workflow.Worktree {
		j.branch = fmt.Sprintf("pawl/%s/%s", j.source.Workflow.Name, j.id)
		if j.tree, err = j.place.Repo.Start(ctx, j.branch, j.place.Worktree(j.id), ""); err != nil {
			return nil, errors.Join(records.RepoProblem(err), records.Discard(record))
		}
	}
	if j.mcp, err = j.servers(ctx, vars); err != nil {
		return nil, errors.Join(err, j.takeBack(context.WithoutCancel(ctx)))
	}
	state := machine.NewState(j.source.Workflow)
	return j.work(ctx, state, j.started(vars))
}

// takeBack undoes what was opened for a run that did not begin.
func (j *job) takeBack(ctx context.Context) error {
	err := records.Discard(j.record)
	if j.tree != nil {
		err = errors.Join(err, j.place.Repo.Remove(ctx, j.tree.Path), j.place.Repo.DeleteBranch(ctx, j.branch))
	}
	return err
}

// started is the event that opens the record.
func (j *job) started(vars map[string]any) *event.RunStarted {
	w := j.source.Workflow
	var trigger *event.Payload
	if j.flags.trigger != nil {
		p := event.Inline(j.flags.trigger)
		trigger = &p
	}
	first := &event.RunStarted{
		Pawl: j.app.Version, Workflow: w.Name, Path: j.source.Path, Source: event.Inline(mustJSON(j.source.File.Text)),
		Digest: event.Digest(w.Digest()), NodeDigests: digests(w), Env: w.Env,
		Vars: mustJSON(vars), Inputs: event.Inline(mustJSON(vars)), Limits: j.flags.limits.over(w.Limits),
		Branch: j.branch, Model: j.settings.Model, Trigger: trigger, Sandbox: j.cage.says,
		Recipe: recorded(j.source), Comparison: j.group,
	}
	if repo := j.place.Repo; repo != nil {
		first.Base, first.BaseRef = repo.Head, repo.Branch
	}
	return first
}

// recorded is the source's recipe as the record keeps it, or nil.
func recorded(s *cli.Source) *event.Recipe {
	if s.Recipe == nil {
		return nil
	}
	return &event.Recipe{
		Name: s.RecipeName, Path: s.Recipe.Name, Digest: event.Digest(s.RecipeDigest), Source: event.Inline(mustJSON(s.Recipe.Text)), Policy: s.Policy,
	}
}

// digests is what every node of w does, for a resume that brings another text.
func digests(w *ir.Workflow) map[string]event.Digest {
	out := make(map[string]event.Digest, len(w.Nodes))
	for _, n := range w.Nodes {
		out[n.ID] = event.Digest(n.Digest())
	}
	return out
}
