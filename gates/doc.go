// Package gates holds the words of a gate: a question put to a person, the
// answer, a verdict. Later floors render questions on GitHub or a terminal and
// read answers back; the words themselves know neither.
//
// It stands on floor 0: it imports no other room and does no I/O.
package gates
