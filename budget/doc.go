// Package budget holds what a run may spend and what it has spent: token and
// money amounts, limits, the price table and the purse.
//
// It stands on floor 0: it imports no other room, reads no clock and does no
// I/O. A [Purse] is a plain value owned by one goroutine (the engine's state);
// concurrent branches cannot overspend because every reservation goes through
// that owner and is logged before the money leaves.
package budget
