// Package syntax reads the .iter language: a recursive-descent parser that
// recovers from errors. [Parse] always returns a tree that can be used and every
// diagnostic of the file, in one pass. The tree's types are those of package ast,
// and have their names here too.
//
// It judges form, not meaning: names are resolved and templates are read by the
// next stage. What it does promise about the tree is written on [File].
//
// It stands on floor 2, is pure, and imports ast, scan, grammar and diag.
package syntax
