package records

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/report/words"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/host/store"
	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/ir"
	"github.com/pawl-ci/pawl/runner/replay"
)

func replayCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "replay [RUN]",
		Short: "Decide every step of a record again and compare",
		Long: "Folds the record and decides every step again, without a model, a tool or a\n" +
			"repository: which node, which edge, what was asked, what an answer came to, what\n" +
			"the purse could pay. What came from outside is taken as it stands. Exit status 3\n" +
			"names the first event that says something else.",
		Example: "  pawl replay\n  pawl replay 20261121-0655 --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := Open(cmd.Context(), a, false)
			if err != nil {
				return err
			}
			id, err := Chosen(a, p, args)
			if err != nil {
				return err
			}
			return replayRun(a, p, id)
		},
	}
}

// replayed is what --json prints.
type replayed struct {
	Run        event.RunID `json:"run_id"`
	Same       bool        `json:"same"`
	Events     int         `json:"events"`    // read
	Decisions  int         `json:"decisions"` // made again
	Starts     int         `json:"starts"`    // of effects, compared
	Readings   int         `json:"readings"`  // of answers, made again
	Difference *difference `json:"difference,omitempty"`
}

type difference struct {
	Seq      event.Seq     `json:"seq"`
	Token    event.TokenID `json:"token,omitempty"`
	Node     string        `json:"node,omitempty"`
	Expected string        `json:"expected"`
	Recorded string        `json:"recorded"`
}

func replayRun(a *cli.App, p *Place, id event.RunID) error {
	events, err := readWhole(p, id)
	if err != nil {
		return err
	}
	first, err := textAt(events, 1)
	if err != nil {
		return cli.Host(fmt.Errorf("replay %s: %w", id, err), "")
	}
	result, err := replay.Run(first, events, func(b *event.RunResumed) (*ir.Workflow, error) {
		return workflowOf(Text{Path: b.Path, Source: *b.Source, Env: b.Env, Recipe: b.Recipe})
	})
	var differs *replay.Difference
	if err != nil && !errors.As(err, &differs) {
		return cli.Host(fmt.Errorf("replay %s: %w", id, err), "")
	}
	return sayReplayed(a, id, result, differs)
}

func sayReplayed(a *cli.App, id event.RunID, r replay.Result, d *replay.Difference) error {
	if a.JSON {
		out := replayed{Run: id, Same: d == nil, Events: r.Events, Decisions: r.Decisions, Starts: r.Starts, Readings: r.Readings}
		if d != nil {
			out.Difference = &difference{d.Seq, d.Token, d.Node, d.Expected, d.Recorded}
		}
		if err := a.WriteJSON(out); err != nil || d == nil {
			return err
		}
		return cli.Said(cli.ExitHost)
	}
	if d != nil {
		return cli.Host(fmt.Errorf("replay %s: event %d (%s) is not what pawl decides\n  expected %s\n  recorded %s", id, d.Seq, d.Node, d.Expected, d.Recorded),
			"another version of pawl may have made the record; otherwise this is a bug worth reporting")
	}
	_, err := fmt.Fprintf(a.Out, "%s: decided again and the same: %s, %s, %s, %s read again\n", id, words.Count(int64(r.Events), "event"),
		words.Count(int64(r.Decisions), "decision"), words.Count(int64(r.Starts), "effect"), words.Count(int64(r.Readings), "answer"))
	return err
}

// readWhole reads a record with all its values, also those that only people read.
func readWhole(p *Place, id event.RunID) ([]event.Event, error) {
	record, events, _, err := store.OpenRead(p.Store, id)
	if err != nil {
		return nil, StoreProblem(err)
	}
	defer record.Close()
	for i := range events {
		err := events[i].Visit(func(payload *event.Payload) error { return payload.Load(record.Get) })
		if err != nil {
			return nil, cli.Host(fmt.Errorf("read the record of %s: %w", id, err), "pawl verify-record "+string(id)+" says more")
		}
	}
	return events, nil
}

// textAt is the workflow that holds after the first n events.
func textAt(events []event.Event, n int) (*ir.Workflow, error) {
	if len(events) < n {
		return nil, errors.New("the record is empty: the run never started")
	}
	return workflowOf(TextOf(events[:n]))
}

func workflowOf(t Text) (*ir.Workflow, error) {
	src, err := t.compile(cli.CompileOptions{Model: "recorded"})
	if err != nil {
		return nil, err
	}
	// What ran once is decided again, whatever later rules say about the text.
	if src.Workflow == nil || src.Workflow.Entry == nil {
		return nil, fmt.Errorf("this version does not accept the recorded workflow: %s", firstProblem(src))
	}
	return src.Workflow, nil
}

func firstProblem(src *cli.Source) string {
	for _, d := range src.Findings {
		if d.Severity == diag.Error {
			return d.Message
		}
	}
	return ""
}
