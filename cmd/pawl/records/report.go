package records

import (
	"bytes"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/report/page"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/host/store"
)

func reportCommand(a *cli.App) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:     "report [RUN]",
		Short:   "Print a run's report as markdown",
		Long:    "Folds the record of a run into a report: outcome, path, timeline, evidence, money,\nchanges. Without RUN the newest run is taken.",
		Example: "  pawl report\n  pawl report 20261121-0655 --output report.md\n  pawl report --json",
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
			summary, err := Summarise(cmd.Context(), a, p, id)
			if err != nil {
				return err
			}
			if a.JSON {
				return a.WriteJSON(summary)
			}
			var text bytes.Buffer
			if err := page.Markdown(&text, summary, page.Options{}); err != nil {
				return cli.Host(fmt.Errorf("render the report: %w", err), "")
			}
			return deliver(a, output, text.Bytes())
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to `FILE` instead of standard output")
	return cmd
}

// Chosen is the run that the arguments name, or the newest one.
func Chosen(a *cli.App, p *Place, args []string) (event.RunID, error) {
	if len(args) > 0 {
		id, err := store.Resolve(p.Store, args[0])
		return id, StoreProblem(err)
	}
	listed, err := store.List(p.Store)
	if err != nil {
		return "", StoreProblem(err)
	}
	if len(listed) == 0 {
		return "", cli.Usage(fmt.Errorf("there are no runs in %s", p.Store), "start one with pawl run WORKFLOW.iter")
	}
	return listed[0].Run, nil
}

func deliver(a *cli.App, path string, text []byte) error {
	if path == "" {
		_, err := a.Out.Write(text)
		return err
	}
	if err := os.WriteFile(a.Path(path), text, 0o644); err != nil {
		return cli.Host(fmt.Errorf("write the report: %w", err), "")
	}
	return nil
}
