//go:build !linux

package sandbox

import (
	"errors"
	"fmt"
	"runtime"
)

var errNoConfinement = fmt.Errorf("on %s pawl cannot confine commands", runtime.GOOS)

func (p *process) startConfined(run string, _ *Policy, required bool) error {
	if required {
		return errors.Join(errors.New("the sandbox is required"), errNoConfinement)
	}
	return p.start(run)
}

// Confinement says what of a policy this system enforces, and what it does not.
func Confinement() (enforced []string, missing []Gap) {
	for _, name := range []string{NoPrivileges, NoNetwork, FilesOnly, NoCapabilities} {
		missing = append(missing, Gap{name, errNoConfinement.Error()})
	}
	return nil, missing
}
