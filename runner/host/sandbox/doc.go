// Package sandbox runs one process for an agent, a workflow or a verification:
// with the environment it is given and nothing else, without a terminal, in a
// session and process group of its own that is gone when Run returns, and in
// constant memory whatever it prints.
//
// What holds on this machine is reported by [Enforced], never assumed. On Linux
// every process carries marks that its descendants inherit. By the command's
// mark Run finds processes that have left their group (daemons), by the run's,
// PAWL_RUN_ID, [Reap] finds what a killed pawl left behind.
//
// The first Run forbids core dumps to the whole process, because a limit can
// only be inherited.
//
// It stands on floor 4 and imports what confines a process (confine).
package sandbox
