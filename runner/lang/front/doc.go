// Package front brings formats in: it recognises a source, parses it with its
// own reader and lowers it to the IR. Names are resolved here, so "unknown name"
// errors are born here, with spelling hints.
//
// It stands on floor 3, is pure, and imports syntax, ir, diag, budget and gates.
package front
