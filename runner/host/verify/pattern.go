package verify

import (
	"regexp"
	"sync"
)

// pattern is a regular expression that is compiled when it is first used: every
// command of pawl would pay for it at its start otherwise.
func pattern(source string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(source) })
}
