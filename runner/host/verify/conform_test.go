package verify

import (
	"testing"

	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/runnertest"
)

func TestTheVerifierConforms(t *testing.T) {
	t.Parallel()
	runnertest.ConformVerifier(t, func(t *testing.T, files map[string]string) runner.Verifier {
		_, v := project(t, files)
		return v
	})
}
