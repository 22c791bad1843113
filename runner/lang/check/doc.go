// Package check holds the rules over the IR: the same for every format, one file
// per family.
//
// It stands on floor 2, is pure, and imports ir, diag and budget.
package check
