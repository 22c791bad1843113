// Package tree gives access to the files of a worktree and to nothing else.
// Names are relative to its root. Absolute names, "..", links, special files and
// races with a process that moves links about do not lead out of it, and none of
// them leads into a .git, however it is spelt: it may hold credentials, and what
// is written there runs.
//
// Every directory on the way to a file is held open and checked to be the one
// that the name led to, so that what is checked is what is used.
//
// It stands on floor 3 and imports no other room.
package tree
