package workspace

import "fmt"

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

// Error implements error; the hint is not part of it.
func (p *Problem) Error() string { return p.Text }

// Unwrap implements errors.Unwrap.
func (p *Problem) Unwrap() error { return p.Err }

// MovedError says that a run's branch no longer ends where its record says, and
// holds commits that the run did not make. They can be kept under another name
// and the branch put back at Want; else only a new run helps.
type MovedError struct {
	Branch  string
	Want    string   // commit in the record
	Have    string   // commit the branch is at
	Foreign []string // commits of the branch that are not the run's own, newest first
}

// Error implements error.
func (m *MovedError) Error() string {
	return fmt.Sprintf("branch %s has moved since the run stopped: recorded at %s, now at %s with %d commits that the run did not make",
		m.Branch, short(m.Want), short(m.Have), len(m.Foreign))
}

func short(id string) string {
	if len(id) > 10 {
		return id[:10]
	}
	return id
}
