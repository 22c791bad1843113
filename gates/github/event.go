package github

import (
	"fmt"

	"github.com/google/go-github/v60/github"
)

// Event is what started a job, reduced to what people are told about it.
type Event struct {
	Name   string `json:"name"`             // pull_request_review, issue_comment, schedule, …
	Action string `json:"action,omitempty"` // submitted, created, …
	Actor  string `json:"actor,omitempty"`  // login of who did it
	Number int    `json:"number,omitempty"` // of the issue or pull request
	Head   string `json:"head,omitempty"`   // commit it is about
}

// ParseEvent reads a webhook payload as the runner leaves it in
// GITHUB_EVENT_PATH. A name that GitHub sends no webhook for (schedule) gives an
// Event with nothing but its name.
func ParseEvent(name string, payload []byte) (Event, error) {
	e := Event{Name: name}
	if name == "schedule" || github.EventForType(name) == nil {
		return e, nil
	}
	parsed, err := github.ParseWebHook(name, payload)
	if err != nil {
		return Event{}, fmt.Errorf("read the %s event: %w", name, err)
	}
	e.fill(parsed)
	return e, nil
}

// fill copies what the kinds of event have in common, through the accessors that
// go-github gives them.
func (e *Event) fill(parsed any) {
	if p, ok := parsed.(interface{ GetAction() string }); ok {
		e.Action = p.GetAction()
	}
	if p, ok := parsed.(interface{ GetSender() *github.User }); ok {
		e.Actor = p.GetSender().GetLogin()
	}
	if p, ok := parsed.(interface{ GetIssue() *github.Issue }); ok {
		e.Number = p.GetIssue().GetNumber()
	}
	if p, ok := parsed.(interface{ GetPullRequest() *github.PullRequest }); ok {
		e.Number, e.Head = p.GetPullRequest().GetNumber(), p.GetPullRequest().GetHead().GetSHA()
	}
}

// String is one line for a log: "pull_request_review submitted by ada on #7".
func (e Event) String() string {
	text := e.Name
	if e.Action != "" {
		text += " " + e.Action
	}
	if e.Actor != "" {
		text += " by " + e.Actor
	}
	if e.Number > 0 {
		text += fmt.Sprintf(" on #%d", e.Number)
	}
	return text
}
