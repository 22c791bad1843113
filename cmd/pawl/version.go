package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
)

// version is set by release builds: -ldflags "-X main.version=v1.2.3".
var version = "dev"

// versionText is the version with the commit it was built from, when known.
func versionText() string {
	if commit := revision(); version == "dev" && commit != "" {
		return version + "+" + commit[:12]
	}
	return version
}

// pinText is how a workflow file names the action of a release: by the commit where
// that is known, with the version for people. Other builds have none.
func pinText() string {
	switch commit := revision(); {
	case version == "dev":
		return ""
	case commit != "":
		return commit + " # " + version
	}
	return version
}

// revision is the commit that pawl was built from, or "".
func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return s.Value
		}
	}
	return ""
}

func versionCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  pawl version --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if a.JSON {
				return a.WriteJSON(map[string]string{"version": versionText()})
			}
			_, err := fmt.Fprintln(a.Out, "pawl", versionText())
			return err
		},
	}
}
