// Package diag holds source files, spans and diagnostics: what is wrong, where
// it stands, which answers would be right, and how that is drawn (carets on a
// terminal, JSON, GitHub annotations).
//
// It stands on floor 0 and is pure: it imports no other room and opens nothing;
// what it draws goes to a writer that the caller gives.
// Every code lives in one register (see [Lookup]) with a title, the reason for
// the rule, and a bad and a good example.
package diag
