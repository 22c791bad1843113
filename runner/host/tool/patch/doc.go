// Package patch changes text exactly: by unified diffs, and by replacing one
// piece with another. Every line that a hunk keeps or removes, every byte that an
// edit replaces must be there, in one place only; what does not fit is explained
// by what comes closest. Where a hunk's line numbers or counts are wrong but its
// lines leave no doubt, they are taken at their word and the correction is
// reported.
//
// It is pure, stands on floor 2 and imports no other room.
package patch
