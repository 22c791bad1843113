// Package cli is what every command of pawl is written with: one invocation
// ([App]) with its streams, environment and global flags, the exit statuses, the
// errors that carry them, and the one way to read and compile a workflow.
//
// The rooms of the commands stand above it; it knows no command. It stands on
// floor 6 and imports the languages (front, check, recipe, diag, ir), the
// engine's result (runner), the names of the tools (tool), the price table
// (budget), what judges a run (score) and the form of annotations (actions).
package cli
