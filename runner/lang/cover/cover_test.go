package cover_test

import (
	"testing"

	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/runner/lang/cover"
	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

func typed(path []string) ir.Field {
	fields := map[string]gates.Field{
		"ok": {Kind: gates.Bool}, "bad": {Kind: gates.Bool}, "score": {Kind: gates.Int}, "ratio": {Kind: gates.Float},
		"text": {Kind: gates.String}, "level": {Kind: gates.String, Enum: []string{"low", "mid", "high"}},
	}
	return ir.Field{Field: fields[path[len(path)-1]]}
}

func TestTry(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		conditions []string // a field, "!" and a field, or an expression in brackets
		gap        string
		certain    bool
		open       bool
	}{
		{[]string{"ok", "!ok"}, "", false, false},
		{[]string{"ok", "bad"}, `output.bad = false, output.ok = false`, true, false},
		{[]string{"ok", "(!output.ok)"}, "", true, false},
		{[]string{"(output.score > 3)", "(output.score <= 3)"}, "", true, false},
		{[]string{"(output.score > 3)", "(output.score < 3)"}, `output.score = 3`, true, false},
		{[]string{"(output.ratio >= 0.5)", "(output.ratio < 0.25)"}, `output.ratio = 0.25`, true, false},
		{[]string{"(output.level == 'low')", "(output.level in ['mid', 'high'])"}, "", true, false},
		{[]string{"(output.level == 'low')", "(output.level == 'high')"}, `output.level = "mid"`, true, false},
		{[]string{"(output.text == 'a')", "(output.text != 'a')"}, "", true, false},
		{[]string{"(output.text contains 'a')"}, `output.text = "some other text"`, true, false},
		{[]string{"(output.score > vars.score)", "(output.score < vars.score)"}, `output.score = 0, vars.score = 0`, false, false},
		{[]string{"ok", "(!output.ok && output.level != 'low')", "(output.level == 'low')"}, "", true, false},
		{[]string{"(output.other)", "(!output.other)"}, "", false, true},
		{[]string{"(len(outputs.x.list) > 2)", "ok"}, "", false, true},
	} {
		var edges []*ir.Edge
		for _, text := range c.conditions {
			cond := &ir.Cond{Field: text}
			switch text[0] {
			case '!':
				cond = &ir.Cond{Field: text[1:], Not: true}
			case '(':
				e, err := ir.CompileExpr(text[1:len(text)-1], diag.Span{})
				if err != nil {
					t.Fatal(err)
				}
				cond = &ir.Cond{Expr: e}
			}
			edges = append(edges, &ir.Edge{Cond: cond})
		}
		if got := cover.Try(edges, typed); got != (cover.Result{Gap: c.gap, Certain: c.certain, Open: c.open}) {
			t.Errorf("%q: %+v", c.conditions, got)
		}
	}
}
