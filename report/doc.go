// Package report folds a run's record into a [Summary]: outcome, path, evidence,
// gates, budget, and what to do next. The Summary is also the --json form; its
// names are stable. How it is drawn is the business of the rooms around it: page
// (markdown, terminal), diagram (mermaid) and actions (GitHub's files).
//
// Build is a pure function: no clock, no environment, no disk, and the same
// record gives the same bytes.
//
// It stands on floor 2 and imports event, ir, budget, gates, words and score.
package report
