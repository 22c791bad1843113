// Package work holds the commands that run workflows: run, resume, demo and
// action. It wires the rooms below to the engine's ports, for commands above it
// too.
//
// It stands on floor 8 and imports all below.
package work

import (
	"github.com/spf13/cobra"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
)

// Commands are the commands of this room, in the order of the help.
func Commands(a *cli.App) []*cobra.Command {
	return []*cobra.Command{runCommand(a), resumeCommand(a), demoCommand(a), actionCommand(a)}
}
