// Package lexicon says in a line or two what each word of the .iter language means:
// declarations, properties, clauses of edges. Its text is made from the reference,
// docs/language.md, so that an editor says what the manual says.
//
// It stands on floor 0, is pure, and imports no other room.
package lexicon
