package work

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/cmd/pawl/records"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/host/sandbox"
	"github.com/pawl-ci/pawl/runner/host/store"
	"github.com/pawl-ci/pawl/runner/machine"
)

// resumeFlags are resume's own flags.
type resumeFlags struct {
	runFlags
	file  string
	force bool
}

func resumeCommand(a *cli.App) *cobra.Command {
	f := &resumeFlags{}
	cmd := &cobra.Command{
		Use:   "resume [RUN]",
		Short: "Go on with a parked, stopped or crashed run",
		Long: "Continues a run from its record: nothing that is recorded as done is done again,\n" +
			"and what was spent stays spent. Without RUN the newest run that can go on is\n" +
			"taken. A workflow that was edited since is refused when a node that has already\n" +
			"run changed; --force goes on all the same.",
		Example: "  pawl resume\n  pawl resume 20261121-0655 --answer approved=true\n  pawl resume --max-cost-usd 5",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := resume(cmd.Context(), a, strings.Join(args, ""), f)
			return err
		},
	}
	f.bind(cmd)
	cmd.Flags().StringVar(&f.file, "file", "", "use the workflow in `FILE` instead of the recorded one")
	cmd.Flags().StringVar(&f.recipe, "recipe", "", "use the recipe in `FILE` instead of the recorded one")
	cmd.Flags().BoolVar(&f.force, "force", false, "go on although a node that has run was edited")
	return cmd
}

// resume is the life of a further attempt.
func resume(ctx context.Context, a *cli.App, name string, f *resumeFlags) (*ended, error) {
	set, err := newSettings(ctx, a, &f.runFlags)
	if err != nil {
		return nil, err
	}
	defer set.Close()
	place, err := records.Open(ctx, a, false)
	if err != nil {
		return nil, err
	}
	id, err := resumable(a, place, name)
	if err != nil {
		return nil, err
	}
	record, events, cut, err := store.Open(place.Store, id)
	if err != nil {
		return nil, records.StoreProblem(err)
	}
	defer record.Close()
	j := &job{app: a, settings: set, place: place, id: id, flags: &f.runFlags, record: record}
	state, err := j.fold(events, f)
	if err != nil {
		return nil, err
	}
	if err := j.buildCage(); err != nil {
		return nil, err
	}
	defer j.freeCage()
	if err := j.attach(ctx, state); err != nil {
		return nil, err
	}
	if j.mcp, err = j.servers(ctx, state.Vars); err != nil {
		return nil, err
	}
	resumed := &event.RunResumed{Pawl: j.app.Version, Attempt: state.Attempt + 1, CutTail: cut, Sandbox: j.cage.says}
	if f.file != "" || f.recipe != "" {
		j.edited(resumed)
	}
	if f.models.Model != state.Model {
		resumed.Model = f.models.Model
	}
	if limits := f.limits.over(state.Purse.Limits); limits != state.Purse.Limits {
		resumed.Limits = &limits
	}
	return j.work(ctx, state, resumed)
}

// resumable is the run that name means: the newest that can go on when it is
// empty.
func resumable(a *cli.App, p *records.Place, name string) (event.RunID, error) {
	if name != "" {
		id, err := store.Resolve(p.Store, name)
		return id, records.StoreProblem(err)
	}
	runs, err := records.Rows(a, p)
	if err != nil {
		return "", err
	}
	for _, r := range runs {
		if records.Resumable(r) {
			return r.RunID, nil
		}
	}
	return "", cli.Usage(errors.New("there is no run that can go on"), "pawl inspect lists the runs")
}

// fold compiles the recorded workflow and replays the record over it.
func (j *job) fold(events []event.Event, f *resumeFlags) (*machine.State, error) {
	if err := records.LoadAll(j.record, events); err != nil {
		return nil, err
	}
	first, ok := records.FirstEvent(events)
	if !ok {
		return nil, cli.Usage(fmt.Errorf("run %s never started: its record is empty", j.id), "start a new one with pawl run")
	}
	if f.models.Model == "" && j.settings.Model == "" {
		j.settings.Model = first.Model
	}
	j.ran = make(map[string]bool)
	for _, e := range events {
		if _, began := e.Body.(*event.NodeStarted); began {
			j.ran[e.Node] = true
		}
	}
	src, err := j.recordedSource(events, f)
	if err != nil {
		return nil, err
	}
	j.source = src
	state := machine.NewState(src.Workflow)
	for _, e := range events {
		if err := state.Apply(e); err != nil {
			return nil, cli.Host(fmt.Errorf("read the record of %s: %w", j.id, err), "pawl verify-record "+string(j.id)+" says more")
		}
	}
	if state.Status == machine.Finished {
		return nil, cli.Usage(fmt.Errorf("run %s has ended: %s", j.id, state.Outcome.Outcome), "pawl report "+string(j.id)+" shows how")
	}
	if err := j.settings.Need(src.Workflow); err != nil {
		return nil, err
	}
	return state, nil
}

