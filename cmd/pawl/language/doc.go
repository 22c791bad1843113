// Package language holds the commands that read workflows and run none: validate,
// fmt, explain and diagram, and lsp, which serves those who write them.
//
// It stands on floor 7 and imports the surroundings of a command (cli), the
// findings (diag), worst cases (flow) and prices (budget), GitHub's annotations
// (actions), how pawl writes for people (words), drawings (diagram), the layout of
// files (format), the server for editors (lsp), the names of the tools (tool), and
// git, which knows what a repository holds.
package language

import (
	"github.com/spf13/cobra"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
)

// Commands are the commands of this room, in the order of the help.
func Commands(a *cli.App) []*cobra.Command {
	return []*cobra.Command{validateCommand(a), fmtCommand(a), explainCommand(a), diagramCommand(a), lspCommand(a)}
}
