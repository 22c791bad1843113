// Package data reads YAML and JSON into values that know where they stand, for
// every format of ours that is written in them: what is wrong with a value can be
// underlined, and so can a few characters inside of a long text.
//
// It stands on floor 1, is pure, and imports diag.
package data
