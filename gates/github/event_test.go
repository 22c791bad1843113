package github_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-ci/pawl/gates/github"
)

func TestRecordedEvents(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"pull_request":        "pull_request opened by Codertocat on #2",
		"pull_request_review": "pull_request_review submitted by Codertocat on #2",
		"issue_comment":       "issue_comment created by Codertocat on #1",
		"workflow_dispatch":   "workflow_dispatch by octocat",
	} {
		payload, err := os.ReadFile(filepath.Join("testdata", "events", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		e, err := github.ParseEvent(name, payload)
		if err != nil || e.String() != want {
			t.Errorf("%s: %q, %v, want %q", name, e, err, want)
		}
	}
}

func TestEventsWithoutPayload(t *testing.T) {
	t.Parallel()
	if e, err := github.ParseEvent("schedule", []byte(`{"schedule":"0 * * * *"}`)); err != nil || e.String() != "schedule" {
		t.Errorf("schedule: %q, %v", e, err)
	}
	if _, err := github.ParseEvent("issue_comment", []byte(`{"action":`)); err == nil {
		t.Error("a cut-off payload is accepted")
	}
}
