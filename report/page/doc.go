// Package page draws a run's summary: markdown for job summaries and pull
// requests, a few lines for a terminal, a list of runs, and a comparison.
//
// Text that came from a model, a tool, a repository or a person is shown inside
// code spans and fences only, with hidden characters made visible, so that it
// can neither change the layout nor notify anybody. The same input gives the same
// bytes.
//
// It is pure, stands on floor 4 and imports report, versus, diagram, words, score,
// event, ir, budget and gates.
package page
