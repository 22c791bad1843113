package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

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

func (a *app) resumeCommand() *cobra.Command {
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
			_, err := a.resume(cmd.Context(), strings.Join(args, ""), f)
			return err
		},
	}
	f.bind(cmd)
	cmd.Flags().StringVar(&f.file, "file", "", "use the workflow in `FILE` instead of the recorded one")
	cmd.Flags().BoolVar(&f.force, "force", false, "go on although a node that has run was edited")
	return cmd
}

// resume is the life of a further attempt.
func (a *app) resume(ctx context.Context, name string, f *resumeFlags) (*ended, error) {
	set, err := a.settings(ctx, &f.runFlags)
	if err != nil {
		return nil, err
	}
	defer set.close()
	place, err := a.openPlace(ctx, false)
	if err != nil {
		return nil, err
	}
	id, err := a.resumable(place, name)
	if err != nil {
		return nil, err
	}
	record, events, cut, err := store.Open(place.store, id)
	if err != nil {
		return nil, storeProblem(err)
	}
	defer record.Close()
	j := &job{app: a, settings: set, place: place, id: id, flags: &f.runFlags, record: record}
	state, err := j.fold(events, f)
	if err != nil {
		return nil, err
	}
	if err := j.attach(ctx, state); err != nil {
		return nil, err
	}
	resumed := &event.RunResumed{Pawl: versionText(), Attempt: state.Attempt + 1, CutTail: cut}
	if limits := f.limits.over(state.Purse.Limits); limits != state.Purse.Limits {
		resumed.Limits = &limits
	}
	return j.work(ctx, state, resumed)
}

// resumable is the run that name means: the newest that can go on when it is
// empty.
func (a *app) resumable(p *place, name string) (event.RunID, error) {
	if name != "" {
		id, err := store.Resolve(p.store, name)
		return id, storeProblem(err)
	}
	runs, err := a.runs(p)
	if err != nil {
		return "", err
	}
	for _, r := range runs {
		if resumable(r) {
			return r.RunID, nil
		}
	}
	return "", usage(errors.New("there is no run that can go on"), "pawl inspect lists the runs")
}

// fold compiles the recorded workflow and replays the record over it.
func (j *job) fold(events []event.Event, f *resumeFlags) (*machine.State, error) {
	if err := loadAll(j.record, events); err != nil {
		return nil, err
	}
	first, ok := firstEvent(events)
	if !ok {
		return nil, usage(fmt.Errorf("run %s never started: its record is empty", j.id), "start a new one with pawl run")
	}
	if f.model == "" && j.settings.model == "" {
		j.settings.model = first.Model
	}
	j.ran = make(map[string]bool)
	for _, e := range events {
		if _, began := e.Body.(*event.NodeStarted); began {
			j.ran[e.Node] = true
		}
	}
	src, err := j.recordedSource(first, f)
	if err != nil {
		return nil, err
	}
	j.source = src
	state := machine.NewState(src.workflow)
	for _, e := range events {
		if err := state.Apply(e); err != nil {
			return nil, host(fmt.Errorf("read the record of %s: %w", j.id, err), "pawl verify-record "+string(j.id)+" says more")
		}
	}
	if state.Status == machine.Finished {
		return nil, usage(fmt.Errorf("run %s has ended: %s", j.id, state.Outcome.Outcome), "pawl report "+string(j.id)+" shows how")
	}
	if err := j.settings.needModel(src.workflow); err != nil {
		return nil, err
	}
	return state, nil
}

// recordedSource is the workflow text of the record, or the file given instead
// when it does not change what has already run.
func (j *job) recordedSource(first *event.RunStarted, f *resumeFlags) (*source, error) {
	opt := compileOptions{lookup: recordedEnv(first.Env), model: j.settings.model, prices: j.settings.prices}
	if f.file != "" {
		opt.lookup = j.app.envLookup
		src, err := j.app.readSource(f.file, opt)
		if err != nil {
			return nil, err
		}
		if err := j.app.say(src); err != nil {
			return nil, err
		}
		return src, j.unchanged(first, src, f.force)
	}
	var text string
	if err := json.Unmarshal(first.Source.Raw(), &text); err != nil {
		return nil, host(fmt.Errorf("read the record of %s: workflow text: %w", j.id, err), "")
	}
	src := compile(first.Path, text, opt)
	if src.findings.HasErrors() {
		return nil, j.app.say(src)
	}
	return src, nil
}

// unchanged refuses an edited workflow when the edit touches a node the record
// knows.
func (j *job) unchanged(first *event.RunStarted, src *source, force bool) error {
	if force || event.Digest(src.workflow.Digest()) == first.Digest {
		return nil
	}
	var changed []string
	for id, digest := range first.NodeDigests {
		n := src.workflow.Node(id)
		if j.ran[id] && (n == nil || event.Digest(n.Digest()) != digest) {
			changed = append(changed, id)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	slices.Sort(changed)
	return usage(fmt.Errorf("%s changed nodes that run %s has already run: %s", src.path, j.id, strings.Join(changed, ", ")),
		"start a new run, or go on all the same with --force")
}

func recordedEnv(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v, ok := env[name]
		return v, ok
	}
}

// attach takes the worktree up again, after ending what a killed process left
// running in it.
func (j *job) attach(ctx context.Context, state *machine.State) error {
	if killed, err := sandbox.Reap(j.place.mark(j.id)); err != nil {
		j.app.notice("look for what a killed attempt left running: %v", err)
	} else if killed > 0 {
		j.app.notice("ended %d of the processes that a killed attempt had left running", killed)
	}
	if !j.source.workflow.Worktree {
		return nil
	}
	if j.place.repo == nil {
		return usage(errors.New("this is not the repository of run "+string(j.id)), "go to the repository, or name it with -C")
	}
	tree, err := j.place.repo.Attach(ctx, state.Branch, j.place.worktree(j.id), state.Head)
	if err != nil {
		return repoProblem(err)
	}
	j.tree, j.branch = tree, state.Branch
	return nil
}
