// Package scaffold knows the files that `pawl init` offers a repository, and what
// becomes of each where something of its name is there already: nothing is ever
// overwritten.
//
// It stands on floor 6, opens nothing itself and imports nothing of the house; the
// texts are in files.
package scaffold
