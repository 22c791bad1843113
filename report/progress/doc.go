// Package progress says what a run does while it does it: one line for each thing
// that begins or ends, so that long work can be followed on a terminal and in a CI
// log alike. Text from a model or a tool stays on its line.
//
// It stands on floor 2, is pure, and imports event, gates and words.
package progress
