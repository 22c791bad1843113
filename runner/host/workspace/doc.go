// Package workspace gives a run its own tree: a fresh branch in a linked worktree
// of the user's repository, with snapshots, restores, commits and diffs. The
// user's checkout, index, HEAD, stash and configuration are never written.
//
// All work is done by the git binary. Every call is hardened: hooks, fsmonitor,
// signing, external diffs and text conversions are off, the environment is built
// from an allow-list, and the git directory and index are named explicitly, so
// that nothing an agent writes into the worktree (a changed .git link, index
// flags, a nested repository, a new filter) decides what git does. Filters run
// only as they were configured when the repository was opened.
//
// It stands on floor 4 and imports runner.
package workspace
