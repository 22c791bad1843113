// Package diagram draws a workflow, and the way a run took through it, as a
// mermaid flowchart.
//
// It is pure, stands on floor 3 and imports report, ir and words.
package diagram
