package machine

import (
	"fmt"

	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// Branches share the tree that they were forked from, which nobody writes while
// they are under way. One that may write gets a tree of its own just before it
// does, so that reading branches cost nothing.

// Tree says where the files are that a token works on.
type Tree struct {
	Name     string // "" is the run's own worktree
	Head     string // commit
	Snapshot string // the files after the last writing tool; "" when they are Head's
}

// Private reports whether a tool node needs a tree that nobody else reads: it
// writes, or tests what drops files on the way.
func Private(x *ir.Exec) bool { return x.Writes() || x.Uses == ir.VerifyTool }

// Tree is where the next effect of t works; private when it must not be seen by
// other branches.
func (s *State) Tree(t *Token, private bool) Tree {
	if private && !t.own && s.Workflow.Worktree {
		return Tree{Name: treeName(t), Head: t.tree.Head}
	}
	return *t.tree
}

func treeName(t *Token) string { return fmt.Sprintf("b%d", t.ID) }

// seclude gives t a tree of its own.
func (s *State) seclude(t *Token) {
	if t.own || !s.Workflow.Worktree {
		return
	}
	tree := s.Tree(t, true)
	t.tree, t.own = &tree, true
	t.fork.trees = append(t.fork.trees, tree.Name)
}

// writes notes that an effect of t may write.
func (s *State) writes(t *Token) {
	s.seclude(t)
	s.stale = s.stale || t.tree == s.root
}

// moved puts t's tree at a commit, and its files at a snapshot.
func (s *State) moved(t *Token, head, snapshot string) {
	t.tree.Head, t.tree.Snapshot = head, snapshot
	if t.tree == s.root {
		s.Head, s.Snapshot = head, snapshot
	}
}

// Dropped lists the trees that are needed no more, in the order in which that
// became true. The list only grows.
func (s *State) Dropped() []string { return s.dropped }

// proved keeps evidence, which counts only for the tree that done is about.
func (s *State) proved(t *Token, e *event.Evidence) {
	if t.tree == s.root {
		s.Evidence, s.stale = e, false
	}
}
