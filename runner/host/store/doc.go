// Package store keeps a run's record on disk: the event log, the blobs beside
// it, and the lock that lets one process at a time work on a run.
//
//	DIR/.gitignore                   "*", so that a checkout does not see DIR
//	DIR/runs/RUN/events.jsonl        the log; see package event for its lines
//	DIR/runs/RUN/blobs/ab/abcd…      large payloads by their SHA-256
//	DIR/runs/RUN/lock                held while a process works on the run
//
// What Append and Put confirm survives a crash of the process and of the
// machine. Directories are 0700 and files 0600, because a record holds source
// text.
//
// It stands on floor 4 and imports event.
package store
