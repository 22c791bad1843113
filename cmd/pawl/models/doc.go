// Package models knows who answers model calls from where pawl was started, and
// holds the commands about that: models, doctor, and script, the model that
// answers from a file.
//
// It stands on floor 7 and imports the surroundings of a command (cli), the
// clients and who is behind them (model, provider, script), the words of what
// they answer (runner, ir, diag, budget, words), and what a run needs beside them
// (workspace, confine).
package models

import (
	"github.com/spf13/cobra"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/report/words"
)

// Commands are the commands of this room, in the order of the help.
func Commands(a *cli.App) []*cobra.Command {
	return []*cobra.Command{modelsCommand(a), doctorCommand(a), scriptCommand(a)}
}

// line keeps text from a server from moving the cursor or taking more than one
// line.
func line(text string) string { return words.Clip(words.OneLine(text), 200) }
