// Package source reads the text of a script, YAML or JSON lines, into one tree
// of values that know where they stand, so that whoever makes sense of them can
// point at what is wrong. Objects keep the order of the file, numbers the digits
// that were written.
//
// It stands on floor 2, is pure and imports no other room.
package source
