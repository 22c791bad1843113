package work

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	githubactions "github.com/sethvargo/go-githubactions"
	"github.com/spf13/cobra"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/cmd/pawl/models"
	"github.com/pawl-ci/pawl/gates/github"
	"github.com/pawl-ci/pawl/report"
	"github.com/pawl-ci/pawl/report/actions"
	"github.com/pawl-ci/pawl/report/page"
	"github.com/pawl-ci/pawl/report/words"
	"github.com/pawl-ci/pawl/runner/event"
)

func actionCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "action",
		Short: "Run as a GitHub Action: read INPUT_*, write outputs and the job summary",
		Long: "What the container of action.yml runs. Inputs and the event come from the\n" +
			"runner's environment; outputs and the job summary are written also when the run\n" +
			"fails. A parked run is a green job with status: parked.",
		Example: "  INPUT_WORKFLOW=ci-fix.iter GITHUB_OUTPUT=out GITHUB_STEP_SUMMARY=summary.md pawl action",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return action(cmd.Context(), a) },
	}
}

// action is one job: run or resume, then tell the runner. What the run prints may
// hold text from a model or a test, so the runner is told not to read it as
// commands.
func action(ctx context.Context, a *cli.App) error {
	act := githubactions.New(githubactions.WithGetenv(func(name string) string { return a.Env[name] }), githubactions.WithWriter(io.Discard))
	runnerOut := a.Out
	commands := actions.New(runnerOut, 0)
	if key := cmp.Or(act.GetInput("api-key"), a.Env["OPENAI_API_KEY"]); key != "" {
		if err := commands.Mask(key); err != nil {
			return cli.Host(fmt.Errorf("mask the key: %w", err), "")
		}
		a.Env["OPENAI_API_KEY"] = key
	}
	var done *ended
	var runErr error
	err := commands.Untrusted(rand.Reader, func(w io.Writer) error {
		a.Out, a.Err = w, w
		done, runErr = actionRun(ctx, a, act)
		return nil
	})
	a.Out, a.Err = runnerOut, runnerOut
	err = errors.Join(err, commands.Annotate(a.Annotations), tellRunner(a, done, runErr))
	if runErr != nil {
		return runErr
	}
	if a.Status == cli.ExitParked {
		a.Status = cli.ExitDone // waiting for a person is no failure of the job
	}
	return err
}

func actionRun(ctx context.Context, a *cli.App, act *githubactions.Action) (*ended, error) {
	f, err := actionFlags(a, act)
	if err != nil {
		return nil, err
	}
	if a.Dir = cmp.Or(act.GetInput("working-directory"), a.Dir); a.Dir == "" {
		a.Dir = a.Env["GITHUB_WORKSPACE"]
	}
	a.StoreDir = act.GetInput("store-dir")
	if name := act.GetInput("resume"); name != "" {
		if name == "latest" {
			name = ""
		}
		return resume(ctx, a, name, &resumeFlags{runFlags: *f})
	}
	path := act.GetInput("workflow")
	if path == "" {
		return nil, cli.Usage(errors.New("input workflow is empty"), "name the workflow's file: with: { workflow: ci-fix.iter }")
	}
	return run(ctx, a, path, f)
}

// actionFlags reads the inputs that are flags on the command line.
func actionFlags(a *cli.App, act *githubactions.Action) (*runFlags, error) {
	f := &runFlags{
		vars: lines(act.GetInput("vars")), answers: lines(act.GetInput("answers")), models: models.Defaults(),
		runID: act.GetInput("run-id"), noInteractive: true, sandbox: sandboxAuto, toolTimeout: 10 * time.Minute,
	}
	f.models.Model, f.models.BaseURL = act.GetInput("model"), act.GetInput("base-url")
	f.models.Script, f.models.Prices = act.GetInput("model-script"), act.GetInput("prices")
	set := newLimitSet(&f.limits)
	for _, name := range []string{"max-cost-usd", "max-tokens", "max-duration", "max-iterations"} {
		if v := act.GetInput(name); v != "" {
			if err := set.Set(name, v); err != nil {
				return nil, cli.Usage(fmt.Errorf("input %s: %w", name, err), "")
			}
		}
	}
	if level := act.GetInput("sandbox"); level != "" {
		if err := f.sandbox.Set(level); err != nil {
			return nil, cli.Usage(fmt.Errorf("input sandbox: %w", err), "")
		}
	}
	return f, readTrigger(a, f)
}

