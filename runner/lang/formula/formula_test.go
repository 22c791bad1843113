package formula_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/runner/lang/formula"
)

func TestFormulas(t *testing.T) {
	t.Parallel()
	env := map[string]any{
		"output": map[string]any{"score": 4}, "vars": map[string]any{"most": 3}, "outputs": map[string]any{},
		"loop": map[string]any{"fix": map[string]any{"iteration": 1}}, "event": map[string]any{"action": "opened"},
	}
	for source, want := range map[string]any{
		"output.score > vars.most": true, "loop.fix.iteration == 1 && event.action == 'opened'": true, "outputs.later.score": nil, "1 + 2": 3,
	} {
		p, err := formula.Compile(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if got, err := p.Eval(env); err != nil || got != want {
			t.Errorf("%s is %v, %v, want %v", source, got, err, want)
		}
	}
}

// What depends on a clock or on the order of a map does not compile, and every
// complaint is one line.
func TestUnsteadyFormulasAreRefused(t *testing.T) {
	t.Parallel()
	for _, source := range []string{"now()", "keys(output)", "values(vars)", "1 +", "nobody.x", ""} {
		if _, err := formula.Compile(source); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: error %v, want one line", source, err)
		}
	}
}

func FuzzFormula(f *testing.F) {
	for _, seed := range []string{"output.a > 1", "outputs.x.y.z", "outputs.x[0]?.y ?? 1", "len(outputs.x.list)"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		p, err := formula.Compile(source)
		if err != nil || len(source) > 200 {
			return
		}
		a, errA := p.Eval(map[string]any{"outputs": map[string]any{}})
		b, errB := p.Eval(map[string]any{"outputs": map[string]any{}})
		if (errA == nil) != (errB == nil) {
			t.Errorf("%q is %v, %v and then %v, %v", source, a, errA, b, errB)
		}
	})
}

func TestReads(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"output.score > vars.most":                             "[[output score] [vars most]]",
		"outputs.judge.verdict.ok && outputs.judge.verdict.ok": "[[outputs judge verdict ok]]",
		"outputs.x[input.i].y":                                 "[[input i] [outputs x]]",
		`output["a"] in ["p", "q"]`:                            "[[output a]]",
		"let s = output.s; s + 1 > 2":                          "[[output s]]",
		"filter(output.list, .ok)":                             "[[output list]]",
		"len(output) + 1":                                      "[[output]]",
		"1 + 2":                                                "[]",
	} {
		p, err := formula.Compile(source)
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		if got := fmt.Sprint(p.Reads()); got != want {
			t.Errorf("%s reads %s, want %s", source, got, want)
		}
	}
}
