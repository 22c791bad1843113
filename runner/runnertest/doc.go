// Package runnertest is the test kit beside the engine: ports that live in
// memory, a clock that ticks by itself, and a world that can be made to fail or
// crash at any append and any effect. The Conform functions hold adapters, and the
// ports in memory, to what the ports promise.
//
// It stands on floor 4 and imports runner and the floors below; only tests
// import it.
package runnertest
