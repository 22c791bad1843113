//go:build !linux

package confine

import (
	"fmt"
	"runtime"
)

// Take restricts nothing here.
func Take(*Policy) (taken []string, missing []Gap) {
	for _, name := range []string{NoPrivileges, NoNetwork, FilesOnly, NoCapabilities} {
		missing = append(missing, Gap{name, fmt.Sprintf("on %s pawl cannot confine commands", runtime.GOOS)})
	}
	return nil, missing
}

// System says what of a policy this system enforces, and what it does not.
func System() (enforced []string, missing []Gap) { return Take(nil) }
