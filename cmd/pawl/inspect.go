package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-ci/pawl/report"
	"github.com/pawl-ci/pawl/report/page"
	"github.com/pawl-ci/pawl/report/words"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/host/store"
	"github.com/pawl-ci/pawl/runner/host/workspace"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

func (a *app) inspectCommand() *cobra.Command {
	var events bool
	cmd := &cobra.Command{
		Use:     "inspect [RUN]",
		Short:   "List the runs, or look into one",
		Example: "  pawl inspect\n  pawl inspect --json\n  pawl inspect 20261121-0655 --events",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := a.openPlace(cmd.Context(), false)
			if err != nil {
				return err
			}
			if len(args) == 0 && !events {
				return a.inspectAll(p)
			}
			id, err := a.chosen(p, args)
			if err != nil {
				return err
			}
			return a.inspectOne(cmd.Context(), p, id, events)
		},
	}
	cmd.Flags().BoolVar(&events, "events", false, "print the record's events (without RUN, of the newest run)")
	return cmd
}

// resumable reports whether a run can go on.
func resumable(r page.Row) bool {
	return r.Status != report.Done && r.Status != report.Failed && r.Process != report.ProcessAlive
}

// runs lists the store, newest first.
func (a *app) runs(p *place) ([]page.Row, error) {
	listed, err := store.List(p.store)
	if err != nil {
		return nil, storeProblem(err)
	}
	rows := make([]page.Row, 0, len(listed))
	for _, l := range listed {
		events, err := readRun(p, l.Run)
		if err != nil {
			a.notice("%v", err)
			continue
		}
		s := report.Build(events, nil, report.Extra{Process: a.process(p, l.Run)})
		rows = append(rows, page.RowOf(s, time.Now()))
	}
	return rows, nil
}

func (a *app) inspectAll(p *place) error {
	rows, err := a.runs(p)
	if err != nil {
		return err
	}
	if a.json {
		return a.writeJSON(rows)
	}
	if len(rows) == 0 {
		_, err := fmt.Fprintln(a.out, "There are no runs yet. Start one with: pawl run WORKFLOW.iter")
		return err
	}
	return page.List(a.out, rows)
}

func (a *app) inspectOne(ctx context.Context, p *place, id event.RunID, events bool) error {
	if events {
		return a.printEvents(p, id)
	}
	summary, err := a.summarise(ctx, p, id)
	if err != nil {
		return err
	}
	if a.json {
		return a.writeJSON(summary)
	}
	return page.Text(a.out, summary, a.colors(a.out))
}

func (a *app) printEvents(p *place, id event.RunID) error {
	events, err := readRun(p, id)
	if err != nil {
		return err
	}
	for _, e := range events {
		raw, err := json.Marshal(e.Body)
		if err != nil {
			return host(fmt.Errorf("write event %d: %w", e.Seq, err), "")
		}
		if a.json {
			fmt.Fprintf(a.out, `{"seq":%d,"time":%q,"type":%q,"token":%d,"node":%q,"data":%s}`+"\n",
				e.Seq, e.Time.Format("2006-01-02T15:04:05.000000Z"), e.Body.EventType(), e.Token, e.Node, raw)
			continue
		}
		fmt.Fprintf(a.out, "%4d %s %-18s %-14s %s\n", e.Seq, e.Time.Format("15:04:05.000"), e.Body.EventType(), e.Node, plainLine(string(raw)))
	}
	return nil
}

// summarise folds a record and adds what only git and the disk know.
func (a *app) summarise(ctx context.Context, p *place, id event.RunID) (report.Summary, error) {
	events, err := readRun(p, id)
	if err != nil {
		return report.Summary{}, err
	}
	w := recordedWorkflow(events)
	extra := report.Extra{Process: a.process(p, id), Command: a.invocation(), Paths: report.Paths{
		Record: p.runDir(id), Report: filepath.Join(p.runDir(id), "report.md"),
	}}
	if _, err := os.Stat(p.worktree(id)); err == nil {
		extra.Paths.Worktree = p.worktree(id)
	}
	summary := report.Build(events, w, extra)
	if p.repo == nil || summary.Base == "" || summary.Head == "" {
		return summary, nil
	}
	if diff, err := p.repo.Diff(ctx, summary.Base, summary.Head); err == nil {
		extra.Diff = diffOf(diff)
		summary = report.Build(events, w, extra)
	}
	return summary, nil
}

// invocation is how pawl is called in lines to paste.
func (a *app) invocation() string {
	if a.dir == "" {
		return "pawl"
	}
	return "pawl -C " + words.ShellWord(a.dir)
}

func (a *app) process(p *place, id event.RunID) report.Process {
	switch _, live, err := store.Live(p.store, id); {
	case err != nil:
		return report.ProcessUnknown
	case live:
		return report.ProcessAlive
	}
	return report.ProcessGone
}

func diffOf(d workspace.DiffStat) *report.Diff {
	out := &report.Diff{Added: d.Insertions, Removed: d.Deletions, Files: []report.FileChange{}}
	for _, f := range d.Files {
		out.Files = append(out.Files, report.FileChange{
			Path: f.Path, From: f.From, Status: string(f.Status), Added: f.Insertions, Removed: f.Deletions, Binary: f.Binary,
		})
	}
	return out
}

// firstEvent is what opened the record.
func firstEvent(events []event.Event) (*event.RunStarted, bool) {
	if len(events) == 0 {
		return nil, false
	}
	b, ok := events[0].Body.(*event.RunStarted)
	return b, ok
}

// recordedWorkflow compiles the text in the record; nil when that is not
// possible any more, and the report goes without a picture of the graph.
func recordedWorkflow(events []event.Event) *ir.Workflow {
	first, ok := firstEvent(events)
	if !ok {
		return nil
	}
	var text string
	if json.Unmarshal(first.Source.Raw(), &text) != nil {
		return nil
	}
	src := compile(first.Path, text, compileOptions{lookup: recordedEnv(first.Env), model: "recorded"})
	if src.findings.HasErrors() {
		return nil
	}
	return src.workflow
}

// quoted indents an example.
func quoted(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n    ") + "\n\n"
}
