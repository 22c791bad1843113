// Package scan reads the text of .iter files: lines with their indentation,
// tokens, indented text, strings with escapes. It knows how things are written
// and nothing of what they mean, and it reports nothing itself: what is odd goes
// to whoever uses it, as offsets.
//
// It stands on floor 0, is pure, and imports no other room.
package scan
