// Package syntax reads the .iter language: a scanner, a recursive-descent parser
// that recovers from errors, and the tree it builds. [Parse] always returns a
// tree that can be used and every diagnostic of the file, in one pass.
//
// It judges form, not meaning: names are resolved and templates are read by the
// next stage. What it does promise about the tree is written on [File].
//
// It stands on floor 1, is pure, and imports diag.
package syntax
