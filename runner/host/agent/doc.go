// Package agent runs agent CLIs, Claude Code and Codex, as what answers an agent
// node: a program that works on the worktree with tools of its own and gives one
// answer at the end.
//
// The program runs confined, in the given environment, with its whole process
// group ended afterwards. Where it would need a key it gets a word that is good
// for nothing but a proxy on loopback, which puts the key in: what the agent runs
// cannot read it. What it says while it works is read as it comes, so that one
// that uses more than it may is ended in the middle.
//
// A conversation that goes on in the same process goes on in the program's own
// session; otherwise what was said is told again.
//
// It stands on floor 5 and imports runner, budget, sandbox and confine.
package agent
