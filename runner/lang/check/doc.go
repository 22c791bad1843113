// Package check holds the rules over the IR: the same for every format, one file
// per family.
//
// It stands on floor 3, is pure, and imports flow, cover, graph, ir, diag, budget and gates.
package check
