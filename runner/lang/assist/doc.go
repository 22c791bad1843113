// Package assist is what an editor asks about a .iter file, without the editor:
// what may be written at a place, what stands there, how a finding is mended,
// which parts fold. Places are byte offsets; protocols are for the room above.
//
// Everything works in files that have errors. What the tree does not hold is
// taken from the lines: the words in front of the cursor and the headers that the
// line is indented below.
//
// It stands on floor 3, is pure, and imports symbols, syntax, ast, grammar, scan,
// lexicon and diag.
package assist
