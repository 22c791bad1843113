package recipe_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/report/score"
	"github.com/pawl-ci/pawl/runner/lang/check"
	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/front"
	"github.com/pawl-ci/pawl/runner/lang/ir"
	"github.com/pawl-ci/pawl/runner/lang/recipe"
)

// flow is what the recipes of these tests change.
const flow = `vars:
  rules: string
  rounds: int = 2
  config: json = {"a": 1}

prompt review_system:
  You are a reviewer. Watch for: {{vars.rules}}

prompt review_user:
  Review {{input.code}}

prompt unused:
  Nobody reads this.

schema code:
  code: string

schema verdict:
  approved: bool
  score: float
  level: string [enum: "low", "high"]
  detail: json

agent reviewer:
  model: "gpt-5-mini"
  input: code
  output: verdict
  publish: verdict
  system: review_system
  user: review_user
  tools: [read_file, grep, bash, write_file]

judge critic:
  model: "gpt-5-mini"
  user: review_user
  tools: [read_file]

tool test:
  command: "true"

workflow review:
  entry: reviewer
  budget:
    max_tokens: 20000
    max_cost_usd: 2
  reviewer -> critic when approved
  reviewer -> fail when not approved
  critic -> test
  test -> done
`

var (
	tools   = []string{"edit_file", "read_file", "run_command", "search", "write_file"}
	aliases = map[string]string{"grep": "search", "bash": "run_command", "shell": "run_command"}
)

func canonical(name string) (string, bool) {
	name = strings.TrimPrefix(name, "builtin.")
	if proper := aliases[name]; proper != "" {
		return proper, true
	}
	return name, slices.Contains(tools, name)
}

var options = recipe.Options{
	Tools: canonical, ToolNames: tools,
	Env: func(name string) (string, bool) { return "from env", name == "TEAM" },
}

// load compiles a workflow that has no errors.
func load(t testing.TB, text string) *ir.Workflow {
	t.Helper()
	w, list := front.Load(diag.NewFile("review.iter", text), front.Options{})
	if w == nil || list.HasErrors() {
		t.Fatalf("%s", drawn(list))
	}
	return w
}

// apply reads a recipe and applies it, with the rules over workflows.
func apply(w *ir.Workflow, name, text string) (*ir.Workflow, *score.Policy, diag.List) {
	r, list := recipe.Parse(diag.NewFile(name, text))
	if r == nil {
		return nil, nil, list
	}
	applied, policy, more := recipe.Apply(w, r, options)
	list = append(list, more...)
	if !list.HasErrors() {
		list = append(list, check.Run(applied, check.Options{Tools: canonical, ToolNames: tools, Prices: budget.Prices()})...)
	}
	list.Sort()
	return applied, policy, list
}

// fine is apply without a finding.
func fine(t *testing.T, text string) (*ir.Workflow, *score.Policy) {
	t.Helper()
	w, policy, list := apply(load(t, flow), "r.yaml", text)
	if len(list) > 0 {
		t.Fatalf("%s", drawn(list))
	}
	return w, policy
}

func drawn(list diag.List) string {
	var b strings.Builder
	_ = diag.Render(&b, list, false)
	return b.String()
}

func call(w *ir.Workflow, node string) *ir.Call { return w.Node(node).Op.(*ir.Call) }

