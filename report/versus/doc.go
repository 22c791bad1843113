// Package versus folds the summaries of runs of one workflow under different
// recipes into a [Comparison], the best recipe first. Whether the runs have just
// ended or are read from their records makes no difference.
//
// It stands on floor 3, is pure, and imports report, event, budget and score.
package versus
