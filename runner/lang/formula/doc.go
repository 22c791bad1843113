// Package formula compiles and evaluates the expressions of a workflow: what
// stands behind `when "…"` and in `expr:`. They are deterministic and reach neither
// a clock nor the network nor the file system.
//
// It stands on floor 0 and is pure: it imports no other room.
package formula
