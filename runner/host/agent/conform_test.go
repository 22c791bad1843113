package agent

import (
	"testing"

	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/runnertest"
)

func TestBackendsConform(t *testing.T) {
	t.Parallel()
	for _, backend := range Names() {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			runnertest.ConformModel(t, func(t *testing.T) (runner.Model, func() *runner.ModelRequest) {
				return newStage(t, nil), func() *runner.ModelRequest { return asking(backend, "do it") }
			})
		})
	}
}
