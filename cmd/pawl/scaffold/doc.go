// Package scaffold is `pawl init`: the files that it offers a repository, what
// becomes of each where something of its name is there already ([Plan], which opens
// nothing), and the command. Nothing is ever overwritten. The texts are in files.
//
// It stands on floor 7 and imports the surroundings of a command (cli) and how pawl
// writes for people (words).
package scaffold
