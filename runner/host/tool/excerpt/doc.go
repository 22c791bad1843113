// Package excerpt makes output of any length fit to be read by a model: without
// colours, beginning, end and the lines that look like failures, and what is
// left out in between.
//
// It is pure, stands on floor 2 and imports no other room.
package excerpt
