package work

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/pawl-ci/pawl/gates/local"
	"github.com/pawl-ci/pawl/report"
	"github.com/pawl-ci/pawl/report/page"
	"github.com/pawl-ci/pawl/report/progress"
	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/machine"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/cmd/pawl/records"
)

// ended is a run that came to rest: what the caller reports.
type ended struct {
	state    *machine.State
	summary  report.Summary
	markdown string // the report
}

type wallClock struct{}

// Now implements runner.Clock.
func (wallClock) Now() time.Time { return time.Now() }

// work runs the engine over real ports, writes the report and says how it ended.
func (j *job) work(ctx context.Context, state *machine.State, opening event.Body) (*ended, error) {
	if err := j.keepCage(); err != nil {
		return nil, cli.Host(fmt.Errorf("keep track of temporary files: %w", err), cli.DiskHint(err))
	}
	ports, closeTools, err := j.ports(state)
	if err != nil {
		return nil, err
	}
	if j.group == nil {
		j.place.Notices(j.app)
	}
	if j.tree != nil && len(j.tree.Submodules) > 0 {
		j.app.Notice("submodules stay empty in the worktree: %s", progress.Plain(strings.Join(j.tree.Submodules, ", ")))
	}
	show := progress.New(j.app.Err, j.app.Colors(j.app.Err))
	if j.branch != "" {
		show.Begin(j.id, j.branch)
	}
	runErr := runner.Run(ctx, state, opening, j.id, ports, runner.Options{
		Prices: j.settings.Prices, Redact: j.settings.redact.String, Progress: show.Show,
	})
	var bad *runner.AnswerError
	if runErr != nil && !errors.As(runErr, &bad) {
		return nil, cli.Host(runErr, cmp.Or(cli.DiskHint(runErr), "what is recorded is safe; go on with: pawl resume "+string(j.id)))
	}
	// The report must be written even when the run was cancelled.
	ctx = context.WithoutCancel(ctx)
	if err := closeTools(); err != nil {
		j.app.Notice("let go of the worktree: %v", err)
	}
	j.giveBack(ctx, state)
	done, err := conclude(ctx, j.app, j.place, j.id)
	if err != nil {
		return nil, err
	}
	done.state = state
	for _, key := range j.settings.answers.Unused() {
		j.app.Notice("--answer %s: no gate asked for it", key)
	}
	j.app.Status = statusOf(state)
	if bad != nil {
		return done, bad
	}
	return done, nil
}

// giveBackPatience is how long pawl waits for the files of a worktree to go. What
// is left then, the next run deletes.
const giveBackPatience = 2 * time.Second

// giveBack removes the worktree of a run that is done: everything is on the
// branch. A run that failed keeps it, for a look at what was not committed.
func (j *job) giveBack(ctx context.Context, state *machine.State) {
	if j.tree == nil || j.flags.keepWorktree || state.Status != machine.Finished || state.Outcome.Outcome != event.Done {
		return
	}
	err := errors.Join(j.place.Repo.Remove(ctx, j.tree.Path), j.place.Repo.DropSnapshots(ctx, j.branch))
	if err != nil {
		j.app.Notice("give the worktree back: %v", err)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, giveBackPatience)
	defer cancel()
	_ = j.place.Repo.Wait(ctx) // nobody depends on it
}

// ports wires the rooms below to the engine; done lets go of the worktrees.
func (j *job) ports(state *machine.State) (ports runner.Ports, done func() error, err error) {
	root := j.workDir()
	if j.tree == nil {
		if err := os.MkdirAll(root, 0o700); err != nil {
			return runner.Ports{}, nil, cli.Host(fmt.Errorf("make the run's directory: %w", err), cli.DiskHint(err))
		}
	}
	base := state.Base
	if base == "" && j.place.Repo != nil {
		base = j.place.Repo.Head
	}
	here, letGo, err := j.bench(root, j.tree, base)
	if err != nil {
		return runner.Ports{}, nil, err
	}
	p := runner.Ports{
		Model: j.settings.Client(), Tools: here.Tools, Shell: here.Shell, Verifier: here.Verifier, Workspace: here.Workspace, Backend: here.Backend,
		Gate: j.gate(state), Log: j.record, Blobs: j.record, Clock: wallClock{},
	}
	if j.tree == nil {
		return p, letGo, nil
	}
	beside := &branches{Branches: j.tree.Branches(), job: j, base: base, done: make(map[string]func() error)}
	p.Branches = beside
	return p, func() error { return errors.Join(letGo(), beside.close()) }, nil
}

// gate asks at the terminal, or takes the answers that were given. Answers given
// to a resume concern the gates that were open then, and no later one.
func (j *job) gate(state *machine.State) *local.Gate {
	g := &local.Gate{Answers: j.settings.answers, Out: j.app.Err, By: cmp.Or(j.app.Env.First("GITHUB_ACTOR", "USER", "LOGNAME", "USERNAME"), "somebody on this machine")}
	if open := state.OpenGates(); state.Status != machine.New {
		g.Only = make(map[string]bool, len(open))
		for _, name := range open {
			g.Only[name] = true
		}
	}
	if !j.flags.noInteractive && j.app.Interactive() {
		g.In = j.app.In
	}
	return g
}

// statusOf is the exit status of a run that came to rest.
func statusOf(s *machine.State) cli.ExitStatus {
	switch s.Status {
	case machine.Parked:
		return cli.ExitParked
	case machine.Stopped:
		if s.Stop.Reason == event.StopHost {
			return cli.ExitHost
		}
		return cli.ExitStopped
	case machine.Finished:
		if s.Outcome.Outcome == event.Done {
			return cli.ExitDone
		}
		return cli.ExitFailed
	}
	return cli.ExitHost
}

// conclude folds the record into a report, writes report.md beside it and prints
// the end of the story.
func conclude(ctx context.Context, a *cli.App, p *records.Place, id event.RunID) (*ended, error) {
	summary, err := records.Summarise(ctx, a, p, id)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := page.Markdown(&text, summary, page.Options{}); err != nil {
		return nil, cli.Host(fmt.Errorf("render the report: %w", err), "")
	}
	if err := os.WriteFile(summary.Paths.Report, text.Bytes(), 0o600); err != nil {
		a.Notice("write the report: %v", err) // the record is the truth; the report can be made again
	}
	done := &ended{summary: summary, markdown: text.String()}
	if a.JSON {
		return done, a.WriteJSON(summary)
	}
	return done, page.Text(a.Out, summary, a.Colors(a.Out))
}
