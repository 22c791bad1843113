package recipe_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pawl-ci/pawl/runner/lang/data"
	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/recipe"
)

// parts are what a recipe may say about flow; any set of them fits together.
var parts = map[string][]string{
	"preset_vars":       {`{"rules": "a"}`, `{"rules": "b", "rounds": 3}`, `{"config": [1, {"x": null}]}`, `{"rounds": "7"}`},
	"prompt_pack":       {`{"review_system": "x {{vars.rules}}"}`, `{"review_user": "{{input.code}}", "review_system": "y"}`, `{"review_system": "${TEAM}"}`},
	"budget":            {`{"max_tokens": 10}`, `{"max_tokens": 50000, "max_duration": "1m"}`, `{"max_cost_usd": 0.1, "max_iterations": 4}`},
	"models":            {`{"all": "gpt-5"}`, `{"nodes": {"critic": "gpt-5-nano"}}`, `{"nodes": {"reviewer": "gpt-5", "critic": "{{vars.rules}}"}, "all": "gpt-5-nano"}`},
	"tool_policy":       {`{"deny": ["bash"]}`, `{"allow": ["search", "read_file"], "deny": ["mcp.*"]}`, `{"nodes": {"reviewer": {"allow": ["grep", "*"]}}, "allow": ["builtin.*", "mcp.x.*"]}`, `{"allow": ["read_file"], "nodes": {"critic": {"allow": ["edit_file"]}}}`},
	"evaluation_policy": {`{"primary_metric": "approved"}`, `{"primary_metric": "cost_usd", "success_value": "< 1", "secondary_metrics": ["tokens"]}`},
}

// draw makes a recipe as JSON, its parts and their fields in any order.
func draw(t *rapid.T) (first, shuffled string) {
	fields := []string{`"name": "r"`}
	for _, key := range []string{"preset_vars", "prompt_pack", "budget", "models", "tool_policy", "evaluation_policy"} {
		if rapid.Bool().Draw(t, key) {
			fields = append(fields, fmt.Sprintf("%q: %s", key, rapid.SampledFrom(parts[key]).Draw(t, key)))
		}
	}
	return "{" + strings.Join(fields, ",") + "}", "{" + strings.Join(rapid.Permutation(fields).Draw(t, "order"), ",") + "}"
}

// reversed writes a value as YAML that is JSON, every object and list of names the
// other way round.
func reversed(v *data.Value, inPolicy bool) string {
	var list []string
	switch v.Kind {
	case data.Object:
		for _, f := range v.Fields {
			list = append([]string{fmt.Sprintf("%q: %s", f.Key, reversed(f.Value, inPolicy || f.Key == "tool_policy"))}, list...)
		}
		return "{" + strings.Join(list, ", ") + "}"
	case data.List:
		for _, item := range v.Items {
			text := reversed(item, inPolicy)
			if inPolicy {
				list = append([]string{text}, list...)
			} else {
				list = append(list, text)
			}
		}
		return "[" + strings.Join(list, ", ") + "]"
	case data.Text:
		raw, _ := json.Marshal(v.Str)
		return string(raw)
	case data.Null:
		return "null"
	}
	return v.Str
}

// Applying a recipe twice is applying it once, and the order in which it says
// things does not matter, nor whether it is JSON or YAML.
func TestApplyIsIdempotentAndOrderIndependent(t *testing.T) {
	t.Parallel()
	base := load(t, flow)
	rapid.Check(t, func(t *rapid.T) {
		text, shuffled := draw(t)
		once, policy, list := apply(base, "r.json", text)
		if list.HasErrors() {
			t.Fatalf("%s\n%s", text, drawn(list))
		}
		twice, again, _ := apply(once, "r.json", text)
		if once.Digest() != twice.Digest() || fmt.Sprint(policy) != fmt.Sprint(again) {
			t.Fatalf("applied twice, it means something else: %s", text)
		}
		root, _ := data.Read(diag.NewFile("r.json", shuffled))
		for _, other := range []string{shuffled, "# yaml\n" + reversed(root, false)} {
			w, _, list := apply(base, "r.yaml", other)
			if list.HasErrors() || w.Digest() != once.Digest() {
				t.Fatalf("%s\nis not\n%s\n%s", other, text, drawn(list))
			}
		}
	})
}

// A recipe never gives a model a tool, nor widens a limit.
func TestApplyOnlyTakesAway(t *testing.T) {
	t.Parallel()
	base := load(t, flow)
	rapid.Check(t, func(t *rapid.T) {
		text, _ := draw(t)
		w, _, _ := apply(base, "r.json", text)
		for _, node := range []string{"reviewer", "critic"} {
			had := " " + toolNames(call(base, node)) + " "
			for _, tool := range call(w, node).Tools {
				if !strings.Contains(had, " "+tool.Name+" ") {
					t.Fatalf("%s gave %s to %s", text, tool.Name, node)
				}
				if !call(w, node).Policy.Permits(tool.Name) {
					t.Fatalf("%s left %s to %s, and its policy forbids it", text, tool.Name, node)
				}
			}
		}
		if w.Limits.MaxTokens > base.Limits.MaxTokens || w.Limits.MaxCost > base.Limits.MaxCost || w.Limits.MaxTokens == 0 || w.Limits.MaxCost == 0 {
			t.Fatalf("%s widened a limit: %+v", text, w.Limits)
		}
	})
}

// Whatever the text: no panic, findings with places in the file, and the same
// ones every time.
func FuzzRecipe(f *testing.F) {
	for key, list := range parts {
		for _, part := range list {
			f.Add(fmt.Sprintf("{\"name\": \"r\", %q: %s}", key, part))
			f.Add("name: r\n" + key + ": " + part + "\n")
		}
	}
	for _, rule := range diag.Rules() {
		if _, text, found := strings.Cut(rule.Bad, "-- fast.yaml --\n"); found {
			f.Add(text)
		}
	}
	base := load(f, flow)
	f.Fuzz(func(t *testing.T, text string) {
		first, _, list := apply(base, "r.yaml", text)
		again, _, same := apply(base, "r.yaml", text)
		if drawn(list) != drawn(same) || first != nil && first.Digest() != again.Digest() {
			t.Fatal("two readings of one text differ")
		}
		for _, d := range list {
			if d.Span.File != nil && (d.Span.Start < 0 || d.Span.End < d.Span.Start || d.Span.End > len(d.Span.File.Text)) {
				t.Fatalf("%s stands outside of the file: %+v", d.Code, d.Span)
			}
		}
		recipe.Is(diag.NewFile("r.yaml", text))
	})
}
