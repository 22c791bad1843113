package language

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/runner/lang/diag"
)

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
