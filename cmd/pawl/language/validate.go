package language

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/runner/lang/diag"
)

func validateCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "validate FILE...",
		Short:   "Check workflows without running them",
		Long:    "Parses, compiles and checks workflows. Exit status 2 says that at least one\ncannot run; warnings alone are exit status 0.",
		Example: "  pawl validate ci-fix.iter\n  pawl validate --json *.iter",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return validate(a, args)
		},
	}
}

func validate(a *cli.App, paths []string) error {
	var all diag.List
	for _, path := range paths {
		s, err := a.ReadSource(path, cli.CompileOptions{Lookup: a.LookupEnv, Prices: budget.Prices()})
		if err != nil {
			return err
		}
		all = append(all, s.Findings...)
		if !a.JSON && !s.Findings.HasErrors() {
			fmt.Fprintf(a.Out, "%s: workflow %s is fine: %d nodes\n", path, s.Workflow.Name, len(s.Workflow.Nodes)-2)
		}
	}
	all.Sort()
	if a.JSON {
		if err := diag.WriteJSON(a.Out, all); err != nil {
			return cli.Host(fmt.Errorf("write output: %w", err), "")
		}
	} else if err := diag.Render(a.Err, all, a.Colors(a.Err)); err != nil {
		return cli.Host(fmt.Errorf("write findings: %w", err), "")
	}
	if all.HasErrors() {
		return cli.Said(cli.ExitUsage)
	}
	return nil
}

func explainCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "explain CODE",
		Short:   "Explain a diagnostic: why it is there, a bad and a good example",
		Example: "  pawl explain C019",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			rule, known := diag.Lookup(diag.Code(args[0]))
			if !known {
				return cli.Usage(fmt.Errorf("there is no diagnostic %s", args[0]), "codes look like C019 or P100; pawl validate prints them")
			}
			if a.JSON {
				return a.WriteJSON(rule)
			}
			_, err := fmt.Fprintf(a.Out, "%s: %s\n\n%s\n\nBad:\n\n%s\nGood:\n\n%s", rule.Code, rule.Title, rule.Why, quoted(rule.Bad), quoted(rule.Good))
			return err
		},
	}
}

// quoted indents an example.
func quoted(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n    ") + "\n\n"
}
