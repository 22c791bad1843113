package cli

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/pawl-ci/pawl/runner"
)

// ExitStatus is what the shell sees.
type ExitStatus int

// The exit statuses; docs/cli.md lists them for users.
const (
	ExitDone    ExitStatus = 0
	ExitFailed  ExitStatus = 1 // the workflow failed
	ExitUsage   ExitStatus = 2 // bad file, flag or input
	ExitHost    ExitStatus = 3 // pawl or the world failed
	ExitParked  ExitStatus = 8 // waiting for a person
	ExitStopped ExitStatus = 9 // budget, kill switch or signal
)

// problem is an error with the status it ends the program with.
type problem struct {
	status ExitStatus
	hint   string
	err    error
}

// Error implements error.
func (p *problem) Error() string { return p.err.Error() }

// Unwrap implements errors.Unwrap.
func (p *problem) Unwrap() error { return p.err }

// Usage marks err as the user's to mend. hint is one line that says how, or "".
func Usage(err error, hint string) error { return &problem{ExitUsage, hint, err} }

// Host marks err as pawl's or the world's. hint is one line that says what can be
// done, or "".
func Host(err error, hint string) error { return &problem{ExitHost, hint, err} }

// Said ends the program with a status after everything has been said.
type Said ExitStatus

// Error implements error.
func (Said) Error() string { return "" }

// Explain reduces an error to what a person is told: the status to end with, one
// message and one hint; both are empty when all has been said.
func Explain(err error) (status ExitStatus, message, hint string) {
	var said Said
	if errors.As(err, &said) {
		return ExitStatus(said), "", ""
	}
	var bad *runner.AnswerError
	if errors.As(err, &bad) {
		return ExitUsage, bad.Error(), "the gate stays open; answer again with pawl resume --answer FIELD=VALUE"
	}
	var p *problem
	if errors.As(err, &p) {
		return p.status, p.Error(), p.hint
	}
	if isFlagError(err) {
		return ExitUsage, err.Error(), "see pawl --help"
	}
	return ExitHost, err.Error(), ""
}

// isFlagError recognises what cobra says about arguments; it has no type for it.
func isFlagError(err error) bool {
	text := err.Error()
	for _, start := range []string{"unknown command", "unknown flag", "unknown shorthand", "flag needs", "invalid argument", "accepts ", "requires at least", "required flag"} {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	return false
}

// Reason is what an error of the file system says, without the name of the file,
// which the reader sees anyway.
func Reason(err error) error {
	var p *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("there is no such file")
	case errors.As(err, &p):
		return p.Err
	}
	return err
}

// DiskHint names the remedy for what a full or read-only disk does, or is "".
func DiskHint(err error) string {
	text := err.Error()
	switch {
	case strings.Contains(text, "No space left") || strings.Contains(text, "no space left"):
		return "free some space, then: pawl resume"
	case errors.Is(err, os.ErrPermission) || strings.Contains(text, "Permission denied") || strings.Contains(text, "ead-only file system"):
		return "pawl must be able to write there; --store-dir DIR keeps records and worktrees elsewhere"
	}
	return ""
}
