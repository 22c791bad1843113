// Package replay reads a record and decides every step of it again, without any
// effect: what a node was told, which edge was taken, what an answer came to,
// what a model was asked and whether the purse could pay for it. What came from
// outside (answers, results, commits, signals) is taken as it stands.
//
// A record that was made by a sound engine gives no difference, for ever: the
// golden histories in testdata hold the engine to that.
//
// It stands on floor 3 and imports machine, event, ir and gates. It is pure.
package replay
