package main

import (
	"errors"
	"strings"

	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/machine"
)

// exitStatus is what the shell sees.
type exitStatus int

// The exit statuses; docs/cli.md lists them for users.
const (
	exitDone    exitStatus = 0
	exitFailed  exitStatus = 1 // the workflow failed
	exitUsage   exitStatus = 2 // bad file, flag or input
	exitHost    exitStatus = 3 // pawl or the world failed
	exitParked  exitStatus = 8 // waiting for a person
	exitStopped exitStatus = 9 // budget, kill switch or signal
)

// problem is an error with the status it ends the program with.
type problem struct {
	status exitStatus
	hint   string
	err    error
}

// Error implements error.
func (p *problem) Error() string { return p.err.Error() }

// Unwrap implements errors.Unwrap.
func (p *problem) Unwrap() error { return p.err }

// usage marks err as the user's to mend.
func usage(err error, hint string) error { return &problem{exitUsage, hint, err} }

// host marks err as pawl's or the world's.
func host(err error, hint string) error { return &problem{exitHost, hint, err} }

// errSaid ends the program with a status after everything has been said.
type errSaid exitStatus

// Error implements error.
func (errSaid) Error() string { return "" }

// explain reduces an error to what a person is told.
func explain(err error) (status exitStatus, message, hint string) {
	var said errSaid
	if errors.As(err, &said) {
		return exitStatus(said), "", ""
	}
	var bad *runner.AnswerError
	if errors.As(err, &bad) {
		return exitUsage, bad.Error(), "the gate stays open; answer again with pawl resume --answer FIELD=VALUE"
	}
	var p *problem
	if errors.As(err, &p) {
		return p.status, p.Error(), p.hint
	}
	if isFlagError(err) {
		return exitUsage, err.Error(), "see pawl --help"
	}
	return exitHost, err.Error(), ""
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

// statusOf is the exit status of a run that came to rest.
func statusOf(s *machine.State) exitStatus {
	switch s.Status {
	case machine.Parked:
		return exitParked
	case machine.Stopped:
		if s.Stop.Reason == event.StopHost {
			return exitHost
		}
		return exitStopped
	case machine.Finished:
		if s.Outcome.Outcome == event.Done {
			return exitDone
		}
		return exitFailed
	}
	return exitHost
}
