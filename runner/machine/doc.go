// Package machine is the pure decider: [State.Apply] folds an event into the
// state of a run, [State.Next] says what must happen now. The same history gives
// the same commands, always: no I/O, no clock, no goroutine, no randomness.
//
// State holds tokens, not "the current node": a token is at a node, knows its
// loop counts and, inside an agent, the turn of its conversation. A fan-out makes
// tokens and rests until they have met; there is no second engine for branches. The cost of
// one step depends neither on the length of the history nor on the size of the
// workflow.
//
// It stands on floor 2 and imports ir, event, budget and gates.
package machine
