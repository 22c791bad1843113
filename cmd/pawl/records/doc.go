// Package records knows where runs are kept, and holds the commands that read
// them: inspect, report, verify-record and replay. None of them changes a run.
//
// It stands on floor 7 and imports the surroundings of a command (cli), the record
// (event, store, replay), the repository (workspace), the workflow (ir) and the report
// (report, page, words).
package records

import (
	"github.com/spf13/cobra"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
)

// Commands are the commands of this room, in the order of the help.
func Commands(a *cli.App) []*cobra.Command {
	return []*cobra.Command{inspectCommand(a), reportCommand(a), verifyRecordCommand(a), replayCommand(a)}
}
