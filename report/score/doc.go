// Package score says how well runs did: the metrics that every run has, the policy
// by which a recipe judges a run, the verdict, and the ranking of several runs of
// several recipes against each other.
//
// It stands on floor 0, is pure, and imports no other room: it is words and
// arithmetic, and does not know where the figures come from.
package score