func text(t *testing.T, tpl *ir.Template) string {
	t.Helper()
	got, err := tpl.Render(nothing{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

type nothing struct{}

func (nothing) Lookup(ref *ir.Ref) (any, error) { return "<" + ref.String() + ">", nil }

func toolNames(c *ir.Call) string {
	var list []string
	for _, t := range c.Tools {
		list = append(list, t.Name)
	}
	return strings.Join(list, " ")
}

func TestApply(t *testing.T) {
	t.Parallel()
	base := load(t, flow)
	before := base.Digest()
	w, policy, list := apply(base, "r.yaml", `
name: security
description: "What it is for"
workflow_ref: {name: review, path: review.iter}
preset_vars:
  rules: Focus on security
  rounds: "3"
  config: {b: [1, 2]}
prompt_pack:
  review_system: |
    You are ${TEAM}: {{vars.rules}}
budget:
  max_cost_usd: 0.5
  max_duration: 10m
  max_iterations: 7
  max_parallel_branches: 2
models:
  all: gpt-5
  nodes: {critic: "gpt-5-nano"}
tool_policy:
  deny: [write_file]
  nodes:
    reviewer: {allow: [builtin.search, shell, "mcp.x.*"]}
evaluation_policy:
  primary_metric: approved
  success_value: true
  secondary_metrics: [cost_usd, reviewer.score, artifacts.verdict.level]
`)
	if len(list) > 0 {
		t.Fatalf("%s", drawn(list))
	}
	if base.Digest() != before || w.Digest() == before {
		t.Error("the original changed, or the result did not")
	}
	if v := w.Var("rules"); !v.HasDef || v.Default != "Focus on security" || w.Var("rounds").Default != 3 {
		t.Errorf("variables %+v %+v", v, w.Var("rounds"))
	}
	if got := text(t, call(w, "reviewer").System); got != "You are from env: <vars.rules>\n" && got != "You are from env: <vars.rules>" {
		t.Errorf("system prompt %q", got)
	}
	if w.Env["TEAM"] != "from env" || base.Env["TEAM"] != "" {
		t.Error("what was taken from the environment is not kept with the workflow")
	}
	want := budget.Limits{MaxTokens: 20000, MaxCost: budget.Dollar / 2, MaxDuration: 600e9, MaxIterations: 7, MaxParallelBranches: 2}
	if w.Limits != want {
		t.Errorf("limits %+v", w.Limits)
	}
	if a, b := text(t, call(w, "reviewer").Model), text(t, call(w, "critic").Model); a != "gpt-5" || b != "gpt-5-nano" {
		t.Errorf("models %s and %s", a, b)
	}
	if a, b := toolNames(call(w, "reviewer")), toolNames(call(w, "critic")); a != "grep bash" || b != "read_file" {
		t.Errorf("tools %q and %q", a, b)
	}
	p := call(w, "reviewer").Policy
	for name, want := range map[string]bool{"grep": true, "bash": true, "search": true, "write_file": false, "read_file": false, "mcp.x.y": true, "mcp.z.y": false} {
		if p.Permits(name) != want {
			t.Errorf("reviewer may use %s: %t", name, !want)
		}
	}
	if got := fmt.Sprintf("%+v", *policy); got != "{Metric:approved Success:true Direction:max Secondary:[cost_usd reviewer.score artifacts.verdict.level]}" {
		t.Error(got)
	}
}

// The seed's own recipe, as it stands in its documentation but for the names.
func TestOriginalRecipe(t *testing.T) {
	t.Parallel()
	w, policy, list := apply(load(t, flow), "fast_review.json", `{
  "name": "fast_review",
  "workflow_ref": {"name": "review", "path": "examples/review.iter"},
  "preset_vars": {"rules": "Focus on security only"},
  "prompt_pack": {"review_system": "You are a security-focused reviewer."},
  "budget": {"max_duration": "10m", "max_cost_usd": 1.0},
  "evaluation_policy": {"primary_metric": "approved", "success_value": "true"}
}`)
	if len(list) > 0 || policy.Success != "true" || w.Limits.MaxCost != budget.Dollar {
		t.Errorf("%+v %+v\n%s", policy, w.Limits, drawn(list))
	}
}

// Every example of the register about recipes shows its rule and nothing else,
// and the good one shows nothing.
func TestRegisterExamples(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, rule := range diag.Rules() {
		if !strings.HasPrefix(rule.Bad, "-- ") {
			continue
		}
		seen++
		bad, good := example(t, rule.Bad), example(t, rule.Good)
		if len(bad) != 1 || bad[0].Code != rule.Code || bad[0].Span.File.Name != "fast.yaml" {
			t.Errorf("%s: the bad example shows\n%s", rule.Code, drawn(bad))
		}
		if len(good) > 0 {
			t.Errorf("%s: the good example shows\n%s", rule.Code, drawn(good))
		}
	}
	if seen != 7 {
		t.Errorf("found %d rules about recipes, want 7", seen)
	}
}

func example(t *testing.T, text string) diag.List {
	files := txtar.Parse([]byte(text)).Files
	if len(files) != 2 {
		t.Fatalf("an example about recipes is a workflow and a recipe:\n%s", text)
	}
	_, _, list := apply(load(t, string(files[0].Data)), files[1].Name, string(files[1].Data))
	return list
}

func TestFindings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "{}", "r:1:1 P125 the recipe has no name"},
		{"a list", "[1]", "r:1:1 P140 a recipe: this is a list, not a mapping"},
		{"unknown key", "name: a\nprompts: {}", "r:2:1 P123 a recipe has no property prompts"},
		{"a long name", "name: " + strings.Repeat("x", 61), "r:1:7 P140 the name is too long for a table"},
		{"an empty name", `{"name": " "}`, "r:1:10 P140 name is empty"},
		{"kinds", "name: 3\nworkflow_ref: x\npreset_vars: [1]\nprompt_pack: {review_user: 3}", "r:1:7 P140 name: this is a number, not text\n" +
			"r:2:15 P140 workflow_ref: this is text, not a mapping\nr:3:14 P140 preset_vars: this is a list, not a mapping\nr:4:28 P140 prompt_pack.review_user: this is a number, not text"},
		{"vars", "name: a\npreset_vars: {rule: x, rounds: many, config: [1]}", "r:2:15 C033 workflow review has no variable rule\nr:2:32 P143 variable rounds: this is text, not int"},
		{"prompts", "name: a\nprompt_pack:\n  review_sytem: x\n  unused: y", "r:3:3 C003 workflow review has no prompt review_sytem\nr:4:3 P183 prompt unused is used by no node: another text changes nothing"},
		{"references", "name: a\nprompt_pack:\n  review_system: >\n    Watch for\n    {{vars.rulez}} and {{outputs.nobody.x}}", "r:5:5 C033 {{vars.rulez}}: there is no variable rulez\nr:5:24 C030 {{outputs.nobody.x}}: there is no node nobody"},
		{"half a reference", "name: a\nprompt_pack: {review_system: 'x {{vars.rules y'}", "r:2:33 C004 a reference begins here and does not end"},
		{"a secret", "name: a\nmodels: {all: '${MY_API_KEY}'}", "r:2:16 P163 ${MY_API_KEY} may hold a secret and cannot be used here"},
		{"budget", "name: a\nbudget: {max_cost_usd: 0, max_tokens: 1.5, max_duration: soon, max_iterations: '3', max_money: 1}", "r:2:24 P144 max_cost_usd: 0 is no amount that can be held\n" +
			"r:2:39 P144 max_tokens: 1.5 is out of range\nr:2:58 P160 max_duration: \"soon\" is no duration\nr:2:80 P140 max_iterations: this is text, not a number\nr:2:85 P123 budget has no property max_money"},
		{"wider", "name: a\nbudget: {max_cost_usd: 2.5, max_tokens: 20001}", "r:2:24 P183 max_cost_usd is above the workflow's own, which stays: $2.00\nr:2:41 P183 max_tokens is above the workflow's own, which stays: 20000"},
		{"nodes", "name: a\nmodels: {nodes: {critics: x, test: y}}\ntool_policy: {nodes: {done: {deny: [bash]}}}", "r:2:18 P182 workflow review has no node critics\nr:2:30 P182 node test asks no model\nr:3:23 P182 node done asks no model"},
		{"unpriced", "name: a\nmodels: {all: nobodys-model}", "r:2:15 P170 model nobodys-model has no known price, so max_cost_usd cannot be held"},
		{"tools", "name: a\ntool_policy: {allow: [read_fil, 'other.*'], deny: ['re*', '*.x', '.*']}", "r:2:23 P168 there is no tool read_fil\nr:2:33 P168 there is no namespace other\n" +
			"r:2:52 P140 tool_policy.deny: \"re*\" is no pattern\nr:2:59 P140 tool_policy.deny: \"*.x\" is no pattern\nr:2:66 P140 tool_policy.deny: \".*\" is no pattern"},
		{"no tools", "name: a\ntool_policy: {allow: []}", "r:2:22 P140 tool_policy.allow is empty, which could mean nothing or everything"},
		{"none left", "name: a\ntool_policy: {deny: ['builtin.*']}", "r:2:22 P184 the tool policy leaves critic without any tool\nr:2:22 P184 the tool policy leaves reviewer without any tool"},
		{"none left for one", "name: a\ntool_policy: {nodes: {critic: {allow: [edit_file]}}}", "r:2:23 P184 the tool policy for critic leaves critic without any tool"},
		{"no metric", "name: a\nevaluation_policy: {success_value: 1}", "r:2:20 P125 the evaluation policy has no primary_metric"},
		{"metrics", "name: a\nevaluation_policy:\n  primary_metric: reviewer.aproved\n  direction: up\n  success_value: [1]\n  secondary_metrics: [artifacts.x.y, nobody.x, a..b, reviewer, cots_usd]",
			"r:3:19 P185 metric reviewer.aproved: there is no field aproved\nr:4:14 P141 direction: \"up\" is not one of the choices\nr:5:18 P140 success_value: this is a list\n" +
				"r:6:23 P185 metric artifacts.x.y: no node publishes x\nr:6:38 P185 metric nobody.x: workflow review has no node nobody\nr:6:48 P185 metric \"a..b\" is no name\nr:6:54 P185 metric reviewer is a whole output, which is neither better nor worse than another\nr:6:64 P185 metric cots_usd: no node of workflow review gives such a field"},
		{"success", "name: a\nevaluation_policy: {primary_metric: score, success_value: high}", "r:2:59 P186 success_value high: metric score can never be that"},
		{"an enum", "name: a\nevaluation_policy: {primary_metric: level, success_value: '!= medium'}", "r:2:59 P186 success_value != medium: metric level can never be that"},
		{"compared", "name: a\nevaluation_policy: {primary_metric: score, success_value: '> high'}", "r:2:59 P140 success value \"> high\": > compares with a number"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, _, list := apply(load(t, flow), "r", c.text)
			var got []string
			for _, d := range list {
				got = append(got, fmt.Sprintf("%s %s %s", d.Span, d.Code, d.Message))
				if d.Hint == "" {
					t.Errorf("%s has no hint", d.Code)
				}
			}
			if text := strings.Join(got, "\n"); text != c.want {
				t.Errorf("got\n%s\nwant\n%s", text, c.want)
			}
		})
	}
}

