package work

import (
	"context"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/cmd/pawl/models"
	"github.com/pawl-ci/pawl/gates/local"
	"github.com/pawl-ci/pawl/runner/redact"
)

// settings are what flags and environment come to.
type settings struct {
	*models.Access
	answers *local.Answers
	redact  *redact.Redactor
}

// newSettings resolves flags over environment over defaults.
func newSettings(ctx context.Context, a *cli.App, f *runFlags) (*settings, error) {
	answers, err := local.ParseAnswers(f.answers)
	if err != nil {
		return nil, cli.Usage(err, "")
	}
	access, err := models.Open(ctx, a, f.models)
	if err != nil {
		return nil, err
	}
	return &settings{Access: access, answers: answers, redact: redact.New(redact.FromEnvironment(a.Env.Lines()))}, nil
}
