package machine

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// Status is where a run stands.
type Status string

// The statuses. Running covers a run whose process has died: only its lock tells.
const (
	New      Status = "new"
	Running  Status = "running"
	Parked   Status = "parked"
	Stopped  Status = "stopped"
	Finished Status = "finished"
)

// State is the fold of a run's events. It belongs to one goroutine; everything
// reachable from its exported fields is to be read, not changed.
type State struct {
	Workflow *ir.Workflow
	Run      event.RunID
	Status   Status
	Attempt  int // 1 for the first process that worked on the run
	Vars     map[string]any
	Trigger  any // the event that started the run, decoded
	Base     string
	Branch   string
	Model    string // replaces the model of every node, or ""
	Purse    budget.Purse
	Head     string // last recorded commit of the branch
	Snapshot string // worktree after the last writing tool; "" when it is Head
	Evidence *event.Evidence
	Outcome  *event.RunFinished
	Stop     *event.RunStopped
	Seq      event.Seq
	Time     time.Time // of the last event

	nodes     []nodeState
	artifacts map[string][]any         // every version by name, oldest first
	published map[string]any           // newest version by name
	spoken    map[string]*Conversation // by NODE#VISIT: what can be continued
	sessions  map[string]*Conversation // by session id: where it stands
	continues bool                     // some node goes on with a conversation
	tokens    map[event.TokenID]*Token
	lastToken event.TokenID
	ready     map[event.TokenID]struct{} // tokens that can go on
	queue     tokens                     // branches that wait for a slot
	working   int                        // branches that have one
	open      map[event.Key]opened
	waiting   int  // tokens that wait for a person
	stale     bool // something was written since Evidence
	changed   bool // the branch has a commit of its own
	root      *Tree
	dropped   []string
	warned    map[string]bool
}

// nodeState is what later steps may ask about a node.
type nodeState struct {
	visits  int
	outputs []any // of every finished visit, oldest first
}

// opened is an effect that was started and has not ended.
type opened struct {
	token *Token
	seq   event.Seq // of its start
}

// Phase is what a token does at its node.
type Phase int

// The phases of a token.
const (
	Arrived   Phase = iota // at the node, not begun
	Working                // begun; what is next depends on the op
	Completed              // output known, not yet committed
	Leaving                // node finished, edge not chosen
	Broken                 // node failed
	Asking                 // a person must be asked, now or again after a resume
	Waiting                // a person was asked
	Forked                 // its branches are under way
)

// Token is one walker.
type Token struct {
	ID    event.TokenID
	At    *ir.Node
	Phase Phase
	Input map[string]any
	Visit int
	Loops map[string]int // by loop name

	Conversation *Conversation  // of a node that asks a model; nil before its visit
	Output       *event.Payload // once Completed
	Wrote        bool           // a writing tool ran in this visit
	Failure      *event.NodeFailed
	Question     *event.GateOpened

	side      *Side // about the agent's question that is being answered
	sideTurns int   // answers to the agent's questions so far
	asked     int   // questions of the agent that were answered

	needsPerson bool     // the model leaves what is open to a person
	questions   []string // that it has for the person
	route       []int    // edges that the model chose
	reason      string   // why
	by          string   // the model that answered in a person's place

	try    int           // how often the visit has begun again
	began  time.Duration // of the run's running time, when the visit began; waiting is added
	paused time.Duration // running time when a person was asked

	attempts int // of the effect that is next, over the whole run
	failures int // of it, since the run was last resumed
	lastFail *event.ModelCallFailed
	usage    budget.Usage // of this visit
	model    string       // as last reported in this visit
	verified bool         // at done: the evidence is fresh

	walker
}

// NewState returns the state before the first event.
func NewState(w *ir.Workflow) *State {
	return &State{
		Workflow: w, Status: New,
		nodes:     make([]nodeState, len(w.Nodes)),
		artifacts: make(map[string][]any),
		published: make(map[string]any),
		spoken:    make(map[string]*Conversation),
		sessions:  make(map[string]*Conversation),
		continues: continues(w),
		tokens:    make(map[event.TokenID]*Token),
		ready:     make(map[event.TokenID]struct{}),
		open:      make(map[event.Key]opened),
		warned:    make(map[string]bool),
	}
}

// Token returns the token of that number, or nil.
func (s *State) Token(id event.TokenID) *Token { return s.tokens[id] }

// InDoubt lists the effects that were started and never finished, in the order
// they were started. After a crash each must be forfeited before work goes on.
func (s *State) InDoubt() []event.Key {
	keys := slices.Collect(maps.Keys(s.open))
	slices.SortFunc(keys, func(a, b event.Key) int { return cmp.Compare(s.open[a].seq, s.open[b].seq) })
	return keys
}

// Busy reports whether any effect is open.
func (s *State) Busy() bool { return len(s.open) > 0 }

// Changed reports whether the branch holds a commit of this run.
func (s *State) Changed() bool { return s.changed }

// begin marks an effect of t as open; t rests until it ends.
func (s *State) begin(key event.Key, t *Token) {
	s.open[key] = opened{t, s.Seq}
	s.rest(t)
}

// end closes an effect and lets its token go on.
func (s *State) end(key event.Key) *Token {
	t := s.open[key].token
	delete(s.open, key)
	if t != nil {
		s.wake(t)
	}
	return t
}

func (s *State) node(n *ir.Node) *nodeState { return &s.nodes[n.Index] }

// OpenGates names the gates that wait for a person, in order of tokens.
func (s *State) OpenGates() []string {
	var names []string
	for _, id := range inOrder(s.tokens) {
		if t := s.tokens[id]; t.Phase == Waiting || t.Phase == Asking {
			names = append(names, t.Question.Gate)
		}
	}
	return names
}
