package models

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/runner/host/model/script"
)

func scriptCommand(a *cli.App) *cobra.Command {
	var addr string
	cmd := &cobra.Command{
		Use:   "script FILE",
		Short: "Serve a scripted model over HTTP",
		Long: "Serves the exchanges of FILE as an OpenAI-compatible API on loopback until it is\n" +
			"interrupted: for trying workflows without a model, a key or a network. Every\n" +
			"answer is labelled as a script. The first line printed is the base URL.",
		Example: "  pawl script exchanges.yaml\n  pawl script exchanges.yaml --addr 127.0.0.1:8080",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return serveScript(cmd.Context(), a, args[0], addr)
		},
	}
	cmd.Flags().StringVar(&addr, "addr", "127.0.0.1:0", "listen on this loopback `ADDRESS`; port 0 picks a free one")
	return cmd
}

func serveScript(ctx context.Context, a *cli.App, path, addr string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return cli.Usage(fmt.Errorf("read model script: %w", err), "")
	}
	parsed, err := script.Parse(path, text)
	if err != nil {
		return cli.Usage(err, "")
	}
	server, err := script.Start(ctx, parsed, addr)
	if err != nil {
		return cli.Host(fmt.Errorf("start the scripted model: %w", err), "")
	}
	defer server.Close()
	if a.JSON {
		err = a.WriteJSON(map[string]string{"base_url": server.BaseURL()})
	} else {
		_, err = fmt.Fprintln(a.Out, server.BaseURL())
	}
	<-ctx.Done()
	return err
}
