// Package ir is the narrow waist: one workflow model that every format lowers to
// and that the machine walks. Nothing about files, GitHub, git, HTTP or flags
// appears in it.
//
// A [Workflow] is immutable once [Workflow.Seal] has built its indexes: one step
// of the machine then costs the same whatever the number of nodes and edges.
//
// It stands on floor 1 and imports graph, diag, formula, budget and gates.
package ir
