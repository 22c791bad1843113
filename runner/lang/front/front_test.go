package front_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/front"
	"github.com/pawl-ci/pawl/runner/lang/ir"
	"github.com/rogpeppe/go-internal/txtar"
)

func load(text string, env map[string]string) (*ir.Workflow, diag.List) {
	return front.Load(diag.NewFile("x.iter", text), front.Options{Env: func(name string) (string, bool) {
		v, ok := env[name]
		return v, ok
	}})
}

// demoWorkflow is the workflow of pawl demo, which uses most of the language.
func demoWorkflow(t testing.TB) string {
	t.Helper()
	archive, err := txtar.ParseFile("../../../cmd/pawl/work/demo/repo.txtar")
	if err != nil {
		if os.IsNotExist(err) {
			t.Skip("the demo lies elsewhere")
		}
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		if strings.HasSuffix(f.Name, ".iter") {
			return string(f.Data)
		}
	}
	t.Fatal("the demo has no workflow")
	return ""
}

func TestLowering(t *testing.T) {
	t.Parallel()
	w, list := load(demoWorkflow(t), nil)
	if len(list) != 0 || w == nil {
		t.Fatalf("findings: %v", list)
	}
	want := budget.Limits{MaxTokens: 200000, MaxCost: 2 * budget.Dollar, MaxDuration: 15 * time.Minute, MaxIterations: 30}
	if w.Limits != want || w.Entry != w.Node("run_tests") || !w.Verify.Explicit || w.Verify.Mode != ir.VerifyAuto {
		t.Errorf("limits %+v, entry %v, verify %+v", w.Limits, w.Entry, w.Verify)
	}
	fixer := w.Node("fixer").Op.(*ir.Call)
	if fixer.MaxSteps != 20 || len(fixer.Tools) != 4 || fixer.Tools[2].Name != "edit_file" || fixer.Role != ir.Agent {
		t.Errorf("fixer %+v", fixer)
	}
	if judge := w.Node("reviewer").Op.(*ir.Call); judge.Role != ir.Judge || !judge.Readonly {
		t.Errorf("reviewer %+v", judge)
	}
	edges := w.Node("run_tests").Edges
	if len(edges) != 3 || edges[0].Cond.Expr == nil || !edges[2].Cond.Not || edges[2].Loop.Max != 3 || edges[2].With[0].Key != "problem" {
		t.Errorf("edges of run_tests: %+v", edges)
	}
	if f := w.Node("approve").Out.Field("comment"); f == nil || !f.Optional {
		t.Errorf("field comment %+v, want an optional one", f)
	}
}

// A finding in a template stands on the reference itself, through the removed
// indentation of a prompt and through escapes.
func TestReferencesHaveTheirPlace(t *testing.T) {
	t.Parallel()
	text := "prompt p:\n    First line.\n      Then {{nope.x}} here.\n\nagent a:\n  model: \"m\"\n  user: p\n\n" +
		"tool b:\n  command: \"echo \\\"x\\\" {{bad..ref}}\"\n\nworkflow w:\n  entry: a\n  a -> b\n  b -> done\n"
	_, list := load(text, nil)
	var at []string
	for _, d := range list {
		if d.Code == "C004" {
			at = append(at, d.Span.Text())
		}
	}
	if strings.Join(at, " ") != "{{nope.x}} {{bad..ref}}" {
		t.Errorf("C004 stands on %q", at)
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	text := "tool a:\n  command: \"echo ${GREETING} ${UNSET} ${WITH_DEFAULT:-d} ${lower}\"\n\n" +
		"agent b:\n  model: \"${MODEL}\"\n\nworkflow w:\n  entry: a\n  a -> b\n  b -> done\n"
	w, list := load(text, map[string]string{"GREETING": "hello", "API_KEY": "s3cret"})
	if len(list) != 1 || list[0].Code != "P164" || list[0].Severity != diag.Warning || list[0].Span.Text() != "${MODEL}" {
		t.Errorf("findings %v, want one warning about MODEL", list)
	}
	line, err := w.Node("a").Op.(*ir.Exec).Command.Command(nil)
	if err != nil || line != "echo hello ${UNSET} d ${lower}" {
		t.Errorf("command %q, %v: what is not set is the shell's", line, err)
	}
	if len(w.Env) != 1 || w.Env["GREETING"] != "hello" {
		t.Errorf("the record would hold %v", w.Env)
	}
	for _, name := range []string{"OPENAI_API_KEY", "GITHUB_TOKEN", "DB_PASSWORD", "ACTIONS_RUNTIME_URL"} {
		_, list := load(strings.ReplaceAll(text, "GREETING", name), map[string]string{name: "s3cret"})
		if !list.HasErrors() {
			t.Errorf("${%s} gets into a workflow", name)
		}
	}
}

func TestNamesOfSecrets(t *testing.T) {
	t.Parallel()
	for name, allowed := range map[string]bool{
		"MODEL": true, "AUTHOR_MODEL": true, "CO_AUTHORS": true, "BASE_REF": true, "HOME": true,
		"AUTH": false, "AUTH_HEADER": false, "AUTHORIZATION": false, "PROXY_AUTHORIZATION": false, "OAUTH2": false, "AUTHO": false,
		"APIKEY": false, "GH_PAT": false, "session_id": false,
	} {
		if front.EnvAllowed(name) != allowed {
			t.Errorf("${%s} is allowed: %v, want %v", name, !allowed, allowed)
		}
	}
}

// Whatever the text: no panic, sorted findings, spans inside the file.
func FuzzLoad(f *testing.F) {
	f.Add(demoWorkflow(f))
	for _, rule := range diag.Rules() {
		f.Add(rule.Bad)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, list := load(text, nil)
		for _, d := range list {
			if d.Span.File != nil && (d.Span.Start < 0 || d.Span.End > len(text) || d.Span.Start > d.Span.End) {
				t.Fatalf("span %d–%d of %d bytes: %v", d.Span.Start, d.Span.End, len(text), d)
			}
		}
	})
}
