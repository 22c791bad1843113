// Package transcript reads a record for what was said and made: the exchange of
// one node with its model, its tools and the people it asked, and the artifacts
// with their versions. It gives values, and draws them as plain text.
//
// It stands on floor 2 and imports event, ir and words. It is pure.
package transcript
