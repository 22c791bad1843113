// Package confine restricts a thread, and thereby every process that it starts,
// to the files of a [Policy] and to loopback: with Landlock, a network namespace,
// no new privileges and no capabilities.
//
// One thread takes the restrictions on and starts the process. It never does
// anything else and ends with the process: the Go runtime discards a thread whose
// goroutine ends while locked to it. A library would restrict all threads of
// pawl, and a program in between would cost every command a start of its own.
// What this system gives is tried, never assumed: [System].
//
// It stands on floor 3 and imports no other room.
package confine
