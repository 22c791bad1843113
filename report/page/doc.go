// Package page draws a run's summary: markdown for job summaries and pull
// requests, a few lines for a terminal, and a list of runs.
//
// Text that came from a model, a tool, a repository or a person is shown inside
// code spans and fences only, with hidden characters made visible, so that it
// can neither change the layout nor notify anybody. The same input gives the same
// bytes.
//
// It is pure, stands on floor 4 and imports report, diagram, words, event, ir,
// budget and gates.
package page
