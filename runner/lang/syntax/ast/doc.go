// Package ast is the tree of a .iter file: declarations, properties, edges and
// values, each with the place where it stands.
//
// It stands on floor 1, is pure, and imports diag and scan.
package ast
