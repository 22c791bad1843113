//go:build !linux

package sandbox

import (
	"fmt"

	"github.com/pawl-ci/pawl/runner/host/sandbox/confine"
)

// startConfined starts the process as it is: nothing can be confined here.
func (p *process) startConfined(run string, policy *confine.Policy, required bool) error {
	if _, missing := confine.Take(policy); required && len(missing) > 0 {
		return fmt.Errorf("the sandbox is required: %s", missing[0])
	}
	return p.start(run)
}
