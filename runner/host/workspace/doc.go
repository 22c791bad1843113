// Package workspace gives a run its own tree: a fresh branch in a linked worktree
// of the user's repository, with snapshots, restores, commits and diffs. The
// user's checkout, index, HEAD, stash and configuration are never written.
//
// All work is done by the git binary, hardened by package git below. The git
// directory and the index are named explicitly, so that nothing an agent writes
// into the worktree (a changed .git link, index flags, a nested repository)
// decides what git does.
//
// It stands on floor 4 and imports runner and its own git.
package workspace
