// Command pawl runs declarative agent workflows on a fresh branch of a git
// repository, verifies them with the repository's own tests, asks people at
// gates, and leaves a record and a report.
//
// It stands on floor 10: it puts the commands of the rooms below into one tree,
// hands them the surroundings of the process and ends with their exit status.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/cmd/pawl/compare"
	"github.com/pawl-ci/pawl/cmd/pawl/language"
	"github.com/pawl-ci/pawl/cmd/pawl/models"
	"github.com/pawl-ci/pawl/cmd/pawl/records"
	"github.com/pawl-ci/pawl/cmd/pawl/scaffold"
	"github.com/pawl-ci/pawl/cmd/pawl/work"
)

func main() { os.Exit(program()) }

// program is pawl in its process: the first SIGINT or SIGTERM stops a run in
// order.
func program() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ())
}

// Main is the whole program over its surroundings; it returns the exit status.
func Main(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer, environ []string) int {
	a := &cli.App{Version: versionText(), Pin: pinText(), In: in, Out: out, Err: errOut, Env: cli.NewEnvironment(environ)}
	root := command(a)
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return int(a.Status)
	}
	status, message, hint := cli.Explain(err)
	if message != "" {
		fmt.Fprintf(errOut, "pawl: %s\n", message)
	}
	if hint != "" {
		fmt.Fprintf(errOut, "  hint: %s\n", hint)
	}
	return int(status)
}

// command is the command tree.
func command(a *cli.App) *cobra.Command {
	root := &cobra.Command{
		Use:   "pawl",
		Short: "Agent loops that only move forward",
		Long: "pawl runs declarative agent workflows on a fresh branch of a git repository,\n" +
			"verifies them with the repository's own tests, asks people at gates, holds a\n" +
			"budget, and leaves a record and a report.",
		Example:       "  pawl demo\n  pawl run ci-fix.iter\n  pawl resume --answer approved=true\n  pawl inspect",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	a.Bind(root.PersistentFlags())
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(work.Commands(a)...)
	root.AddCommand(compare.Command(a))
	root.AddCommand(records.Commands(a)...)
	root.AddCommand(models.Commands(a)...)
	root.AddCommand(language.Commands(a)...)
	root.AddCommand(scaffold.Commands(a)...)
	root.AddCommand(versionCommand(a))
	return root
}
