// Package verify finds and runs a repository's own tests, and keeps what it saw
// as evidence. What a directory tests is read from its files (Detect), what a
// test runner said is read from its output (counts); both are pure. Commands run
// through the Shell port, so this package starts no process itself.
//
// It stands on floor 4 and imports runner and event.
package verify
