package local_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/gates/local"
	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/runnertest"
)

var question = gates.Question{
	Gate: "approve#1", Node: "approve", Text: "Ship \x1b[31mit?", Branch: "pawl/x/1", Input: json.RawMessage(`{"summary":"one fix"}`),
	Fields: []gates.Field{
		{Name: "approved", Kind: gates.Bool},
		{Name: "risk", Kind: gates.String, Enum: []string{"low", "high"}},
		{Name: "reviewers", Kind: gates.Strings, Optional: true},
		{Name: "score", Kind: gates.Int, Optional: true},
	},
}

func answers(t *testing.T, args ...string) *local.Answers {
	t.Helper()
	a, err := local.ParseAnswers(args)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAnswersComeFirst(t *testing.T) {
	t.Parallel()
	g := &local.Gate{Answers: answers(t, "approved=no", "approve.approved=yes", "risk=low", "reviewers=ada, bob", "typo=1"), By: "ada"}
	got, _, err := g.Ask(context.Background(), question)
	if err != nil || got == nil {
		t.Fatalf("answer %v, error %v", got, err)
	}
	want := map[string]string{"approved": "true", "risk": `"low"`, "reviewers": `["ada","bob"]`}
	for name, raw := range want {
		if string(got.Values[name]) != raw {
			t.Errorf("%s is %s, want %s", name, got.Values[name], raw)
		}
	}
	if got.By != "ada" || got.Via != "--answer" {
		t.Errorf("by %q via %q", got.By, got.Via)
	}
	if unused := g.Answers.Unused(); strings.Join(unused, " ") != "approved typo" {
		t.Errorf("unused %v", unused)
	}
}

func TestNobodyThere(t *testing.T) {
	t.Parallel()
	for name, g := range map[string]*local.Gate{
		"no answers":     {},
		"other question": {Answers: answers(t, "colour=blue")},
		"other gate":     {Answers: answers(t, "approved=yes", "risk=low"), Only: map[string]bool{"other#1": true}},
		"end of input":   {In: strings.NewReader("yes\n"), Out: io.Discard},
		"nothing to say": {In: strings.NewReader(""), Out: io.Discard},
	} {
		if got, _, err := g.Ask(context.Background(), question); got != nil || err != nil {
			t.Errorf("%s: answer %v, error %v, want none", name, got, err)
		}
	}
}

// Half an answer goes to whoever checks it when nobody can be asked for the rest;
// at a terminal only the rest is asked.
func TestHalfAnAnswer(t *testing.T) {
	t.Parallel()
	g := &local.Gate{Answers: answers(t, "approved=yes")}
	got, _, err := g.Ask(context.Background(), question)
	if err != nil || got == nil || len(got.Values) != 1 {
		t.Errorf("answer %v, error %v, want the half", got, err)
	}
	var out bytes.Buffer
	g = &local.Gate{Answers: answers(t, "approved=yes"), In: strings.NewReader("high\n\n\n"), Out: &out}
	got, _, err = g.Ask(context.Background(), question)
	if err != nil || got == nil || string(got.Values["approved"]) != "true" || string(got.Values["risk"]) != `"high"` {
		t.Errorf("answer %v, error %v", got, err)
	}
	if strings.Contains(out.String(), "approved (") {
		t.Errorf("what was given is asked again:\n%s", &out)
	}
}

func TestTerminalAsksUntilItFits(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	g := &local.Gate{In: strings.NewReader("maybe\ny\nmedium\nhigh\n\n1.5\n7"), Out: &out, By: "bob"}
	got, _, err := g.Ask(context.Background(), question)
	if err != nil || got == nil {
		t.Fatalf("answer %v, error %v\n%s", got, err, &out)
	}
	if string(got.Values["approved"]) != "true" || string(got.Values["risk"]) != `"high"` || string(got.Values["score"]) != "7" || got.Values["reviewers"] != nil {
		t.Errorf("values %s", got.Values)
	}
	for _, want := range []string{"Ship [31mit?", "git log -p pawl/x/1", "one fix", "please answer with yes or no", "one of low, high", "a whole number"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the terminal does not show %q:\n%s", want, &out)
		}
	}
}

func TestCancelledPromptLeavesTheQuestionOpen(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, w := io.Pipe()
	defer w.Close()
	g := &local.Gate{In: r, Out: io.Discard}
	if got, _, err := g.Ask(ctx, question); got != nil || err != nil {
		t.Errorf("answer %v, error %v, want none", got, err)
	}
}

func TestParseAnswersRefuses(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"approved"}, {"=x"}, {"a=1", "a=2"}} {
		if _, err := local.ParseAnswers(args); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
}

func TestTheGateConforms(t *testing.T) {
	t.Parallel()
	runnertest.ConformGate(t, func(t *testing.T) (silent, approving runner.Gate) {
		return &local.Gate{Out: io.Discard, By: "ada"}, &local.Gate{Answers: answers(t, "approved=true"), Out: io.Discard, By: "ada"}
	})
}
