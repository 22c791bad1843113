package page_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/report"
	"github.com/pawl-ci/pawl/report/page"
	"github.com/pawl-ci/pawl/report/reporttest"
	"github.com/pawl-ci/pawl/runner/event"
	"pgregory.net/rapid"
)

// hostileText is any text, with a taste for the pieces that mean something, and
// with the marker that may only be seen in code.
func hostileText(t *rapid.T) string {
	pieces := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(reporttest.Nasty), rapid.String()), 0, 6).Draw(t, "text")
	at := 0
	if len(pieces) > 0 {
		at = rapid.IntRange(0, len(pieces)).Draw(t, "at")
	}
	return strings.Join(pieces[:at], "") + reporttest.Marker + strings.Join(pieces[at:], "")
}

func TestNoTextLeavesItsCode(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := reporttest.HostileWith(func(int) string { return hostileText(t) })
		events := h.Events[:rapid.IntRange(1, len(h.Events)).Draw(t, "length")]
		s := report.Build(events, h.Workflow, h.Extra)
		var b bytes.Buffer
		if err := page.Markdown(&b, s, page.Options{}); err != nil {
			t.Fatal(err)
		}
		if err := reporttest.CheckMarkdown(b.String()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestEveryHistoryReads(t *testing.T) {
	t.Parallel()
	for _, h := range reporttest.Histories() {
		for n := range h.Events {
			s := report.Build(h.Events[:n+1], h.Workflow, h.Extra)
			if err := reporttest.CheckMarkdown(markdown(t, s, page.Options{})); err != nil {
				t.Fatalf("%s after %d events: %v", h.Name, n+1, err)
			}
			var text bytes.Buffer
			if err := page.Text(&text, s, false); err != nil {
				t.Fatal(err)
			}
			if lines := strings.Count(text.String(), "\n"); lines > 15 || strings.Contains(text.String(), "\x1b") {
				t.Fatalf("%s after %d events: %d lines, or escapes without colour:\n%s", h.Name, n+1, lines, text.String())
			}
		}
	}
}

func TestCheckerFindsFaults(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"```text\nopen", "a `b", "<script>", "<code>a<b></code>", "| a | b |\n| --- | --- |\n| x | y | z |", reporttest.Marker, "`a|b`",
		"```mermaid\nflowchart LR\n  n0[\"a\"b\"]\n```", "```mermaid\nflowchart LR\n  n0 --> n1\n```", "~~~", "\u202e", "<details><summary>x</summary>",
		"[a](b)", "mail @a", "https://x",
	} {
		if reporttest.CheckMarkdown(bad) == nil {
			t.Errorf("%q passes", bad)
		}
	}
}

func TestLimit(t *testing.T) {
	t.Parallel()
	for _, h := range reporttest.Histories() {
		s := h.Summary()
		whole := markdown(t, s, page.Options{})
		for limit := len(whole) + 1; limit > 0; limit -= 1 + limit/10 {
			text := markdown(t, s, page.Options{Limit: limit})
			if len(text) > limit {
				t.Fatalf("%s: %d bytes with a limit of %d", h.Name, len(text), limit)
			}
			if limit >= len(whole) && text != whole {
				t.Fatalf("%s: changed although it fits", h.Name)
			}
			if !utf8.ValidString(text) {
				t.Fatalf("%s: limit %d cuts a character", h.Name, limit)
			}
			if limit > 1500 && h.Name != "hostile" {
				cutWell(t, h.Name, limit, len(whole), text)
			}
		}
	}
}

// cutWell holds for limits that the first section fits: whole sections, and a
// note that names what is gone.
func cutWell(t *testing.T, name string, limit, whole int, text string) {
	t.Helper()
	if err := reporttest.CheckMarkdown(text); err != nil {
		t.Fatalf("%s with limit %d: %v", name, limit, err)
	}
	if limit < whole && (!strings.Contains(text, "Left out to stay within") || !strings.Contains(text, "pawl report 2026")) {
		t.Fatalf("%s with limit %d: no note of what is left out:\n%s", name, limit, text)
	}
}

func TestLimitKeepsWhatMattersMost(t *testing.T) {
	t.Parallel()
	text := markdown(t, reporttest.ParkedAtGate().Summary(), page.Options{Limit: 2200})
	for _, want := range []string{"⏸️ parked", "--answer approved=true", "May this go to main?", "tools", "timeline"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
}

func TestHugeRunStaysSmall(t *testing.T) {
	t.Parallel()
	r := reporttest.NewRecord("big").Start(reporttest.CIFix(), budget.Limits{})
	for i := range 1000 {
		r.Enter("run_tests").Command("run_tests", "go test ./...", 1, time.Millisecond).Leave("run_tests", map[string]any{"passed": false}, "").Loop("run_tests", "fixer", 1, "fix", i)
		r.Enter("fixer").Tool("fixer", fmt.Sprintf("tool_%d", i), strings.Repeat("x", 2000), true, false).Leave("fixer", map[string]any{"summary": strings.Repeat("y", 2000)}, fmt.Sprintf("%040d", i)).Take("fixer", "run_tests", 0)
	}
	ev := event.Evidence{Mode: "auto"}
	for i := range 300 {
		ev.Commands = append(ev.Commands, event.CommandEvidence{Command: fmt.Sprint("test ", i), Exit: 1, Tail: strings.Repeat("line\n", 20_000)})
	}
	s := report.Build(r.Verify(ev, time.Second).Events, reporttest.CIFix(), report.Extra{})
	text := markdown(t, s, page.Options{Limit: page.JobSummaryLimit})
	if len(text) > 250_000 {
		t.Errorf("%d bytes: want a report that a person can read", len(text))
	}
	if strings.Contains(text, "Left out") {
		t.Errorf("a bounded report needs no cut at 1 MiB")
	}
	for _, want := range []string{"… 1,842 more …", "… 1962 more …", "and 950 more", "End of the output"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if err := reporttest.CheckMarkdown(text); err != nil {
		t.Error(err)
	}
}

func TestScriptLabelStays(t *testing.T) {
	t.Parallel()
	r := reporttest.NewRecord("r1").Start(reporttest.CIFix(), budget.Limits{})
	r.Enter("fixer").Call("fixer", "m", strings.Repeat("very-long-name-", 20)+" (script)", budget.Usage{Input: 1}, time.Second)
	r.Call("fixer", "m", "other (script)", budget.Usage{Input: 1}, time.Second)
	s := report.Build(r.Events, nil, report.Extra{})
	text := markdown(t, s, page.Options{})
	if got := strings.Count(text, "(script)"); got != 4 { // two models, in the head and in the table of models
		t.Errorf("the label stands %d times, want 4:\n%s", got, text)
	}
	var b bytes.Buffer
	if err := page.Text(&b, s, true); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(b.String(), "(script)"); got != 2 {
		t.Errorf("the label stands %d times on the terminal, want 2:\n%s", got, b.String())
	}
}

func TestUnknownCostIsNoZero(t *testing.T) {
	t.Parallel()
	s := reporttest.FailedVerify().Summary()
	for _, line := range strings.Split(markdown(t, s, page.Options{}), "\n") {
		if strings.Contains(line, "$0") {
			t.Errorf("an unknown cost is written as a number: %s", line)
		}
	}
	for _, c := range []struct {
		spend report.Spend
		want  string
	}{
		{report.Spend{}, "$0.00"},
		{report.Spend{Unpriced: true}, "unpriced"},
		{report.Spend{Unpriced: true, CostMicros: 20_000}, "$0.02 + unpriced"},
		{report.Spend{CostMicros: 1, ForfeitedCostMicros: 2}, "$0.000003"},
	} {
		if got := c.spend.CostText(); got != c.want {
			t.Errorf("%+v costs %q, want %q", c.spend, got, c.want)
		}
	}
}

func TestHeadlines(t *testing.T) {
	t.Parallel()
	base := report.Summary{Workflow: "flow"}
	for _, c := range []struct {
		change func(s *report.Summary)
		want   string
	}{
		{func(s *report.Summary) { s.Status = report.Done }, "done: flow had nothing to change"},
		{func(s *report.Summary) {
			s.Status, s.Commits = report.Done, make([]report.Commit, 2)
			s.Verification.State = report.VerifyPassed
		}, "done: flow made 2 commits, the repository's tests pass"},
		{func(s *report.Summary) {
			s.Status, s.Commits, s.Diff = report.Done, make([]report.Commit, 1), &report.Diff{Files: make([]report.FileChange, 1)}
			s.Verification.State = report.VerifyOff
		}, "done, but not verified: flow changed 1 file in 1 commit, the workflow says verify: none"},
		{func(s *report.Summary) {
			s.Status, s.Outcome = report.Failed, report.Outcome{Class: "command_failed", Node: "build"}
		}, "failed: flow, because a command failed at build"},
		{func(s *report.Summary) { s.Status, s.Outcome.Class = report.Failed, "news" }, "failed: flow, because it did not reach its goal"},
		{func(s *report.Summary) {
			s.Status, s.Gates = report.Parked, []report.Gate{{Node: "a", State: report.GateOpen}, {Node: "b", State: report.GateAnswered}, {Node: "c", State: report.GateOpen}}
		}, "parked: flow waits for a person at a, c"},
		{func(s *report.Summary) { s.Status, s.Outcome.Class = report.Stopped, "cancelled" }, "stopped: flow was cancelled"},
		{func(s *report.Summary) { s.Status, s.Outcome.Class = report.Stopped, "killed" }, "stopped: the kill switch is on"},
		{func(s *report.Summary) { s.Status, s.Outcome.Class = report.Stopped, "host" }, "stopped: something outside flow failed"},
		{func(s *report.Summary) {
			s.Status, s.Process, s.Outcome.Node = report.Running, report.ProcessAlive, "fixer"
		}, "running: flow is at fixer"},
		{func(s *report.Summary) { s.Status, s.Outcome.Node = report.Running, "fixer" }, "running, or interrupted: the record of flow ends at fixer"},
	} {
		s := base
		c.change(&s)
		if got := page.Headline(s); got != c.want {
			t.Errorf("headline %q, want %q", got, c.want)
		}
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	rows := []page.Row{
		page.RowOf(reporttest.DoneAfterTwo().Summary(), now),
		page.RowOf(reporttest.FailedVerify().Summary(), now),
		page.RowOf(reporttest.Interrupted().Summary(), now),
		{RunID: "20261120-1", Workflow: "日本語", Status: report.Stopped, Age: 50 * time.Hour, Branch: "pawl/x\x1b[31m"},
	}
	var b bytes.Buffer
	if err := page.List(&b, rows); err != nil {
		t.Fatal(err)
	}
	compare(t, "list.txt", b.Bytes())
	b.Reset()
	if err := page.List(&b, nil); err != nil || b.Len() > 0 {
		t.Errorf("an empty list writes %q, error %v", b.String(), err)
	}
}

func TestColour(t *testing.T) {
	t.Parallel()
	var plain, painted bytes.Buffer
	s := reporttest.DoneAfterTwo().Summary()
	if err := page.Text(&plain, s, false); err != nil {
		t.Fatal(err)
	}
	if err := page.Text(&painted, s, true); err != nil {
		t.Fatal(err)
	}
	bare := strings.NewReplacer("\x1b[1;32m", "", "\x1b[2m", "", "\x1b[0m", "").Replace(painted.String())
	if bare != plain.String() || painted.Len() == plain.Len() {
		t.Errorf("colour changes more than colour:\n%q\n%q", painted.String(), plain.String())
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, fmt.Errorf("no space left on device") }

func TestWriteErrors(t *testing.T) {
	t.Parallel()
	s := reporttest.DoneAfterTwo().Summary()
	for name, err := range map[string]error{
		"markdown": page.Markdown(fullDisk{}, s, page.Options{}),
		"text":     page.Text(fullDisk{}, s, false),
		"list":     page.List(fullDisk{}, []page.Row{{}}),
	} {
		if err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestThePageSaysWhatConfinedCommands(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sandbox *event.Sandbox
		want    []string
	}{
		{&event.Sandbox{Enforced: []string{"no terminal", "no capabilities"}}, []string{"| **Sandbox** | commands were confined: 2 restrictions held |", "| Sandbox | `no terminal · no capabilities` |"}},
		{&event.Sandbox{Enforced: []string{"no terminal"}, Missing: []string{"no network: not | permitted"}}, []string{"| **Sandbox** | in part · **not enforced:** ", "permitted"}},
		{nil, nil},
	} {
		s := report.Summary{Attempts: []report.Attempt{{Number: 1}, {Number: 2, Sandbox: c.sandbox}}}
		var b strings.Builder
		if err := page.Markdown(&b, s, page.Options{}); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%+v: the page lacks %q:\n%s", c.sandbox, want, b.String())
			}
		}
		if c.want == nil && strings.Contains(b.String(), "Sandbox") {
			t.Error("a record that does not say has a sandbox")
		}
	}
}
