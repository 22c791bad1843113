package machine

import (
	"container/heap"
	"slices"

	"github.com/pawl-ci/pawl/runner/event"
)

// max_parallel_branches bounds how many branches work at the same time. A branch
// takes a slot when it begins and gives it back when it arrives, fails, forks or
// waits for a person; those without one wait in order of their numbers. The
// token of the run itself needs none, so it never waits for its own branches.

// tokens is a queue in order of numbers.
type tokens []event.TokenID

// Len implements heap.Interface.
func (q tokens) Len() int { return len(q) }

// Less implements heap.Interface.
func (q tokens) Less(i, j int) bool { return q[i] < q[j] }

// Swap implements heap.Interface.
func (q tokens) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push implements heap.Interface.
func (q *tokens) Push(id any) { *q = append(*q, id.(event.TokenID)) }

// Pop implements heap.Interface.
func (q *tokens) Pop() any {
	last := len(*q) - 1
	id := (*q)[last]
	*q = (*q)[:last]
	return id
}

// wake lets t go on: now, or when it has a slot. Asking again for an answer takes
// none.
func (s *State) wake(t *Token) {
	if t.fork == nil || t.slot || t.Phase == Asking {
		s.ready[t.ID] = struct{}{}
		return
	}
	heap.Push(&s.queue, t.ID)
	s.admitNext()
}

func (s *State) rest(t *Token) { delete(s.ready, t.ID) }

// release gives t's slot to the branch that has waited longest.
func (s *State) release(t *Token) {
	if t.slot {
		t.slot = false
		s.working--
		s.admitNext()
	}
}

func (s *State) admitNext() {
	most := s.Purse.Limits.MaxParallelBranches
	for len(s.queue) > 0 && (most <= 0 || int64(s.working) < most) {
		t := s.tokens[heap.Pop(&s.queue).(event.TokenID)]
		t.slot = true
		s.working++
		s.ready[t.ID] = struct{}{}
	}
}

// inOrder lists the numbers of a set of tokens, ascending.
func inOrder[V any](set map[event.TokenID]V) []event.TokenID {
	ids := make([]event.TokenID, 0, len(set))
	for id := range set {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}
