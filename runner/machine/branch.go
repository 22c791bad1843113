package machine

import (
	"fmt"
	"slices"

	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// A fan-out makes one token for each branch and rests; where its branches meet
// it goes on, with what they brought. What a branch sees depends on nothing that
// happens in another one, so the outcome does not depend on which is faster.
// A fan-out inside a branch that meets at the same join adds its branches to
// those that are under way.

// walker is the part of a token that outlives a visit.
type walker struct {
	fork   *fork    // the fan-out that made the token; nil for the run's own
	branch string   // the branch's first node, below those of the branches around it: "a/b"
	order  []int    // place among the branches of its fork
	seen   *view    // what it sees of other nodes' outputs
	did    []string // nodes it has finished that some join requires
	met    *meeting // at a join: what the branches brought
	tree   *Tree
	own    bool          // tree belongs to this token alone, so it may write there
	back   *Token        // the join to go back to, while the token resolves a conflict
	slot   bool          // it counts among the branches at work
	last   *Conversation // of the last agent that the token passed
}

// fork is one fan-out whose branches are under way.
type fork struct {
	parent *Token
	join   *ir.Node
	live   int // branches that have neither arrived nor failed
	ends   []ending
	trees  []string // that its branches were given
}

// ending is what has become of a branch.
type ending struct {
	walker
	input   map[string]any      // what it brought; unused when it failed
	failure *event.BranchFailed // nil when it arrived
	at      string              // the node where it failed
}

// meeting is what the token that forked finds at the join.
type meeting struct {
	ends []ending // in order of branches
	merge
	trees []string // that nobody needs once the join has finished
}

// Branch is the path of the branch that t walks: the first nodes of the branches
// around it and its own, with slashes; "" outside of any.
func (t *Token) Branch() string { return t.branch }

// forked puts tokens on the edges that the fan-out chose.
func (s *State) forked(t *Token, b *event.Forked) error {
	if t.Phase != Leaving || t.At.Meets() == nil || len(b.Branches) == 0 {
		return fmt.Errorf("%s cannot fork here", t.At.ID)
	}
	f := t.fork
	if f != nil && f.join == t.At.Meets() {
		f.live--
		delete(s.tokens, t.ID)
	} else {
		f = &fork{parent: t, join: t.At.Meets()}
		t.Phase = Forked
	}
	s.rest(t)
	s.release(t)
	for i := range b.Branches {
		if err := s.branch(t, f, i, &b.Branches[i]); err != nil {
			return err
		}
	}
	s.meet(f)
	return nil
}

// branch makes one token of a fan-out.
func (s *State) branch(t *Token, f *fork, index int, b *event.Branch) error {
	edge, err := edgeOf(t.At, b.Edge, b.To)
	if err != nil {
		return err
	}
	if b.Token != s.lastToken+1 {
		return fmt.Errorf("branch to %s is token %d, %d was expected", b.To, b.Token, s.lastToken+1)
	}
	input, err := s.arriving(t, b.Input, b.To)
	if err != nil {
		return err
	}
	s.lastToken = b.Token
	f.live++
	n := &Token{ID: b.Token, At: edge.To, Input: admit(edge.To, input), Loops: countLoops(t.Loops, edge)}
	n.walker = walker{fork: f, branch: b.To, order: []int{index}, seen: &view{up: t.seen}, last: t.last, tree: t.tree}
	if t.branch != "" {
		n.branch = t.branch + "/" + b.To
	}
	if f.parent != t { // a branch of t's own fork goes on as several
		n.order, n.did = append(slices.Clone(t.order), index), slices.Clone(t.did)
	}
	s.tokens[n.ID] = n
	if b.Joins != (edge.To == f.join) {
		return fmt.Errorf("branch to %s: the join is %s", b.To, f.join.ID)
	}
	if b.Joins {
		s.ended(n, ending{walker: n.walker, input: input})
		return nil
	}
	s.wake(n)
	return nil
}

// ended takes a token that has arrived or failed out of the walk.
func (s *State) ended(t *Token, e ending) {
	s.rest(t)
	s.release(t)
	delete(s.tokens, t.ID)
	t.fork.live--
	t.fork.ends = append(t.fork.ends, e)
}

func (s *State) branchFailed(t *Token, b *event.BranchFailed) error {
	if t.fork == nil {
		return fmt.Errorf("token %d is no branch", t.ID)
	}
	if t.met != nil { // it failed at the join of its own branches
		t.fork.trees = append(t.fork.trees, t.met.trees...)
	}
	s.ended(t, ending{walker: t.walker, failure: b, at: t.At.ID})
	s.meet(t.fork)
	return nil
}

// meet lets the token that forked go on at the join, once no branch is under way.
func (s *State) meet(f *fork) {
	if f.live > 0 {
		return
	}
	slices.SortFunc(f.ends, func(a, b ending) int { return slices.Compare(a.order, b.order) })
	p := f.parent
	p.did = append(slices.Clone(p.did), f.did()...)
	absorbed := map[*view]bool{p.seen: true}
	for _, e := range f.ends {
		p.seen.absorb(e.seen, absorbed)
	}
	p.met = &meeting{ends: f.ends, merge: mergeOf(p, f), trees: f.trees}
	*p = Token{ID: p.ID, At: f.join, Phase: Arrived, Input: f.union(), Loops: p.Loops, walker: p.walker}
	s.wake(p)
}

// did lists what the branches that arrived have finished.
func (f *fork) did() []string {
	var all []string
	for _, e := range f.ends {
		if e.failure == nil {
			all = append(all, e.did...)
		}
	}
	return all
}

// Metadata of a join's input and output.
const (
	failedKey = "_failed_branches"
	sharedKey = "_conflicting_keys"
)

// union is the input of the join: what the branches brought, in order of
// branches. Of a key that several brought with different values the last one
// counts, and the key is listed in "_conflicting_keys".
func (f *fork) union() map[string]any {
	in := make(map[string]any)
	shared, failed := []any{}, []any{}
	for _, e := range f.ends {
		if e.failure != nil {
			failed = append(failed, map[string]any{
				"branch": e.branch, "node": e.at, "class": string(e.failure.Class), "reason": e.failure.Detail,
			})
			continue
		}
		for _, key := range sortedKeys(e.input) {
			if key == failedKey || key == sharedKey {
				continue
			}
			if old, given := in[key]; given && !same(old, e.input[key]) && !slices.Contains(shared, any(key)) {
				shared = append(shared, key)
			}
			in[key] = e.input[key]
		}
	}
	slices.SortFunc(shared, func(a, b any) int { return compareText(a, b) })
	in[failedKey], in[sharedKey] = failed, shared
	return in
}
