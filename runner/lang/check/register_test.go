package check_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/runner/host/agent"
	"github.com/pawl-ci/pawl/runner/host/tool"
	"github.com/pawl-ci/pawl/runner/lang/check"
	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/front"
)

// findings compiles a text as `pawl validate` does.
func findings(text string) diag.List {
	w, list := front.Load(diag.NewFile("example.iter", text), front.Options{})
	if w != nil && !list.HasErrors() {
		list = append(list, check.Run(w, check.Options{
			Tools: tool.Canonical, ToolNames: tool.Names(), Writes: tool.Writes, Backends: agent.Names(), Prices: budget.Prices(),
		})...)
	}
	list.Sort()
	return list
}

func codes(list diag.List) []diag.Code {
	var out []diag.Code
	for _, d := range list {
		out = append(out, d.Code)
	}
	return out
}

// TestEveryExampleOfTheRegister runs what `pawl explain` prints: a bad example
// shows its rule, and no error beside it; a good one does not.
func TestEveryExampleOfTheRegister(t *testing.T) {
	t.Parallel()
	for _, rule := range diag.Rules() {
		if strings.HasPrefix(rule.Bad, "-- ") {
			continue // about recipes: the tests of recipe run it
		}
		t.Run(string(rule.Code), func(t *testing.T) {
			t.Parallel()
			bad, good := findings(rule.Bad), findings(rule.Good)
			shown := slices.Contains(codes(bad), rule.Code)
			if !shown {
				t.Errorf("the bad example does not show %s (%s); it shows:\n%s", rule.Code, rule.Title, drawn(bad))
			}
			if slices.Contains(codes(good), rule.Code) || good.HasErrors() && !unsupported(good) {
				t.Errorf("the good example shows:\n%s", drawn(good))
			}
		})
	}
}

// unsupported: an example may use what this version refuses to run, and only
// that.
func unsupported(list diag.List) bool {
	for _, d := range list {
		if d.Severity == diag.Error && d.Code != "P169" {
			return false
		}
	}
	return true
}

func drawn(list diag.List) string {
	var b strings.Builder
	if err := diag.Render(&b, list, false); err != nil {
		fmt.Fprintln(&b, err)
	}
	return b.String()
}

// The same file gives the same bytes, every time.
func TestFindingsAreDeterministic(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for _, rule := range diag.Rules() {
		text.WriteString(rule.Bad)
	}
	want := drawn(findings(text.String()))
	for range 12 {
		if got := drawn(findings(text.String())); got != want {
			t.Fatalf("two runs differ:\n%s\n%s", got, want)
		}
	}
}

// BenchmarkParseAndCheck is BENCH row 1's file: parse, lower and check of 30
// lines.
func BenchmarkParseAndCheck(b *testing.B) {
	text := smallFile
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if list := findings(text); list.HasErrors() {
			b.Fatal(drawn(list))
		}
	}
}

const smallFile = `## Review and decide.
vars:
  rules: string = "no secrets"

prompt review_system:
  You are a code reviewer. Watch for: {{vars.rules}}

prompt review_user:
  Review this code:
  {{input.code}}

schema review_input:
  code: string

schema review_output:
  approved: bool
  summary: string

agent reviewer:
  model: "gpt-5-mini"
  input: review_input
  output: review_output
  system: review_system
  user: review_user

workflow minimal:
  entry: reviewer
  reviewer -> done when approved
  reviewer -> fail when not approved
`
