package workspace

import (
	"fmt"
	"strings"
)

// Kind sorts what is wrong with the user's repository or request.
type Kind string

// The kinds of problem.
const (
	NotRepository Kind = "not_a_repository"
	Bare          Kind = "bare_repository"
	NoCommits     Kind = "no_commits"
	NoGit         Kind = "no_git"
	OldGit        Kind = "old_git"
	Ownership     Kind = "ownership"
	NoDirectory   Kind = "no_directory"
	UnknownCommit Kind = "unknown_commit"
	BranchExists  Kind = "branch_exists"
	BadBranch     Kind = "bad_branch"
	BranchInUse   Kind = "branch_in_use"
	PathTaken     Kind = "path_taken"
)

// Problem says that the user's repository or request does not fit; pawl itself
// and the machine are in order. Nothing was changed.
type Problem struct {
	Kind Kind
	Text string // what is wrong, with the path or name
	Hint string // what to do about it, or ""
	Err  error  // cause, may be nil
}

// Error implements error.
func (p *Problem) Error() string {
	if p.Hint == "" {
		return p.Text
	}
	return p.Text + "; " + p.Hint
}

// Unwrap implements errors.Unwrap.
func (p *Problem) Unwrap() error { return p.Err }

// MovedError says that a run's branch no longer ends where its record says, and
// holds commits that the run did not make.
type MovedError struct {
	Branch  string
	Want    string   // commit in the record
	Have    string   // commit the branch is at
	Foreign []string // commits of the branch that are not the run's own, newest first
}

// Error implements error.
func (m *MovedError) Error() string {
	return fmt.Sprintf("branch %s has moved since the run stopped: recorded at %s, now at %s with %d commits that the run did not make; "+
		"keep them under another name and put the branch back with `git branch -f %s %s`, or start a new run",
		m.Branch, short(m.Want), short(m.Have), len(m.Foreign), m.Branch, m.Want)
}

// GitError is a git command that did not do its work: a full disk, missing
// permission, a damaged repository.
type GitError struct {
	Op      string // the git command, e.g. "add"
	Dir     string // where it worked
	Message string // what git said, on one line
	Exit    int    // its exit status, -1 when it did not start or was killed
	Err     error
}

// Error implements error.
func (e *GitError) Error() string {
	msg := e.Message
	if msg == "" {
		msg = e.Err.Error()
	}
	return fmt.Sprintf("git %s in %s: %s", e.Op, e.Dir, msg)
}

// Unwrap implements errors.Unwrap.
func (e *GitError) Unwrap() error { return e.Err }

const maxMessage = 600 // bytes of git's words in an error

// oneMessage folds git's stderr into a line: hints and repeats are left out.
func oneMessage(stderr string) string {
	var parts []string
	seen := map[string]bool{}
	for _, line := range strings.Split(stderr, "\n") {
		line = strings.TrimSpace(line)
		for _, p := range []string{"fatal: ", "error: "} {
			line = strings.TrimPrefix(line, p)
		}
		if line == "" || strings.HasPrefix(line, "hint:") || seen[line] {
			continue
		}
		seen[line] = true
		parts = append(parts, line)
	}
	msg := strings.Join(parts, "; ")
	if len(msg) > maxMessage {
		msg = strings.ToValidUTF8(msg[:maxMessage], "") + "…"
	}
	return msg
}

func short(id string) string {
	if len(id) > 10 {
		return id[:10]
	}
	return id
}
