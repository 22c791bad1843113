// Package symbols says what the names of a .iter file name: which thing is
// declared where, every place that refers to it, and what may follow a path such
// as outputs.reviewer. It reads the tree only, so it works in files that have
// errors: what is well formed has its names.
//
// Names inside templates ({{outputs.x.f}}), expressions (when "output.f > 3"),
// conditions, the keys of with, and lists count like all others.
//
// It stands on floor 2, is pure, and imports ast, grammar and diag.
package symbols
