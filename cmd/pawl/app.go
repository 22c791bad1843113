package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/pawl-ci/pawl/report/actions"
)

// app is one invocation: its streams, its environment and the global flags.
type app struct {
	in     io.Reader
	out    io.Writer
	errOut io.Writer
	env    environment
	status exitStatus
	// annotations are findings that the action shows on their lines.
	annotations []actions.Annotation

	dir      string
	storeDir string
	json     bool
	color    string
}

func newApp(in io.Reader, out, errOut io.Writer, environ []string) *app {
	return &app{in: in, out: out, errOut: errOut, env: newEnvironment(environ)}
}

// command is the command tree; one file holds one command.
func (a *app) command() *cobra.Command {
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
	flags := root.PersistentFlags()
	flags.StringVarP(&a.dir, "dir", "C", "", "work in the repository of `DIR` instead of the current directory")
	flags.StringVar(&a.storeDir, "store-dir", "", "keep records and worktrees in `DIR` (default: .pawl in the repository)")
	flags.BoolVar(&a.json, "json", false, "write machine-readable JSON to standard output")
	flags.StringVar(&a.color, "color", "auto", "colour: auto, always or never (NO_COLOR is honoured)")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(
		a.runCommand(), a.resumeCommand(), a.inspectCommand(), a.reportCommand(), a.validateCommand(),
		a.explainCommand(), a.demoCommand(), a.scriptCommand(), a.verifyRecordCommand(), a.actionCommand(), a.versionCommand(),
	)
	return root
}

// path is a path that the user gave: relative to the directory of -C, as with
// git.
func (a *app) path(given string) string {
	if a.dir == "" || filepath.IsAbs(given) {
		return given
	}
	return filepath.Join(a.dir, given)
}

// colors reports whether w gets colour.
func (a *app) colors(w io.Writer) bool {
	switch a.color {
	case "always":
		return true
	case "never":
		return false
	}
	return a.env["NO_COLOR"] == "" && a.env["TERM"] != "dumb" && isTerminal(w)
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// interactive reports whether a person can be asked here.
func (a *app) interactive() bool {
	return isTerminal(a.in) && isTerminal(a.errOut) && !a.env.truthy("CI")
}

// writeJSON is the one way to write --json output.
func (a *app) writeJSON(v any) error {
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return host(fmt.Errorf("write output: %w", err), "")
	}
	return nil
}

// notice tells a person something that is no error.
func (a *app) notice(format string, args ...any) {
	fmt.Fprintf(a.errOut, "pawl: "+format+"\n", args...)
}
