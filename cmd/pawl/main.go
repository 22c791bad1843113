// Command pawl runs declarative agent workflows on a fresh branch of a git
// repository, verifies them with the repository's own tests, asks people at
// gates, and leaves a record and a report.
//
// It stands on floor 6: it alone reads flags and the environment, wires the
// rooms below together and knows exit statuses.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
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
	a := newApp(in, out, errOut, environ)
	root := a.command()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return int(a.status)
	}
	status, message, hint := explain(err)
	if message != "" {
		fmt.Fprintf(errOut, "pawl: %s\n", message)
	}
	if hint != "" {
		fmt.Fprintf(errOut, "  hint: %s\n", hint)
	}
	return int(status)
}
