// Package patch reads unified diffs and applies them to text, strictly: every
// line a hunk keeps or removes must be there exactly, in one place only. Where
// a hunk's line numbers or counts are wrong but its lines leave no doubt, they
// are taken at their word and the correction is reported.
//
// It is pure, stands on floor 3 and imports no other room.
package patch