// readTrigger takes the event that started the job into the run.
func readTrigger(a *cli.App, f *runFlags) error {
	path := a.Env["GITHUB_EVENT_PATH"]
	if path == "" {
		return nil
	}
	payload, err := os.ReadFile(path)
	if err != nil {
		return cli.Host(fmt.Errorf("read the event: %w", err), "")
	}
	e, err := github.ParseEvent(a.Env["GITHUB_EVENT_NAME"], payload)
	if err != nil {
		return cli.Host(err, "")
	}
	a.Notice("triggered by %s", e)
	f.trigger = payload
	return nil
}

func lines(text string) []string {
	var out []string
	for _, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// tellRunner writes outputs and summary, whatever happened.
func tellRunner(a *cli.App, done *ended, runErr error) error {
	outputs := []actions.Output{{Name: "status", Value: "error"}}
	draw := func(w io.Writer, _ int) error {
		_, message, hint := cli.Explain(runErr)
		_, err := fmt.Fprintf(w, "## pawl: error\n\n%s\n", words.Code(strings.TrimSpace(cmp.Or(message, "the workflow cannot run")+" "+hint)))
		return err
	}
	if done != nil {
		outputs = actionOutputs(done.summary)
		draw = func(w io.Writer, limit int) error { return page.Markdown(w, done.summary, page.Options{Limit: limit}) }
	}
	var errs []error
	if path := a.Env["GITHUB_OUTPUT"]; path != "" {
		errs = append(errs, actions.AppendOutputs(path, rand.Reader, outputs))
	}
	if path := a.Env["GITHUB_STEP_SUMMARY"]; path != "" {
		errs = append(errs, actions.AppendSummary(path, draw))
	}
	if err := errors.Join(errs...); err != nil {
		return cli.Host(fmt.Errorf("tell the runner: %w", err), "")
	}
	return nil
}

func actionOutputs(s report.Summary) []actions.Output {
	spent := s.Budget.Spent
	return []actions.Output{
		{Name: "status", Value: actionStatus(s)},
		{Name: "run-id", Value: string(s.RunID)},
		{Name: "branch", Value: s.Branch},
		{Name: "head-sha", Value: s.Head},
		{Name: "cost-usd", Value: costUSD(spent)},
		{Name: "tokens-in", Value: fmt.Sprint(spent.TokensIn)},
		{Name: "tokens-out", Value: fmt.Sprint(spent.TokensOut)},
		{Name: "budget-left-usd", Value: budgetLeft(s)},
		{Name: "report", Value: s.Paths.Report},
		{Name: "record", Value: s.Paths.Record},
	}
}

// costUSD is empty when nobody knows what the calls cost: 0 would be a lie.
func costUSD(spent report.Spend) string {
	if spent.Unpriced && spent.Cost() == 0 {
		return ""
	}
	return strings.TrimPrefix(spent.Cost().String(), "$")
}

// actionStatus is the status in the words that workflows test for.
func actionStatus(s report.Summary) string {
	switch {
	case s.Status == report.Done && s.Head == s.Base:
		return "no-change"
	case s.Status == report.Stopped && s.Outcome.Class == string(event.StopBudget):
		return "over-budget"
	case s.Status == report.Stopped || s.Status == report.Running:
		return "error"
	}
	return string(s.Status)
}

func budgetLeft(s report.Summary) string {
	for _, g := range s.Budget.Limits {
		if g.Limit == "max_cost_usd" && g.Max > 0 {
			return strings.TrimPrefix(budget.Micros(max(g.Max-g.Used, 0)).String(), "$")
		}
	}
	return ""
}
