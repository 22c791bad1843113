// Package runner is the engine: it asks the machine what comes next, performs
// effects through ports, appends events and applies them. It owns the ports and
// knows nothing of GitHub, git, HTTP or flags.
//
// It stands on floor 3. Adapters for the ports live in runner/host/….
package runner
