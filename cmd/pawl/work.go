package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-ci/pawl/gates/local"
	"github.com/pawl-ci/pawl/report"
	"github.com/pawl-ci/pawl/report/page"
	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/host/sandbox"
	"github.com/pawl-ci/pawl/runner/host/tool"
	"github.com/pawl-ci/pawl/runner/host/verify"
	"github.com/pawl-ci/pawl/runner/machine"
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
	ports, closeTools, err := j.ports(state)
	if err != nil {
		return nil, err
	}
	j.place.notices(j.app)
	if j.tree != nil && len(j.tree.Submodules) > 0 {
		j.app.notice("submodules stay empty in the worktree: %s", plainLine(strings.Join(j.tree.Submodules, ", ")))
	}
	show := newProgress(j.app.errOut, j.app.colors(j.app.errOut))
	if j.branch != "" {
		show.line("", show.paint(dim, "·"), "run "+string(j.id)+" on branch "+j.branch)
	}
	runErr := runner.Run(ctx, state, opening, j.id, ports, runner.Options{
		Prices: j.settings.prices, Redact: j.settings.redact.String, Progress: show.show,
	})
	var bad *runner.AnswerError
	if runErr != nil && !errors.As(runErr, &bad) {
		return nil, host(runErr, first(diskHint(runErr), "what is recorded is safe; go on with: pawl resume "+string(j.id)))
	}
	// The report must be written even when the run was cancelled.
	ctx = context.WithoutCancel(ctx)
	if err := closeTools(); err != nil {
		j.app.notice("let go of the worktree: %v", err)
	}
	j.giveBack(ctx, state)
	done, err := j.app.conclude(ctx, j.place, j.id)
	if err != nil {
		return nil, err
	}
	done.state = state
	for _, key := range j.settings.answers.Unused() {
		j.app.notice("--answer %s: no gate asked for it", key)
	}
	j.app.status = statusOf(state)
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
	err := errors.Join(j.place.repo.Remove(ctx, j.tree.Path), j.place.repo.DropSnapshots(ctx, j.branch))
	if err != nil {
		j.app.notice("give the worktree back: %v", err)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, giveBackPatience)
	defer cancel()
	_ = j.place.repo.Wait(ctx) // nobody depends on it
}

// ports wires the rooms below to the engine; done lets go of the worktree.
func (j *job) ports(state *machine.State) (ports runner.Ports, done func() error, err error) {
	root := j.place.store
	if j.tree != nil {
		root = j.tree.Path
	}
	env := sandbox.Environment(j.app.env.lines(), j.app.privateHome(j.place), nil)
	shell := tool.NewShell(tool.ShellConfig{Root: root, Env: env, RunID: j.place.mark(j.id), Timeout: j.flags.toolTimeout})
	base := state.Base
	if base == "" && j.place.repo != nil {
		base = j.place.repo.Head
	}
	tools, err := tool.New(tool.Config{Root: root, Shell: shell, Base: base, Env: env})
	if err != nil {
		return runner.Ports{}, nil, host(fmt.Errorf("set up the tools: %w", err), "")
	}
	p := runner.Ports{
		Model: j.settings.client(), Tools: tools, Shell: shell, Verifier: verify.New(shell, os.DirFS(root), verify.Options{}),
		Gate: j.gate(state), Log: j.record, Blobs: j.record, Clock: wallClock{},
	}
	if j.tree != nil {
		p.Workspace = j.tree
	}
	return p, tools.Close, nil
}

// gate asks at the terminal, or takes the answers that were given. Answers given
// to a resume concern the gates that were open then, and no later one.
func (j *job) gate(state *machine.State) *local.Gate {
	g := &local.Gate{Answers: j.settings.answers, Out: j.app.errOut, By: first(j.app.env.first("GITHUB_ACTOR", "USER", "LOGNAME", "USERNAME"), "somebody on this machine")}
	if open := state.OpenGates(); state.Status != machine.New {
		g.Only = make(map[string]bool, len(open))
		for _, name := range open {
			g.Only[name] = true
		}
	}
	if !j.flags.noInteractive && j.app.interactive() {
		g.In = j.app.in
	}
	return g
}

// privateHome is where toolchains keep their caches when there is no HOME.
func (a *app) privateHome(p *place) string {
	return filepath.Join(p.store, "home")
}

// conclude folds the record into a report, writes report.md beside it and prints
// the end of the story.
func (a *app) conclude(ctx context.Context, p *place, id event.RunID) (*ended, error) {
	summary, err := a.summarise(ctx, p, id)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := page.Markdown(&text, summary, page.Options{}); err != nil {
		return nil, host(fmt.Errorf("render the report: %w", err), "")
	}
	if err := os.WriteFile(summary.Paths.Report, text.Bytes(), 0o600); err != nil {
		a.notice("write the report: %v", err) // the record is the truth; the report can be made again
	}
	done := &ended{summary: summary, markdown: text.String()}
	if a.json {
		return done, a.writeJSON(summary)
	}
	return done, page.Text(a.out, summary, a.colors(a.out))
}