// The tools of an MCP server are known by its name alone until it runs: what may
// be called of them is decided then, by the policy that stays with the call.
func TestPolicyForServers(t *testing.T) {
	t.Parallel()
	w, list := front.Load(diag.NewFile("s.iter", `mcp_server hub:
  transport: http
  url: "http://localhost:1/mcp"

mcp_server disk:
  transport: http
  url: "http://localhost:2/mcp"

agent worker:
  model: "gpt-5"
  tools: [read_file]
  mcp:
    servers: [hub, disk]

workflow servers:
  entry: worker
  worker -> done
`), front.Options{})
	if list.HasErrors() {
		t.Fatal(drawn(list))
	}
	w, _, list = apply(w, "r.yaml", "name: r\ntool_policy: {deny: ['mcp.hub.delete', 'mcp.disk.*']}")
	if list.HasErrors() {
		t.Fatal(drawn(list))
	}
	if got := toolNames(call(w, "worker")); got != "read_file mcp.hub.*" {
		t.Errorf("tools %q", got)
	}
	for name, want := range map[string]bool{"mcp.hub.search": true, "mcp.hub.delete": false, "mcp.disk.read": false, "read_file": true} {
		if call(w, "worker").Policy.Permits(name) != want {
			t.Errorf("%s is permitted: %t", name, !want)
		}
	}
}

