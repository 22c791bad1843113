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
	info, ok := debug.ReadBuildInfo()
	if !ok || version != "dev" {
		return version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return version + "+" + s.Value[:12]
		}
	}
	return version
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
