package reporttest

import (
	"strings"
	"time"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/report"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// Nasty are pieces of text that mean something to markdown, HTML, mermaid, a
// terminal, a shell, GitHub or the eye.
var Nasty = []string{
	"```", "````````", "`", "~~~", "|", "\\|", "\\", "\n", "\r", "\r\n", "\t", "\x00", "\x1b[31m", "\x1b]8;;http://evil.example\x07", "\x1b", "\x9b", "\x7f",
	"<script>alert(1)</script>", "<!--", "-->", "</details>", "</code>", "<img src=x onerror=alert(1)>", "&lt;", "&#60;",
	"[link](javascript:alert(1))", "![x](https://evil.example/x.png)", "@octocat", "@org/team", "#1", "GH-1", "https://evil.example", "www.evil.example", ":tada:",
	"$x$", "$`x`$", "**", "__", "_", "# ", "\n# heading\n", "\n- item", "\n---\n", "\n| a | b |\n|---|---|\n", "> ", "1. ", "    code",
	"\"", "'", "]", "[", "]]", "))", "}}", "{", "end", "graph", "subgraph", "%%", "%%{init: {}}%%", "click n0 \"javascript:alert(1)\"", ":::", ";", "#quot;", "style:#1;", "classDef x:#1;", "<br/>", "--&gt;", "==>",
	"$(touch /tmp/x)", "; rm -rf /", "::error::x", "##[error]x", "::stop-commands::x",
	"\u202e", "\u2066", "\u200b", "\u200d", "\ufeff", "\u2028", "\u00ad", "\U000e0041", "\ufe00", "\U000e0100", "\u3164", "\ufe0f", "\xff\xfe", "é", "日本語", "🙂", "e\u0301", "a", " ", "0",
}

// Hostile has hostile text wherever a model, a tool, a repository or a person
// can put some.
func Hostile() History {
	all := strings.Join(Nasty, "")
	h := HostileWith(func(int) string { return all })
	h.Name = "hostile"
	return h
}

// HostileWith is a finished run whose every text comes from say, which is called
// with a running number.
func HostileWith(say func(n int) string) History {
	n := 0
	s := func() string { n++; return say(n) }
	w := hostileFlow(s)
	r := NewRecord(event.RunID(s()))
	r.Start(w, budget.Limits{MaxTokens: 1000})
	started := r.Events[0].Body.(*event.RunStarted)
	started.Path, started.Branch, started.Base, started.BaseRef, started.Pawl = s(), s(), s(), s(), s()
	first, gate := w.Nodes[0].ID, w.Nodes[1].ID
	r.Enter(first).Call(first, s(), s(), budget.Usage{Input: 10, Output: 5, Cost: 7}, time.Second)
	r.Call(first, s(), s()+" (script)", budget.Usage{Input: 10, Output: 5, Cost: 7}, time.Second)
	key := r.Ask(first, s(), 1, budget.Amount{Tokens: 5})
	r.Add(first, &event.ModelCallFailed{Key: key, Class: s(), Detail: s(), Hint: s()})
	r.Tool(first, s(), s(), true, true).Command(first, s(), 1, time.Second)
	r.Leave(first, map[string]any{"summary": s(), "ok": true, "word": s()}, s()).Loop(first, gate, 0, w.Loops[0].Name, 1)
	r.Enter(gate).Open(gate, s(), []gates.Field{{Name: s(), Kind: gates.Kind(s())}, {Name: s(), Kind: gates.String, Enum: []string{s(), s()}}}, map[string]any{s(): s()}, s())
	r.Answer(gate, map[string]any{s(): s(), "nested": map[string]any{s(): []string{s()}}}, s(), s())
	r.Open(gate, s(), []gates.Field{{Name: s(), Kind: gates.Bool}}, map[string]any{s(): s()}, s())
	r.Leave(gate, map[string]any{}, "").Take(gate, "done", 0)
	r.Verify(event.Evidence{Mode: s(), Reason: s(), Commands: []event.CommandEvidence{
		{Name: s(), Command: s(), Dir: s(), Exit: 1, Tail: s() + "\n" + s(), Counts: &event.Counts{Failed: 1, Failing: []string{s(), s()}}},
	}}, time.Second)
	r.Add("", &event.BudgetWarned{Limit: s(), Used: s(), Max: s()})
	r.Add(first, &event.NodeFailed{Visit: 1, Class: event.FailureClass(s()), Detail: s(), Hint: s()})
	r.Add("", &event.RunFinished{Outcome: event.Failed, Class: event.FailureClass(s()), Detail: s(), Head: s()})
	diff := &report.Diff{Added: 1, Files: []report.FileChange{{Path: s(), From: s(), Status: "renamed", Added: 1}, {Path: s(), Status: s(), Binary: true}}}
	paths := report.Paths{Record: s(), Worktree: s(), Report: s()}
	return History{Events: r.Events, Workflow: w, Extra: report.Extra{Diff: diff, Paths: paths}}
}

func hostileFlow(s func() string) *ir.Workflow {
	w := &ir.Workflow{Name: s(), Worktree: true}
	first := node("1"+s(), &ir.Call{}, field("ok", gates.Bool), ir.Field{Field: gates.Field{Name: "word", Kind: gates.String, Enum: []string{"x"}}})
	gate := node("2"+s(), &ir.Ask{})
	other := node("3"+s(), &ir.Route{Mode: ir.Condition})
	done := &ir.Node{ID: ir.DoneID, Op: &ir.End{}}
	w.Nodes, w.Entry = []*ir.Node{first, gate, other, done}, first
	loop := &ir.Loop{Name: s(), Max: 2}
	w.Loops = []*ir.Loop{loop}
	edge(first, gate, &ir.Cond{Field: s()}, loop)
	edge(gate, done, &ir.Cond{Expr: &ir.Expr{Source: s()}}, nil)
	edge(gate, other, &ir.Cond{Field: s(), Not: true}, nil)
	edge(other, first, nil, loop)
	w.Seal()
	return w
}
