// Package grammar is the vocabulary of the .iter language as data: which
// declarations there are, which properties each has, which values a property
// takes, which other words mean the same. The parser reads it; manuals and
// editors can.
//
// It stands on floor 0, is pure, and imports no other room.
package grammar
