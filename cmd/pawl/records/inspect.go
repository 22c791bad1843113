package records

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/report"
	"github.com/pawl-ci/pawl/report/page"
	"github.com/pawl-ci/pawl/report/words"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/host/store"
	"github.com/pawl-ci/pawl/runner/host/workspace"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

func inspectCommand(a *cli.App) *cobra.Command {
	var look looking
	cmd := &cobra.Command{
		Use:   "inspect [RUN]",
		Short: "List the runs, or look into one",
		Long: "Lists the runs, newest first. With RUN, or with a flag for the newest run, it looks\n" +
			"into one: where it stands, its events, its artifacts with their versions, or what\n" +
			"was said in one node: prompts, answers, tools with their results, questions.",
		Example: "  pawl inspect\n  pawl inspect --json\n  pawl inspect 20261121-0655 --events\n" +
			"  pawl inspect --node fixer --full\n  pawl inspect --artifacts",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := Open(cmd.Context(), a, false)
			if err != nil {
				return err
			}
			if len(args) == 0 && look == (looking{}) {
				return inspectAll(a, p)
			}
			id, err := Chosen(a, p, args)
			if err != nil {
				return err
			}
			return look.one(cmd.Context(), a, p, id)
		},
	}
	cmd.Flags().BoolVar(&look.events, "events", false, "print the record's events")
	cmd.Flags().BoolVar(&look.artifacts, "artifacts", false, "list what was published, every version")
	cmd.Flags().StringVar(&look.node, "node", "", "print the conversation and the tools of this `NODE`")
	cmd.Flags().BoolVar(&look.full, "full", false, "print values whole")
	cmd.MarkFlagsMutuallyExclusive("events", "artifacts", "node")
	return cmd
}

// looking is what inspect shows of one run.
type looking struct {
	events, artifacts, full bool
	node                    string
}

// Resumable reports whether a run can go on.
func Resumable(r page.Row) bool {
	return r.Status != report.Done && r.Status != report.Failed && r.Process != report.ProcessAlive
}

// Rows lists the store, newest first.
func Rows(a *cli.App, p *Place) ([]page.Row, error) {
	listed, err := store.List(p.Store)
	if err != nil {
		return nil, StoreProblem(err)
	}
	rows := make([]page.Row, 0, len(listed))
	for _, l := range listed {
		events, err := Read(p, l.Run)
		if err != nil {
			a.Notice("%v", err)
			continue
		}
		s := report.Build(events, nil, report.Extra{Process: process(a, p, l.Run)})
		rows = append(rows, page.RowOf(s, time.Now()))
	}
	return rows, nil
}

func inspectAll(a *cli.App, p *Place) error {
	rows, err := Rows(a, p)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.WriteJSON(rows)
	}
	if len(rows) == 0 {
		_, err := fmt.Fprintln(a.Out, "There are no runs yet. Start one with: pawl run WORKFLOW.iter")
		return err
	}
	return page.List(a.Out, rows)
}

func (l *looking) one(ctx context.Context, a *cli.App, p *Place, id event.RunID) error {
	switch {
	case l.events:
		return printEvents(a, p, id, l.full)
	case l.artifacts:
		return l.printArtifacts(a, p, id)
	case l.node != "":
		return l.printNode(a, p, id)
	}
	summary, err := Summarise(ctx, a, p, id)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.WriteJSON(summary)
	}
	return page.Text(a.Out, summary, a.Colors(a.Out))
}

func printEvents(a *cli.App, p *Place, id event.RunID, full bool) error {
	events, err := Read(p, id)
	if err != nil {
		return err
	}
	for _, e := range events {
		raw, err := json.Marshal(e.Body)
		if err != nil {
			return cli.Host(fmt.Errorf("write event %d: %w", e.Seq, err), "")
		}
		if a.JSON {
			fmt.Fprintf(a.Out, `{"seq":%d,"time":%q,"type":%q,"token":%d,"node":%q,"data":%s}`+"\n",
				e.Seq, e.Time.Format("2006-01-02T15:04:05.000000Z"), e.Body.EventType(), e.Token, e.Node, raw)
			continue
		}
		text := words.OneLine(string(raw))
		if !full {
			text = words.Clip(text, 160)
		}
		fmt.Fprintf(a.Out, "%4d %s %-18s %-14s %s\n", e.Seq, e.Time.Format("15:04:05.000"), e.Body.EventType(), e.Node, text)
	}
	return nil
}

// Summarise folds a record and adds what only git and the disk know.
func Summarise(ctx context.Context, a *cli.App, p *Place, id event.RunID) (report.Summary, error) {
	events, err := Read(p, id)
	if err != nil {
		return report.Summary{}, err
	}
	w := recordedWorkflow(events)
	extra := report.Extra{Process: process(a, p, id), Command: invocation(a), Paths: report.Paths{
		Record: p.RunDir(id), Report: filepath.Join(p.RunDir(id), "report.md"),
	}}
	if _, err := os.Stat(p.Worktree(id)); err == nil {
		extra.Paths.Worktree = p.Worktree(id)
	}
	summary := report.Build(events, w, extra)
	if p.Repo == nil || summary.Base == "" || summary.Head == "" {
		return summary, nil
	}
	if diff, err := p.Repo.Diff(ctx, summary.Base, summary.Head); err == nil {
		extra.Diff = diffOf(diff)
		summary = report.Build(events, w, extra)
	}
	return summary, nil
}

// invocation is how pawl is called in lines to paste.
func invocation(a *cli.App) string {
	if a.Dir == "" {
		return "pawl"
	}
	return "pawl -C " + words.ShellWord(a.Dir)
}

func process(a *cli.App, p *Place, id event.RunID) report.Process {
	switch _, live, err := store.Live(p.Store, id); {
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

// FirstEvent is what opened the record; false when it is empty.
func FirstEvent(events []event.Event) (*event.RunStarted, bool) {
	if len(events) == 0 {
		return nil, false
	}
	b, ok := events[0].Body.(*event.RunStarted)
	return b, ok
}

// recordedWorkflow compiles the text in the record; nil when that is not
// possible any more, and the report goes without a picture of the graph.
func recordedWorkflow(events []event.Event) *ir.Workflow {
	src, err := Recorded(events, cli.CompileOptions{Model: "recorded"})
	if err != nil || src.Findings.HasErrors() {
		return nil
	}
	return src.Workflow
}
