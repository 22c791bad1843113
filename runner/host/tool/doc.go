// Package tool holds the built-in tools: what an agent reads, searches, changes
// and runs the repository with, and the shell that runs a workflow's commands.
//
// File tools are confined to the worktree and out of its .git (package tree).
// Every result is capped, and says what it leaves out and how to get at it. What
// a model asks wrongly is a result that tells it what would be right; an error
// means that the machine failed. The same worktree gives the same bytes, so that
// a provider's prompt cache keeps hitting.
//
// It stands on floor 5 and imports runner, sandbox, diag, and the rooms below it:
// patch, look, excerpt and tree.
package tool
