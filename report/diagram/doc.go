// Package diagram draws a workflow as a mermaid flowchart or in Graphviz's DOT
// ([Draw]), and the way that a run took through it ([Mermaid]). Whatever names and
// texts a workflow holds, a drawing of it is valid and shows them as text.
//
// It is pure, stands on floor 3 and imports report, ir and words.
package diagram