// recordedSource is the workflow of the record with its recipe, or what was given
// instead of either, when that does not change what has already run.
func (j *job) recordedSource(events []event.Event, f *resumeFlags) (*cli.Source, error) {
	opt := cli.CompileOptions{Model: j.settings.Model, Prices: j.settings.Prices}
	if f.file != "" || f.recipe != "" {
		return j.editedSource(records.TextOf(events), f, opt)
	}
	src, err := records.Recorded(events, opt)
	if err != nil {
		return nil, cli.Host(fmt.Errorf("read the record of %s: %w", j.id, err), "")
	}
	if src.Findings.HasErrors() {
		return nil, j.app.Say(src)
	}
	return src, nil
}

// editedSource is another workflow, another recipe, or both; of what was not given,
// the record's own.
func (j *job) editedSource(old records.Text, f *resumeFlags, opt cli.CompileOptions) (*cli.Source, error) {
	opt.Lookup = j.app.LookupEnv
	var err error
	if f.recipe != "" {
		opt.Recipe, err = j.app.ReadRecipe(f.recipe)
	} else {
		opt.Recipe, err = old.RecipeFile()
	}
	if err != nil {
		return nil, err
	}
	var src *cli.Source
	if f.file != "" {
		src, err = j.app.ReadSource(f.file, opt)
	} else {
		src, err = old.Compile(opt)
	}
	if err != nil {
		return nil, err
	}
	if err := j.app.Say(src); err != nil {
		return nil, err
	}
	return src, j.unchanged(old, src, f.force)
}

// edited keeps the text that holds from here on, for whoever resumes next.
func (j *job) edited(resumed *event.RunResumed) {
	w := j.source.Workflow
	text := event.Inline(mustJSON(j.source.File.Text))
	resumed.Path, resumed.Source, resumed.Env = j.source.Path, &text, w.Env
	resumed.Recipe = recorded(j.source)
	resumed.Digest, resumed.NodeDigests, resumed.Forced = event.Digest(w.Digest()), digests(w), j.changed
}

// unchanged refuses an edited workflow when the edit touches a node the record
// knows.
func (j *job) unchanged(old records.Text, src *cli.Source, force bool) error {
	if event.Digest(src.Workflow.Digest()) == old.Digest {
		return nil
	}
	for id, digest := range old.NodeDigests {
		n := src.Workflow.Node(id)
		if j.ran[id] && (n == nil || event.Digest(n.Digest()) != digest) {
			j.changed = append(j.changed, id)
		}
	}
	slices.Sort(j.changed)
	if len(j.changed) == 0 || force {
		return nil
	}
	what := src.Path
	if src.Recipe != nil {
		what += " with recipe " + src.Recipe.Name
	}
	return cli.Usage(fmt.Errorf("%s changed nodes that run %s has already run: %s", what, j.id, strings.Join(j.changed, ", ")),
		"start a new run, or go on all the same with --force")
}

// attach takes the worktree up again, after ending what a killed process left
// running in it.
func (j *job) attach(ctx context.Context, state *machine.State) error {
	if killed, err := sandbox.Reap(j.place.Mark(j.id)); err != nil {
		j.app.Notice("look for what a killed attempt left running: %v", err)
	} else if killed > 0 {
		j.app.Notice("ended %d of the processes that a killed attempt had left running", killed)
	}
	if !j.source.Workflow.Worktree {
		return nil
	}
	if j.place.Repo == nil {
		return cli.Usage(errors.New("this is not the repository of run "+string(j.id)), "go to the repository, or name it with -C")
	}
	tree, err := j.place.Repo.Attach(ctx, state.Branch, j.place.Worktree(j.id), state.Head)
	if err != nil {
		return records.RepoProblem(err)
	}
	j.tree, j.branch = tree, state.Branch
	return nil
}
