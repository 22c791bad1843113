//go:build unix

package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/report"
)

// hangs are runs that stand still in the middle: the line of progress that says
// so, and what a resume needs to come through.
var hangs = []struct {
	name, workflow, exchanges, sign string
	resume                          []string
}{
	{
		name: "model", sign: "→ agent", workflow: agentThatHangs,
		exchanges: "  - match: {node: agent}\n    replies:\n      - error: {kind: hang}\n      - {text: \"done\"}\n",
	}, {
		name: "agent's tool", sign: "tokens in", workflow: agentThatHangs, resume: []string{"--tool-timeout", "1500ms"},
		exchanges: "  - match: {node: agent, turn: 1}\n    reply: {tool_calls: [{name: run_command, args: {command: \"trap '' TERM INT; sleep 1000 & wait\"}}]}\n" +
			"  - match: {node: agent, turn: 2}\n    reply: {text: \"done\"}\n",
	}, {
		name: "command", sign: "sleep 1000", exchanges: "  - reply: {text: \"never asked\"}\n",
		workflow: "tool agent:\n  command: \"test {{run.attempt}} -gt 1 || sleep 1000\"\n",
	}, {
		name: "verification", sign: "verifying", exchanges: "  - reply: {text: \"never asked\"}\n",
		workflow: "tool agent:\n  command: \"echo x > new.txt\"\n",
	},
}

const agentThatHangs = `prompt task:
  Work.

agent agent:
  model: "m"
  user: task
  tools: [run_command]
`

const hangingRest = `
workflow kill:
  entry: agent
  verify: ["sh test.sh"]
  agent -> done
`

// TestSignalsLeaveAResumableRecord ends pawl while it waits for something that
// will not come: within five seconds the record is closed in order, and another
// process goes on.
func TestSignalsLeaveAResumableRecord(t *testing.T) {
	t.Parallel()
	bin := pawlBinary(t)
	for _, h := range hangs {
		for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
			t.Run(h.name+" "+signal.String(), func(t *testing.T) {
				t.Parallel()
				v := newVictim(t, bin, "name: hang\nexchanges:\n"+h.exchanges)
				test := "true\n"
				if h.name == "verification" {
					test = "test -e go || sleep 1000\n"
				}
				for name, text := range map[string]string{"kill.iter": h.workflow + hangingRest, "test.sh": test, ".gitignore": "go\n"} {
					if err := os.WriteFile(filepath.Join(v.dir, name), []byte(text), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				v.git(t, "add", "-A")
				v.git(t, "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "hang")
				interrupt(t, v, h.sign, signal)
				if got := v.status(t); got != report.Stopped {
					t.Fatalf("the run is %s, want stopped", got)
				}
				if err := os.WriteFile(filepath.Join(v.dir, ".pawl", "worktrees", v.run, "go"), nil, 0o644); err != nil {
					t.Fatal(err)
				}
				out, err := v.command(context.Background(), append([]string{"resume", v.run}, h.resume...)...).CombinedOutput()
				if err != nil {
					t.Fatalf("resume: %v\n%s", err, out)
				}
				if out, err := exec.Command(bin, "replay", v.run, "-C", v.dir).CombinedOutput(); err != nil {
					t.Errorf("replay: %v\n%s", err, out)
				}
			})
		}
	}
}

// interrupt starts the run, sends the signal once sign is on the screen, and
// demands the end of the process in time.
func interrupt(t *testing.T, v *victim, sign string, signal syscall.Signal) {
	t.Helper()
	cmd := v.command(context.Background(), "run", "kill.iter", "--run-id", v.run, "--no-interactive")
	progress, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(progress); lines.Scan() && !strings.Contains(lines.Text(), sign); {
	}
	if err := cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(5*time.Second, func() { _ = cmd.Process.Kill() })
	_, _ = io.Copy(io.Discard, progress)
	err = cmd.Wait()
	if !late.Stop() {
		t.Fatal("pawl did not end within 5 s")
	}
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != int(cli.ExitStopped) {
		t.Fatalf("pawl ended with %v, want exit status %d", err, cli.ExitStopped)
	}
}
