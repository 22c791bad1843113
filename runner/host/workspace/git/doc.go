// Package git runs the git binary in a hardened way: hooks, fsmonitor, signing and
// the like are off, the environment is built from an allow-list, git asks nobody
// anything, ends when pawl ends, and says in one line what it could not do.
// Filters stay as they were configured when the repository was opened.
//
// It stands on floor 3 and imports nothing of the house.
package git
