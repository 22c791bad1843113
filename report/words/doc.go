// Package words is how pawl writes things for people: numbers, durations, and
// text that came from a model, a tool, a repository or a person, which is made
// safe to show on a terminal and in markdown.
//
// It is pure, stands on floor 0 and imports no other room.
package words
