//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/report"
	"github.com/pawl-ci/pawl/report/page"
	"github.com/pawl-ci/pawl/runner/host/model/script"
)

// kills is how many runs TestKill ends with SIGKILL; PAWL_KILLS asks for more.
const kills = 10

const killWorkflow = `## Two rounds of mending, then a gate.
schema fix:
  summary: string

prompt task:
  Mend it.

tool run_tests:
  uses: builtin.verify

agent fixer:
  model: "m"
  user: task
  output: fix
  tools: [read_file, write_file, run_command]
  max_tokens: 200

human approve:
  mode: pause_until_answers

workflow kill:
  entry: run_tests
  verify: ["sh test.sh"]
  budget:
    max_tokens: 1000000
    max_cost_usd: 100
  run_tests -> approve when passed
  run_tests -> fixer when not passed as fix(4)
  fixer -> run_tests
  approve -> done when approved
  approve -> fail when not approved
`

const killScript = `
name: kill
price: {input: 1, output: 1}
exchanges:
  - match: {node: fixer, visit: 1, turn: 1}
    reply: {delay: 15ms, tool_calls: [{name: write_file, args: {path: a.txt, content: "half\n"}}]}
  - match: {node: fixer, visit: 1, turn: 2}
    reply: {delay: 15ms, tool_calls: [{name: run_command, args: {command: "echo more >> log.txt; sleep 0.02; echo end >> log.txt"}}]}
  - match: {node: fixer, visit: 1, turn: 3}
    reply: {delay: 15ms, json: {summary: "half of it"}}
  - match: {node: fixer, visit: 2, turn: 1}
    reply: {delay: 15ms, tool_calls: [{name: read_file, args: {path: log.txt}}, {name: write_file, args: {path: a.txt, content: "fixed\n"}}]}
  - match: {node: fixer, visit: 2, turn: 2}
    reply: {delay: 15ms, json: {summary: "all of it"}}
`

// TestKill ends pawl run with SIGKILL at random moments and resumes. Whatever
// the moment: the same result, no recorded model call made again, and a budget
// in the report that is the sum over all attempts.
func TestKill(t *testing.T) {
	t.Parallel()
	n := kills
	if text := os.Getenv("PAWL_KILLS"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	} else if testing.Short() {
		n = 3
	}
	bin := pawlBinary(t)
	began := time.Now()
	clean := newVictim(t, bin, killScript)
	clean.finish(t)
	whole := time.Since(began)
	seed := uint64(began.UnixNano())
	random := rand.New(rand.NewPCG(seed, 1))
	t.Logf("a run takes %s; seed %d", whole.Round(time.Millisecond), seed)
	killed, resumed := 0, 0
	for i := range n {
		v := newVictim(t, bin, killScript)
		after := time.Duration(random.Int64N(int64(whole)))
		if v.killAfter(after) {
			killed++
		}
		resumed += v.finish(t)
		v.compare(t, clean)
		if t.Failed() {
			t.Fatalf("kill %d, after %s", i, after)
		}
	}
	t.Logf("%d runs, %d killed while working, %d resumes", n, killed, resumed)
}

// TestTerminate ends runs with SIGTERM, as a CI system does that cancels a job,
// while the model is thinking: the record says so, and a resume goes on.
func TestTerminate(t *testing.T) {
	t.Parallel()
	bin := pawlBinary(t)
	clean := newVictim(t, bin, killScript)
	clean.finish(t)
	for _, turn := range []string{"visit: 1, turn: 1", "visit: 2, turn: 2"} {
		v := newVictim(t, bin, hanging(turn))
		cmd := v.start(context.Background())
		progress, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// From here on the run waits for an answer that does not come.
		for lines := bufio.NewScanner(progress); lines.Scan(); {
			if strings.Contains(lines.Text(), "→ fixer") && strings.Contains(lines.Text(), "visit 2") == strings.HasPrefix(turn, "visit: 2") {
				break
			}
		}
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = io.Copy(io.Discard, progress) }()
		err = cmd.Wait()
		if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != int(cli.ExitStopped) {
			t.Fatalf("%s: after SIGTERM pawl ended with %v, want exit status %d", turn, err, cli.ExitStopped)
		}
		if got := v.status(t); got != report.Stopped {
			t.Errorf("%s: after SIGTERM the run is %s, want stopped", turn, got)
		}
		v.finish(t)
		v.compare(t, clean)
	}
}

// hanging is the script with one answer that does not come the first time.
func hanging(turn string) string {
	from := "match: {node: fixer, " + turn + "}\n    reply: {"
	to := "match: {node: fixer, " + turn + "}\n    replies:\n      - error: {kind: hang}\n      - {"
	return strings.Replace(killScript, from, to, 1)
}

// pawlBinary is this test binary under the name that makes it pawl.
func pawlBinary(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "pawl")
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	return link
}

// victim is one repository with one run in it, and its own scripted model.
type victim struct {
	bin, dir string
	server   *script.Server
	run      string
}

