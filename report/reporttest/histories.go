package reporttest

import (
	"time"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/report"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// Histories are records of every way in which a run can stand.
func Histories() []History {
	return []History{DoneAfterTwo(), ParkedAtGate(), FailedVerify(), OutOfBudget(), Interrupted(), Unverified(), Hostile()}
}

// CIFix is the workflow of most histories: run the tests, let an agent fix them
// at most three times, have a judge look, ask a person, done.
func CIFix() *ir.Workflow {
	w := &ir.Workflow{Name: "ci_fix", Worktree: true, Verify: ir.Verify{Explicit: true}}
	fix := &ir.Loop{Name: "fix", Max: 3}
	w.Loops = []*ir.Loop{fix}
	tests := node("run_tests", &ir.Exec{Command: ir.Literal("go test ./..."), Readonly: true}, field("passed", gates.Bool), field("output", gates.String))
	fixer := node("fixer", &ir.Call{Model: ir.Literal("gpt")}, field("summary", gates.String))
	review := node("review", &ir.Call{Role: ir.Judge, Model: ir.Literal("gpt")}, field("approved", gates.Bool),
		ir.Field{Field: gates.Field{Name: "risk", Kind: gates.String, Enum: []string{"low", "high"}}})
	approve := node("approve", &ir.Ask{Mode: ir.Pause}, field("approved", gates.Bool))
	done, fail := &ir.Node{ID: ir.DoneID, Op: &ir.End{}}, &ir.Node{ID: ir.FailID, Op: &ir.End{Fail: true}}
	w.Nodes = []*ir.Node{tests, fixer, review, approve, done, fail}
	w.Entry = tests
	edge(tests, review, &ir.Cond{Field: "passed"}, nil)
	edge(tests, fixer, &ir.Cond{Field: "passed", Not: true}, fix)
	edge(fixer, tests, nil, nil)
	edge(review, approve, &ir.Cond{Field: "approved"}, nil)
	edge(review, fixer, &ir.Cond{Field: "approved", Not: true}, fix)
	edge(approve, done, &ir.Cond{Field: "approved"}, nil)
	edge(approve, fail, &ir.Cond{Field: "approved", Not: true}, nil)
	w.Seal()
	return w
}

func node(id string, op ir.Op, out ...ir.Field) *ir.Node {
	n := &ir.Node{ID: id, Op: op, Retries: -1}
	if len(out) > 0 {
		n.Out = &ir.Schema{Name: id + "_out", Fields: out}
	}
	return n
}

func edge(from, to *ir.Node, cond *ir.Cond, loop *ir.Loop) {
	from.Edges = append(from.Edges, &ir.Edge{From: from, To: to, Cond: cond, Loop: loop})
}

func field(name string, kind gates.Kind) ir.Field {
	return ir.Field{Field: gates.Field{Name: name, Kind: kind}}
}

const (
	script  = "pawl-demo-1 (script)"
	fixed1  = "7c6d5e4f3a2b1c0d9e8f7a6b5c4d3e2f1a0b9c8d"
	fixed2  = "d9c8b7a6f5e4d3c2b1a09f8e7d6c5b4a39281706"
	dollars = budget.Dollar
)

var limits = budget.Limits{MaxTokens: 60_000, MaxCost: 2 * dollars, MaxDuration: 30 * time.Minute, MaxIterations: 20}

func usage(in, cached, out int64, cost budget.Micros) budget.Usage {
	return budget.Usage{Input: in, Cached: cached, Output: out, Cost: cost}
}

// toTheGate is what most runs have in common: two rounds of fixing, a review, and
// the question to a person.
func toTheGate(r *Record) *Record {
	r.Start(CIFix(), limits)
	r.Enter("run_tests").Command("run_tests", "go test ./...", 1, 1240*time.Millisecond)
	r.Leave("run_tests", map[string]any{"passed": false, "output": "--- FAIL: TestAdd"}, "").Loop("run_tests", "fixer", 1, "fix", 1)
	r.Enter("fixer").Call("fixer", "gpt", script, usage(2_140, 0, 96, 3_100), 820*time.Millisecond)
	r.Tool("fixer", "read_file", "read calc/add.go (41 lines)", false, false)
	r.Call("fixer", "gpt", script, usage(3_020, 2_048, 210, 3_900), 1400*time.Millisecond)
	r.Tool("fixer", "edit_file", "wrote calc/add.go (+1 −1)", true, false)
	r.Call("fixer", "gpt", script, usage(3_410, 2_944, 88, 2_700), 600*time.Millisecond)
	r.Leave("fixer", map[string]any{"summary": "Add no longer drops the carry of the last digit"}, fixed1).Take("fixer", "run_tests", 0)
	r.Enter("run_tests").Command("run_tests", "go test ./...", 1, 1180*time.Millisecond)
	r.Leave("run_tests", map[string]any{"passed": false}, "").Loop("run_tests", "fixer", 1, "fix", 2)
	r.Enter("fixer").Call("fixer", "gpt", script, usage(2_260, 1_024, 120, 2_900), 900*time.Millisecond)
	r.Tool("fixer", "search", "search \"Sub(\": 4 hits", false, false)
	r.Tool("fixer", "edit_file", "could not edit calc/sub.go: the text to replace is not there", true, true)
	r.Call("fixer", "gpt", script, usage(3_530, 3_072, 140, 2_800), 1100*time.Millisecond)
	r.Tool("fixer", "edit_file", "wrote calc/sub.go (+2 −3)", true, false)
	r.Call("fixer", "gpt", script, usage(3_900, 3_456, 70, 2_500), 700*time.Millisecond)
	r.Leave("fixer", map[string]any{"summary": "Sub borrows like Add carries; test data moved"}, fixed2).Take("fixer", "run_tests", 0)
	r.Enter("run_tests").Command("run_tests", "go test ./...", 0, 1310*time.Millisecond)
	r.Leave("run_tests", map[string]any{"passed": true}, "").Take("run_tests", "review", 0)
	r.Enter("review").Call("review", "gpt", script, usage(1_900, 0, 45, 2_000), 500*time.Millisecond)
	r.Leave("review", map[string]any{"approved": true, "risk": "low"}, "").Take("review", "approve", 0)
	r.Enter("approve")
	return r.Open("approve", "The agent changed how carries and borrows work in package calc. The tests pass in its worktree.\n\nMay this go to main?",
		[]gates.Field{{Name: "approved", Kind: gates.Bool}, {Name: "comment", Kind: gates.String, Optional: true}},
		map[string]any{"approved": true, "risk": "low"}, "").Add("", &event.RunParked{Gates: []string{"approve#1"}})
}

var passing = event.Evidence{Mode: "auto", Passed: true, Tree: fixed2, Commands: []event.CommandEvidence{
	{Name: "go", Command: "go test ./...", Millis: 2210, Tail: "ok  \texample.com/calc\t0.004s\nok  \texample.com/calc/cmd\t0.011s\n", Counts: &event.Counts{Passed: 12, Skipped: 1}},
}}

var smallDiff = &report.Diff{Added: 14, Removed: 6, Files: []report.FileChange{
	{Path: "calc/add.go", Status: "modified", Added: 1, Removed: 1},
	{Path: "calc/sub.go", Status: "modified", Added: 2, Removed: 3},
	{Path: "calc/testdata/carry.txt", From: "testdata/carry.txt", Status: "renamed", Added: 11, Removed: 2},
	{Path: "calc/testdata/carry.png", Status: "added", Binary: true},
}}

func extra(run string) report.Extra {
	return report.Extra{Diff: smallDiff, Paths: report.Paths{
		Record: ".pawl/runs/" + run, Worktree: ".pawl/worktrees/" + run, Report: ".pawl/runs/" + run + "/report.md",
	}}
}

// DoneAfterTwo needed two rounds, was parked for two hours, and ended well.
func DoneAfterTwo() History {
	r := toTheGate(NewRecord("20261121-093000-k4t9"))
	r.Wait(2*time.Hour+3*time.Minute).Add("", &event.RunResumed{Pawl: "v0.1.0", Attempt: 2})
	r.Answer("approve", map[string]any{"approved": true, "comment": "good, but mind Mul next"}, "ada", "--answer")
	r.Leave("approve", map[string]any{"approved": true}, "").Take("approve", "done", 0)
	r.Verify(passing, 2210*time.Millisecond)
	r.Add("", &event.RunFinished{Outcome: event.Done, Head: fixed2})
	return History{"done", r.Events, CIFix(), extra("20261121-093000-k4t9")}
}

// ParkedAtGate waits for a person.
func ParkedAtGate() History {
	r := toTheGate(NewRecord("20261121-093000-p7m2"))
	return History{"parked", r.Events, CIFix(), extra("20261121-093000-p7m2")}
}

// FailedVerify reached done, but the repository's tests say no.
func FailedVerify() History {
	r := NewRecord("20261121-093000-v3x1")
	r.Start(CIFix(), budget.Limits{})
	r.Enter("run_tests").Command("run_tests", "go test ./calc", 0, 900*time.Millisecond)
	r.Leave("run_tests", map[string]any{"passed": true}, "").Take("run_tests", "review", 0)
	r.Enter("review").Call("review", "local", "qwen3-coder-30b", usage(1_500, 0, 60, 0), 2*time.Second)
	last := r.Events[len(r.Events)-1].Body.(*event.ModelCallFinished)
	last.Unpriced = true
	r.Leave("review", map[string]any{"approved": true, "risk": "high"}, fixed1).Take("review", "approve", 0)
	r.Enter("approve").Open("approve", "Go on?", []gates.Field{{Name: "approved", Kind: gates.Bool}}, map[string]any{}, "")
	r.Answer("approve", map[string]any{"approved": true}, "grace", "terminal")
	r.Leave("approve", map[string]any{"approved": true}, "").Take("approve", "done", 0)
	r.Verify(event.Evidence{Mode: "auto", Reason: "go: exit status 1, 2 of 31 tests fail", Tree: fixed1, Commands: []event.CommandEvidence{
		{Name: "go", Command: "go test ./...", Exit: 1, Millis: 3400, Counts: &event.Counts{Passed: 29, Failed: 2, Failing: []string{"TestSub/borrow", "TestSub/zero|one"}},
			Tail: "--- FAIL: TestSub (0.00s)\n    --- FAIL: TestSub/borrow (0.00s)\n        calc_test.go:31: Sub(10, 1) = 11, want 9\n    --- FAIL: TestSub/zero|one (0.00s)\nFAIL\nFAIL\texample.com/calc\t0.003s\nFAIL\n"},
		{Name: "npm", Command: "npm test", Dir: "web", Exit: 0, Millis: 5100, Tail: "12 passing\n", Counts: &event.Counts{Passed: 12}},
	}}, 8500*time.Millisecond)
	r.Add("", &event.RunFinished{Outcome: event.Failed, Class: event.FailVerify, Detail: "go: exit status 1, 2 of 31 tests fail", Head: fixed1})
	return History{"verify_failed", r.Events, CIFix(), extra("20261121-093000-v3x1")}
}

// OutOfBudget died once in the middle of a call, lost another one to the
// network, and was stopped by its purse on the second attempt.
func OutOfBudget() History {
	r := NewRecord("20261121-093000-b8w5")
	r.Start(CIFix(), budget.Limits{MaxTokens: 20_000, MaxCost: dollars / 4})
	r.Enter("run_tests").Command("run_tests", "go test ./...", 1, 1100*time.Millisecond)
	r.Leave("run_tests", map[string]any{"passed": false}, "").Loop("run_tests", "fixer", 1, "fix", 1)
	r.Enter("fixer").Call("fixer", "gpt", "gpt-5-2026-08-07", usage(4_100, 1_024, 300, 31_000), 1900*time.Millisecond)
	r.Tool("fixer", "read_file", "read calc/add.go (41 lines)", false, false)
	lost := r.Ask("fixer", "gpt", 1, budget.Amount{Tokens: 6_200, Cost: 70_000})
	r.Wait(7*time.Minute).Add("", &event.RunResumed{Pawl: "v0.1.1", Attempt: 2, CutTail: 37})
	r.Add("", &event.EffectForfeited{Key: lost, Charged: budget.Amount{Tokens: 6_200, Cost: 70_000}, Detail: "the outcome is unknown: pawl ended before it was recorded"})
	again := r.Ask("fixer", "gpt", 2, budget.Amount{Tokens: 6_200, Cost: 70_000})
	r.Wait(30*time.Second).Add("fixer", &event.ModelCallFailed{Key: again, Class: "timeout", Detail: "no answer within 30s", Retry: true, Charged: budget.Amount{Tokens: 6_200, Cost: 70_000}, Millis: 30_000})
	r.Add("", &event.BudgetWarned{Limit: "max_tokens", Used: "16800", Max: "20000"})
	r.Add("", &event.RunStopped{
		Reason: event.StopBudget, Limit: "max_tokens",
		Detail: "max_tokens: 6200 tokens needed, 3200 tokens left, before the next call of fixer",
		Hint:   "raise the limit in the budget block, or resume with --max-tokens",
	})
	e := extra("20261121-093000-b8w5")
	e.Diff = nil
	return History{"budget", r.Events, CIFix(), e}
}

// Interrupted is the record of a process that is gone, with a call in doubt, and
// without its workflow.
func Interrupted() History {
	r := NewRecord("20261121-093000-i1n6")
	r.Start(CIFix(), limits)
	r.Enter("run_tests").Command("run_tests", "go test ./...", 1, 1100*time.Millisecond)
	r.Leave("run_tests", map[string]any{"passed": false}, "").Loop("run_tests", "fixer", 1, "fix", 1)
	r.Enter("fixer")
	r.Ask("fixer", "gpt", 1, budget.Amount{Tokens: 9_000, Cost: 40_000})
	return History{"interrupted", r.Events, nil, report.Extra{Process: report.ProcessGone}}
}

// Unverified is done, but the repository has no tests.
func Unverified() History {
	w := &ir.Workflow{Name: "docs", Worktree: true}
	writer := node("writer", &ir.Call{Model: ir.Literal("gpt")})
	done := &ir.Node{ID: ir.DoneID, Op: &ir.End{}}
	w.Nodes, w.Entry = []*ir.Node{writer, done}, writer
	edge(writer, done, nil, nil)
	w.Seal()
	r := NewRecord("20261121-093000-u2q8")
	r.Start(w, budget.Limits{MaxTokens: 10_000})
	r.Enter("writer").Call("writer", "gpt", "gpt-5-mini", usage(800, 0, 1_200, 2_600), 9*time.Second)
	r.Leave("writer", map[string]any{"title": "Explain carries in the README"}, fixed1).Take("writer", "done", 0)
	r.Verify(event.Evidence{Mode: "auto", Reason: "nothing to run: no go.mod, package.json, pyproject.toml, Cargo.toml or Makefile"}, 3*time.Millisecond)
	r.Add("", &event.RunFinished{Outcome: event.Done, Head: fixed1})
	return History{"unverified", r.Events, w, report.Extra{Diff: &report.Diff{Added: 9, Files: []report.FileChange{{Path: "README.md", Added: 9, Status: "modified"}}}}}
}
