// Package work holds the commands that run workflows: run, resume, demo, action,
// script, the model that answers from a file, and models and doctor, which say
// whether a run could work. It wires the rooms below to
// the engine's ports.
//
// It stands on floor 8 and imports all below.
package work

import (
	"github.com/spf13/cobra"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
)

// Commands are the commands of this room, in the order of the help.
func Commands(a *cli.App) []*cobra.Command {
	return []*cobra.Command{runCommand(a), resumeCommand(a), demoCommand(a), scriptCommand(a), actionCommand(a), modelsCommand(a), doctorCommand(a)}
}
