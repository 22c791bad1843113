package report

import (
	"strings"

	"github.com/pawl-ci/pawl/runner/event"
)

// branches is what the fold knows of parallel work.
type branches struct {
	paths    map[event.TokenID]string // the branch that each token walks, by its first nodes: "a/b"
	brought  map[string][]Via         // edges by which branches came to a join that has not begun, by its node
	commits  map[string][]Commit      // made in a branch and not merged yet
	merging  map[event.Key][]string   // the branches of an open merge
	referred map[event.TokenID]*Step  // the join that a token goes back to from an agent
	disputed map[event.TokenID]string // the branch whose conflict it resolves
}

func newBranches() branches {
	return branches{
		paths: make(map[event.TokenID]string), brought: make(map[string][]Via), commits: make(map[string][]Commit),
		merging: make(map[event.Key][]string), referred: make(map[event.TokenID]*Step), disputed: make(map[event.TokenID]string),
	}
}

// ConflictEdge stands in a [Via] for the way from a join to the agent that resolves
// its conflict, which is no edge of the workflow.
const ConflictEdge = -1

func (f *fold) applyBranch(e *event.Event) {
	switch b := e.Body.(type) {
	case *event.Forked:
		f.forked(e, b)
	case *event.BranchFailed:
		st := f.step(e)
		f.clocks[st].stop(f.running)
		if st.State != StepFailed {
			st.State, st.Failure = StepFailed, &Outcome{Class: string(b.Class), Node: e.Node, Detail: b.Detail}
		}
	case *event.MergeStarted:
		f.begin(e, b.Key, &effect{})
		f.stale = f.stale || f.paths[e.Token] == ""
		for _, m := range b.Branches {
			f.merging[b.Key] = append(f.merging[b.Key], m.Branch)
		}
	case *event.MergeFinished:
		f.mergeFinished(e, b)
	case *event.ConflictReferred:
		f.referred[e.Token] = f.step(e)
		f.arrive(e, b.To, &Via{From: e.Node, Edge: ConflictEdge})
	default:
		f.applyEffect(e)
	}
}

func (f *fold) forked(e *event.Event, b *event.Forked) {
	for _, branch := range b.Branches {
		path := branch.To
		if outer := f.paths[e.Token]; outer != "" {
			path = outer + "/" + path
		}
		f.paths[branch.Token] = path
		via := f.via(e.Node, branch.Edge, branch.Loop, branch.Count)
		if branch.Joins {
			f.brought[branch.To] = append(f.brought[branch.To], *via)
			continue
		}
		arrived := *e
		arrived.Token = branch.Token
		f.arrive(&arrived, branch.To, via)
	}
}

// committed keeps a commit of a branch until the branch is merged.
func (f *fold) committed(e *event.Event, c Commit) {
	if path := f.paths[e.Token]; path != "" {
		c.Branch = path
		f.commits[path] = append(f.commits[path], c)
		return
	}
	f.s.Commits = append(f.s.Commits, c)
}

// mergeFinished puts the commits of the branches that are in where the token is.
func (f *fold) mergeFinished(e *event.Event, b *event.MergeFinished) {
	f.end(b.Key)
	into := f.paths[e.Token]
	names := f.merging[b.Key]
	delete(f.merging, b.Key)
	for _, name := range names[:min(b.Merged, len(names))] {
		f.bring(name, into)
	}
	if b.Merged < len(names) {
		f.disputed[e.Token] = names[b.Merged]
	}
	if into == "" {
		f.s.Head = b.Head
	}
	st := f.step(e)
	st.Merged += b.Merged
	for _, c := range b.Conflicts {
		st.Conflicts = append(st.Conflicts, c.Path)
	}
}

// bring moves the commits of a branch, and of those around it that it came out of,
// to the branch that it was merged into.
func (f *fold) bring(name, into string) {
	at := len(into)
	for at < len(name) {
		next := strings.IndexByte(name[min(at+1, len(name)):], '/')
		at = min(at+1, len(name)) + next
		if next < 0 {
			at = len(name)
		}
		list := f.commits[name[:at]]
		delete(f.commits, name[:at])
		if into == "" {
			f.s.Commits = append(f.s.Commits, list...)
			continue
		}
		f.commits[into] = append(f.commits[into], list...)
	}
}

// back lets a token that resolved a conflict stand at its join again.
func (f *fold) back(e *event.Event) {
	if join := f.referred[e.Token]; join != nil && join.Node != e.Node {
		delete(f.referred, e.Token)
		f.at[e.Token] = join
		f.resolved(join, e)
	}
}

// resolved: the agent's commit has merged the branch that was in conflict.
func (f *fold) resolved(join *Step, e *event.Event) {
	join.Merged++
	f.bring(f.disputed[e.Token], f.paths[e.Token])
	delete(f.disputed, e.Token)
}
