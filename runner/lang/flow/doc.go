// Package flow answers what the edges of a workflow make possible: what can come
// before what, on which branches a node lies, how often it can be visited, and
// what a run can cost at most ([Of], [Flow.WorstCase]).
//
// It stands on floor 2, is pure, and imports ir, graph and budget.
package flow
