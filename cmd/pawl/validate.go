package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/runner/lang/diag"
)

func (a *app) validateCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "validate FILE...",
		Short:   "Check workflows without running them",
		Long:    "Parses, compiles and checks workflows. Exit status 2 says that at least one\ncannot run; warnings alone are exit status 0.",
		Example: "  pawl validate ci-fix.iter\n  pawl validate --json *.iter",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.validate(args)
		},
	}
}

func (a *app) validate(paths []string) error {
	var all diag.List
	for _, path := range paths {
		s, err := a.readSource(path, compileOptions{lookup: a.envLookup, prices: budget.Prices()})
		if err != nil {
			return err
		}
		all = append(all, s.findings...)
		if !a.json && !s.findings.HasErrors() {
			fmt.Fprintf(a.out, "%s: workflow %s is fine: %d nodes\n", path, s.workflow.Name, len(s.workflow.Nodes)-2)
		}
	}
	all.Sort()
	if a.json {
		if err := diag.WriteJSON(a.out, all); err != nil {
			return host(fmt.Errorf("write output: %w", err), "")
		}
	} else if err := diag.Render(a.errOut, all, a.colors(a.errOut)); err != nil {
		return host(fmt.Errorf("write findings: %w", err), "")
	}
	if all.HasErrors() {
		return errSaid(exitUsage)
	}
	return nil
}

func (a *app) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "explain CODE",
		Short:   "Explain a diagnostic: why it is there, a bad and a good example",
		Example: "  pawl explain C019",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			rule, known := diag.Lookup(diag.Code(args[0]))
			if !known {
				return usage(fmt.Errorf("there is no diagnostic %s", args[0]), "codes look like C019 or P100; pawl validate prints them")
			}
			if a.json {
				return a.writeJSON(rule)
			}
			_, err := fmt.Fprintf(a.out, "%s: %s\n\n%s\n\nBad:\n\n%s\nGood:\n\n%s", rule.Code, rule.Title, rule.Why, quoted(rule.Bad), quoted(rule.Good))
			return err
		},
	}
}