func newVictim(t *testing.T, bin, exchanges string) *victim {
	t.Helper()
	v := &victim{bin: bin, dir: t.TempDir(), run: "victim"}
	for name, text := range map[string]string{
		"kill.iter": killWorkflow, "a.txt": "broken\n", "test.sh": "grep -q fixed a.txt || { echo still $(cat a.txt); exit 1; }\n",
	} {
		if err := os.WriteFile(filepath.Join(v.dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "start"}} {
		v.git(t, args...)
	}
	prices := `{"models":[{"match":"*","input":1,"output":1}]}`
	if err := os.WriteFile(filepath.Join(v.dir, ".git", "prices.json"), []byte(prices), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := script.Parse("kill.yaml", []byte(exchanges))
	if err != nil {
		t.Fatal(err)
	}
	if v.server, err = script.Start(context.Background(), s, "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.server.Close() })
	return v
}

func (v *victim) git(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-C", v.dir}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (v *victim) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, v.bin, append(args, "-C", v.dir, "--base-url", v.server.BaseURL(), "--model-timeout", "3s", "--prices", filepath.Join(v.dir, ".git", "prices.json"))...)
	cmd.Env = append(os.Environ(), "HOME="+v.dir+"/.git", "GIT_CONFIG_GLOBAL="+os.DevNull)
	return cmd
}

func (v *victim) start(ctx context.Context) *exec.Cmd {
	return v.command(ctx, "run", "kill.iter", "--run-id", v.run, "--answer", "approved=true", "--no-interactive")
}

// killAfter begins the run and ends it with SIGKILL; it reports whether the run
// was still going.
func (v *victim) killAfter(d time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return v.start(ctx).Run() != nil && ctx.Err() != nil
}

var noRun = regexp.MustCompile(`no run in|no run that can go on|never started`)

// finish brings the run to its end and returns how many resumes that took. A
// run that was killed before its record existed is begun again.
func (v *victim) finish(t *testing.T) (resumes int) {
	t.Helper()
	for range 5 {
		if v.status(t) == report.Done {
			return resumes
		}
		cmd := v.command(context.Background(), "resume", v.run, "--answer", "approved=true", "--no-interactive")
		out, err := cmd.CombinedOutput()
		if err == nil {
			resumes++
			continue
		}
		if exit, ok := err.(*exec.ExitError); ok && exit.ExitCode() == int(cli.ExitParked) {
			resumes++
			continue
		}
		if !noRun.Match(out) {
			t.Fatalf("resume: %v\n%s", err, out)
		}
		v.run += "x"
		if out, err := v.start(context.Background()).CombinedOutput(); err != nil {
			t.Fatalf("run: %v\n%s", err, out)
		}
	}
	t.Fatalf("the run does not end; it is %s", v.status(t))
	return resumes
}

func (v *victim) status(t *testing.T) report.Status {
	t.Helper()
	out, err := exec.Command(v.bin, "inspect", "--json", "-C", v.dir).Output()
	if err != nil {
		t.Fatalf("inspect: %v\n%s", err, out)
	}
	var rows []page.Row
	if err := json.Unmarshal(out, &rows); err != nil {
		t.Fatalf("inspect: %v\n%s", err, out)
	}
	if len(rows) == 0 {
		return "none"
	}
	return rows[0].Status
}

// compare holds the result against that of a run nobody disturbed.
func (v *victim) compare(t *testing.T, clean *victim) {
	t.Helper()
	if got, want := v.tree(t), clean.tree(t); got != want {
		t.Errorf("the branch holds\n%s\nwant\n%s", got, want)
	}
	finished, measured, charged := v.calls(t)
	for call, n := range finished {
		if n != 1 {
			t.Errorf("model call %s is recorded as finished %d times", call, n)
		}
	}
	if len(finished) != 5 {
		t.Errorf("%d model calls finished, want 5", len(finished))
	}
	s := v.report(t)
	if got := s.Budget.Spent; got.TokensIn+got.TokensOut != measured || got.ForfeitedTokens != charged {
		t.Errorf("the report says %+v, the record %d measured and %d forfeited", got, measured, charged)
	}
	asked := len(v.server.Journal().Requests)
	if int64(asked) > 5+s.Budget.Spent.ForfeitedCalls {
		t.Errorf("%d requests for 5 answers and %d forfeited calls", asked, s.Budget.Spent.ForfeitedCalls)
	}
	if out := v.git(t, "status", "--porcelain"); out != "" {
		t.Errorf("the checkout changed: %s", out)
	}
}

func (v *victim) tree(t *testing.T) string {
	branch := strings.TrimSpace(v.git(t, "for-each-ref", "--format=%(refname)", "refs/heads/pawl/kill/"+v.run))
	return v.git(t, "show", branch+":a.txt") + v.git(t, "show", branch+":log.txt") + v.git(t, "ls-tree", "-r", "--name-only", branch)
}

// calls reads the record itself: finished calls by node, visit and turn, tokens
// measured, tokens forfeited.
func (v *victim) calls(t *testing.T) (finished map[string]int, measured, charged int64) {
	t.Helper()
	out, err := exec.Command(v.bin, "inspect", v.run, "--events", "--json", "-C", v.dir).Output()
	if err != nil {
		t.Fatalf("inspect --events: %v", err)
	}
	finished = make(map[string]int)
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		var e struct {
			Type string
			Data struct {
				Key     string
				Usage   struct{ Input, Output int64 }
				Charged struct{ Tokens int64 }
			}
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if e.Type == "ModelCallFinished" {
			finished[e.Data.Key[:strings.LastIndex(e.Data.Key, "/")]]++
			measured += e.Data.Usage.Input + e.Data.Usage.Output
		}
		charged += e.Data.Charged.Tokens
	}
	return finished, measured, charged
}

func (v *victim) report(t *testing.T) report.Summary {
	t.Helper()
	out, err := exec.Command(v.bin, "report", v.run, "--json", "-C", v.dir).Output()
	if err != nil {
		t.Fatalf("report: %v", err)
	}
	var s report.Summary
	if err := json.Unmarshal(out, &s); err != nil {
		t.Fatal(fmt.Errorf("report: %w", err))
	}
	return s
}
