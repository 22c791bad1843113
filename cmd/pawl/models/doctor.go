package models

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/host/model"
	"github.com/pawl-ci/pawl/runner/host/sandbox/confine"
	"github.com/pawl-ci/pawl/runner/host/workspace"
	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

func doctorCommand(a *cli.App) *cobra.Command {
	var probe bool
	f := Defaults()
	cmd := &cobra.Command{
		Use:   "doctor [WORKFLOW.iter]",
		Short: "Check that a run could work here, before money is spent",
		Long: "Looks at the repository, the sandbox, and the models that the workflow asks:\n" +
			"whether they are reachable, the key is valid and the model exists. With --probe\n" +
			"each model is asked one short question, to see whether it answers in a schema and\n" +
			"calls tools; that costs a few hundred tokens a model.\n\n" +
			"Exit status: 0 all is well, 2 something must be mended.",
		Example: "  pawl doctor\n  pawl doctor ci-fix.iter\n  pawl doctor ci-fix.iter --probe --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return doctor(cmd.Context(), a, f, args, probe)
		},
	}
	cmd.Flags().BoolVar(&probe, "probe", false, "ask each model a short question; costs a few hundred tokens")
	cmd.Flags().StringVar(&f.Model, "model", "", "use this model for every node")
	cmd.Flags().StringVar(&f.BaseURL, "base-url", "", "`URL` of an OpenAI-compatible API")
	cmd.Flags().StringVar(&f.Script, "model-script", "", "let the scripted model of `FILE` answer")
	return cmd
}

// finding is one thing that was looked at.
type finding struct {
	Check  string `json:"check"`
	Status string `json:"status"` // ok, warning or error
	Detail string `json:"detail"`
	Hint   string `json:"hint,omitempty"`
}

// examination collects findings in the order in which they are made.
type examination struct{ Findings []finding }

func (e *examination) ok(check, format string, args ...any) {
	e.Findings = append(e.Findings, finding{check, "ok", fmt.Sprintf(format, args...), ""})
}

func (e *examination) warn(check, detail, hint string) {
	e.Findings = append(e.Findings, finding{check, "warning", detail, hint})
}

func (e *examination) bad(check string, err error, hint string) {
	_, message, own := cli.Explain(err)
	if own != "" {
		hint = own
	}
	e.Findings = append(e.Findings, finding{check, "error", message, hint})
}

func doctor(ctx context.Context, a *cli.App, f Flags, args []string, probe bool) error {
	set, err := Open(ctx, a, f)
	if err != nil {
		return err
	}
	defer set.Close()
	e := &examination{}
	e.repository(ctx, a)
	e.sandbox()
	names := []string{}
	if f.Model != "" {
		names = append(names, f.Model)
	}
	if len(args) > 0 {
		names = append(names, e.workflow(a, set, args[0])...)
	}
	if len(args) == 0 && len(names) == 0 {
		e.providers(ctx, set)
	}
	for _, name := range slices.Compact(names) {
		e.model(ctx, set, name, probe)
	}
	return e.deliver(a)
}

func (e *examination) repository(ctx context.Context, a *cli.App) {
	repo, err := workspace.Open(ctx, a.Path("."), workspace.Options{Env: a.Env.Lines(), TrustOwner: a.Env.Truthy("GITHUB_ACTIONS")})
	var problem *workspace.Problem
	switch {
	case errors.As(err, &problem):
		e.bad("repository", cli.Usage(err, problem.Hint), "")
	case err != nil:
		e.bad("repository", err, "")
	default:
		e.ok("repository", "%s at commit %.12s", repo.Top, repo.Head)
	}
}

func (e *examination) sandbox() {
	enforced, missing := confine.System()
	for _, gap := range missing {
		e.warn("sandbox", gap.String(), "commands run without it; --sandbox required refuses that")
	}
	if len(missing) == 0 {
		e.ok("sandbox", "%s", strings.Join(enforced, ", "))
	}
}

