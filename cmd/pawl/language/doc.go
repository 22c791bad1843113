// Package language holds the commands that read workflows and run none: validate
// and explain.
//
// It stands on floor 7 and imports the surroundings of a command (cli), the
// languages (diag) and the price table (budget).
package language

import (
	"github.com/spf13/cobra"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
)

// Commands are the commands of this room, in the order of the help.
func Commands(a *cli.App) []*cobra.Command {
	return []*cobra.Command{validateCommand(a), explainCommand(a)}
}
