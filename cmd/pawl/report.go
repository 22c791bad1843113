package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/pawl-ci/pawl/report/page"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/host/store"
)

func (a *app) reportCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:     "report [RUN]",
		Short:   "Print a run's report as markdown",
		Long:    "Folds the record of a run into a report: outcome, path, timeline, evidence, money,\nchanges. Without RUN the newest run is taken.",
		Example: "  pawl report\n  pawl report 20261121-0655 --output report.md\n  pawl report --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := a.openPlace(cmd.Context(), false)
			if err != nil {
				return err
			}
			id, err := a.chosen(p, args)
			if err != nil {
				return err
			}
			summary, err := a.summarise(cmd.Context(), p, id)
			if err != nil {
				return err
			}
			if a.json {
				return a.writeJSON(summary)
			}
			var text bytes.Buffer
			if err := page.Markdown(&text, summary, page.Options{}); err != nil {
				return host(fmt.Errorf("render the report: %w", err), "")
			}
			return a.deliver(output, text.Bytes())
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to `FILE` instead of standard output")
	return cmd
}

// chosen is the run that the arguments name, or the newest one.
func (a *app) chosen(p *place, args []string) (event.RunID, error) {
	if len(args) > 0 {
		id, err := store.Resolve(p.store, args[0])
		return id, storeProblem(err)
	}
	listed, err := store.List(p.store)
	if err != nil {
		return "", storeProblem(err)
	}
	if len(listed) == 0 {
		return "", usage(fmt.Errorf("there are no runs in %s", p.store), "start one with pawl run WORKFLOW.iter")
	}
	return listed[0].Run, nil
}

func (a *app) deliver(path string, text []byte) error {
	if path == "" {
		_, err := a.out.Write(text)
		return err
	}
	if err := os.WriteFile(a.path(path), text, 0o644); err != nil {
		return host(fmt.Errorf("write the report: %w", err), "")
	}
	return nil
}