// workflow checks the file and returns the models that it names.
func (e *examination) workflow(a *cli.App, set *Access, path string) []string {
	src, err := a.ReadSource(path, cli.CompileOptions{Lookup: a.LookupEnv, Model: set.Model, Prices: set.Prices})
	if err != nil {
		e.bad("workflow", err, "")
		return nil
	}
	if src.Findings.HasErrors() {
		first := src.Findings[slices.IndexFunc(src.Findings, func(d diag.Diagnostic) bool { return d.Severity == diag.Error })]
		e.bad("workflow", cli.Usage(fmt.Errorf("%s: %s: %s", path, first.Code, first.Message), "pawl validate "+path+" shows it all"), "")
		return nil
	}
	e.ok("workflow", "%s: %s", path, src.Workflow.Name)
	if set.Model != "" {
		return nil
	}
	var names []string
	for _, n := range src.Workflow.Nodes {
		if call := ir.CallOf(n.Op); call != nil && call.Model != nil && len(call.Model.Refs()) == 0 {
			name, _ := call.Model.Render(nil, nil) // without a reference there is nothing to fail
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// providers looks at whoever can be asked, when no model is named.
func (e *examination) providers(ctx context.Context, set *Access) {
	offers, err := set.offers(ctx, nil)
	if err != nil {
		e.bad("models", err, "")
		return
	}
	for _, o := range offers {
		if o.failed != nil {
			e.bad("models", cli.Host(o.failed, o.hint), "")
			continue
		}
		e.ok("models", "%s offers %d models", o.Provider, len(o.Models))
	}
}

// model checks one model without asking it, and with a question when probe says
// so.
func (e *examination) model(ctx context.Context, set *Access, name string, probe bool) {
	check := "model " + name
	at, err := set.endpoint(name)
	if err != nil {
		e.bad(check, cli.Usage(err, "set it, or name a server with --base-url"), "")
		return
	}
	cfg := set.config(at)
	cfg.Patience = -1
	listed, err := model.New(cfg).List(ctx)
	var failure *runner.ModelError
	switch {
	case errors.As(err, &failure) && (failure.Class == runner.Unreachable || failure.Class == runner.Auth):
		e.bad(check, cli.Host(failure, failure.Hint), "")
		return
	case err != nil:
		e.warn(check, "it cannot be told whether it exists: "+err.Error(), "pawl doctor --probe asks it")
	case slices.ContainsFunc(listed, func(l model.Listed) bool { return l.Name == at.Model }):
		e.ok(check, "offered at %s", at.BaseURL)
	default:
		e.unlisted(check, at.Model, listed)
	}
	if _, priced := set.Prices.Lookup(name); !priced {
		e.warn(check, "its price is not known", "a workflow with max_cost_usd cannot use it; --prices FILE says what it costs")
	}
	if probe {
		e.probe(ctx, model.New(cfg), check, name)
	}
}

// unlisted: some servers answer for more names than they list.
func (e *examination) unlisted(check, name string, listed []model.Listed) {
	names := make([]string, len(listed))
	for i, l := range listed {
		names[i] = l.Name
	}
	hint := "pawl models lists what is offered"
	if near := diag.Nearest(name, names); near != "" {
		hint = "did you mean " + near + "?"
	}
	e.warn(check, "the server does not list it", hint)
}

// probe asks for one answer in a schema and one call of a tool.
func (e *examination) probe(ctx context.Context, client *model.Client, check, name string) {
	schema := json.RawMessage(`{"type":"object","properties":{"ready":{"type":"boolean"}},"required":["ready"],"additionalProperties":false}`)
	resp, err := client.Complete(ctx, &runner.ModelRequest{
		Model: name, MaxOutput: 300, SchemaName: "ready", Schema: schema, Strict: true,
		Messages: []runner.Message{{Role: runner.User, Text: "Answer that you are ready."}},
	})
	if err != nil {
		e.bad(check, hostOrHint(err), "")
		return
	}
	var answer struct{ Ready *bool }
	if json.Unmarshal([]byte(resp.Text), &answer) != nil || answer.Ready == nil {
		e.warn(check, "its answer does not fit the schema it was given", "nodes with an output schema will need repairs, or fail")
	} else {
		e.ok(check, "answers in a schema (%s), %s", resp.Form, tokens(resp.Usage))
	}
	e.probeTools(ctx, client, check, name)
}

func (e *examination) probeTools(ctx context.Context, client *model.Client, check, name string) {
	resp, err := client.Complete(ctx, &runner.ModelRequest{
		Model: name, MaxOutput: 300,
		Messages: []runner.Message{{Role: runner.User, Text: "Call the tool `ping` now."}},
		Tools:    []runner.ToolSpec{{Name: "ping", Description: "Says that you are there.", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)}},
	})
	switch {
	case err != nil:
		e.bad(check, hostOrHint(err), "nodes with tools cannot use it")
	case len(resp.ToolCalls) == 0:
		e.warn(check, "it was told to call a tool and did not", "nodes with tools may not work with it")
	default:
		e.ok(check, "calls tools, %s", tokens(resp.Usage))
	}
}

func hostOrHint(err error) error {
	var failure *runner.ModelError
	if errors.As(err, &failure) {
		return cli.Host(failure, failure.Hint)
	}
	return err
}

func tokens(u budget.Usage) string { return fmt.Sprintf("%d tokens", u.Input+u.Output) }

// deliver prints what was found.
func (e *examination) deliver(a *cli.App) error {
	var err error
	if a.JSON {
		err = a.WriteJSON(e.Findings)
	} else {
		err = e.print(a.Out)
	}
	if err != nil {
		return err
	}
	if slices.ContainsFunc(e.Findings, func(f finding) bool { return f.Status == "error" }) {
		return cli.Said(cli.ExitUsage)
	}
	return nil
}

func (e *examination) print(out io.Writer) error {
	marks := map[string]string{"ok": "✓", "warning": "!", "error": "✗"}
	for _, f := range e.Findings {
		if _, err := fmt.Fprintf(out, "%s %s: %s\n", marks[f.Status], f.Check, line(f.Detail)); err != nil {
			return err
		}
		if f.Hint != "" {
			fmt.Fprintf(out, "    hint: %s\n", line(f.Hint))
		}
	}
	return nil
}
