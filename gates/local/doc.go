// Package local asks gates' questions without GitHub: from answers given on the
// command line, or at a terminal.
//
// It stands on floor 4 and imports gates.
package local
