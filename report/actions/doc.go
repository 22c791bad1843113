// Package actions writes to the surfaces that a step of GitHub Actions has: the
// outputs file, the job summary, annotations, groups, masks, and a bracket that
// keeps untrusted output from being read as commands.
//
// Everything is given by the caller, writers, paths and the source of randomness:
// nothing here reads the environment. Limits are GitHub's own; what they leave out
// is said, never dropped in silence.
//
// It stands on floor 3 and imports diag and words.
package actions
