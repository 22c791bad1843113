package tool

import (
	"context"
	"fmt"
	"time"

	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/host/tool/excerpt"
)

// runCommand gives a command one stream for both outputs: then they are in the
// order in which they were written. How long it took is for people only; to a
// model the same command says the same.
func (t *Tools) runCommand(ctx context.Context, a args) (runner.ToolResult, error) {
	line := a.text("command")
	if t.c.Shell == nil {
		return runner.ToolResult{}, problem("commands cannot be run here")
	}
	if line == "" {
		return runner.ToolResult{}, problem("the command is empty")
	}
	limit := time.Duration(a.number("timeout_seconds", 0)) * time.Second
	r, err := t.c.Shell.Run(ctx, runner.ShellCommand{Line: "exec 2>&1; " + line, Timeout: min(limit, t.c.Longest)})
	if err != nil {
		return runner.ToolResult{}, err
	}
	how, short := fmt.Sprintf("exit %d", r.Exit), fmt.Sprintf("exit %d", r.Exit)
	if r.TimedOut {
		how = "stopped: it did not end in time; what it printed until then:"
		short = "timed out"
	}
	text := how
	if out := excerpt.Of(r.Stdout, maxCommand-len(how)-1); out != "" {
		text += "\n" + out
	}
	return runner.ToolResult{
		Text: text, Error: r.Exit != 0 || r.TimedOut,
		Summary: fmt.Sprintf("run %s (%s, %s)", clip(line, 60), short, seconds(r.Took)),
	}, nil
}

func seconds(d time.Duration) string {
	if d >= time.Minute {
		return d.Round(time.Second).String()
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