// What a program with tools of its own does, no policy can narrow.
func TestPolicyForBackends(t *testing.T) {
	t.Parallel()
	const text = "agent worker:\n  backend: \"claude_code\"\n\nworkflow b:\n  entry: worker\n  worker -> done\n"
	w := load(t, text)
	for recipe, want := range map[string]bool{"name: r\ntool_policy: {deny: [bash]}": true, "name: r\nbudget: {max_iterations: 3}": false} {
		_, _, list := apply(w, "r", recipe)
		found := slices.ContainsFunc(list, func(d diag.Diagnostic) bool {
			return d.Code == "P182" && d.Message == "node worker runs claude_code, whose tools no policy can narrow"
		})
		if found != want {
			t.Errorf("%s: %s", recipe, drawn(list))
		}
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	for metric, want := range map[string]score.Direction{
		"approved": score.Higher, "reviewer.score": score.Higher, "outputs.reviewer.level": score.NoDirection, "artifacts.verdict.score": score.Higher,
		"cost_usd": score.Lower, "verified": score.Higher, "reviewer.detail.deep.er": score.NoDirection, "text": score.NoDirection, "exit_code": score.NoDirection,
	} {
		if _, policy := fine(t, "name: a\nevaluation_policy: {primary_metric: "+metric+"}"); policy.Direction != want || policy.Metric != metric {
			t.Errorf("%s is measured as %+v", metric, policy)
		}
	}
	if _, policy := fine(t, "name: a\nevaluation_policy: {primary_metric: score, direction: min, success_value: '<= 0.5'}"); policy.Direction != score.Lower || policy.Success != "<= 0.5" {
		t.Errorf("%+v", policy)
	}
	if _, policy := fine(t, "name: a"); policy != nil {
		t.Errorf("a recipe without an evaluation judges by %+v", policy)
	}
}

func TestIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{"a.yaml", "name: x\nprompt_pack: {}", true}, {"a.json", `{"preset_vars": {}}`, true}, {"A.YML", "models: {}", true},
		{"a.iter", "models: {}", false}, {"a.yaml", "name: x\nbudget: {}", false}, {"a.yaml", "- models", false}, {"a.json", "{", false}, {"registry.yaml", "patterns: []", false},
	} {
		if got := recipe.Is(diag.NewFile(c.name, c.text)); got != c.want {
			t.Errorf("%s with %q is a recipe: %t", c.name, c.text, got)
		}
	}
}

// The digest is about what the recipe says, not about how.
func TestDigest(t *testing.T) {
	t.Parallel()
	digest := func(text string) string {
		r, _ := recipe.Parse(diag.NewFile("r", text))
		return r.Digest()
	}
	first := digest("name: a\nbudget: {max_tokens: 5}\n")
	for text, same := range map[string]bool{
		`{"budget": {"max_tokens": 5}, "description": "x", "name": "a"}`: true, "name: a\nbudget: {max_tokens: 6}\n": false, "name: b\nbudget: {max_tokens: 5}\n": false,
	} {
		if (digest(text) == first) != same {
			t.Errorf("%s: the digest is the same: %t", text, !same)
		}
	}
}
