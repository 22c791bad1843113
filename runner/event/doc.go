// Package event holds the record of a run: one struct per event type, the codec
// with its hash chain, and the rules of sequence.
//
// A run is the fold of its events; nothing else is state. An effect (a model
// call, a tool, a gate, a verification) is two events: …Started, durable before
// it begins, and …Finished, durable before anything acts on it. Started without
// Finished means "in doubt" and is never counted as done.
//
// It stands on floor 1 and imports budget, gates and score.
package event
