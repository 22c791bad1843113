package machine

import (
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
	latest    map[string]any           // newest output by node name
	artifacts map[string][]any         // every version by name, oldest first
	published map[string]any           // newest version by name
	spoken    map[string]*Conversation // by NODE#VISIT: what can be continued
	sessions  map[string]*Conversation // by session id: where it stands
	tokens    map[event.TokenID]*Token
	lastToken event.TokenID
	ready     []event.TokenID // sorted
	open      map[event.Key]*Token
	openKeys  []event.Key // of open, in order of start
	waiting   int         // tokens that wait for a person
	stale     bool        // something was written since Evidence
	changed   bool        // the branch has a commit of its own
	warned    map[string]bool
}

// nodeState is what later steps may ask about a node.
type nodeState struct {
	visits  int
	outputs []any // of every finished visit, oldest first
	meta    map[string]any
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

	last      *Conversation // of the last agent that the token passed
	side      *Side         // about the agent's question that is being answered
	sideTurns int           // answers to the agent's questions so far
	asked     int           // questions of the agent that were answered

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
}

// NewState returns the state before the first event.
func NewState(w *ir.Workflow) *State {
	return &State{
		Workflow: w, Status: New,
		nodes:     make([]nodeState, len(w.Nodes)),
		latest:    make(map[string]any),
		artifacts: make(map[string][]any),
		published: make(map[string]any),
		spoken:    make(map[string]*Conversation),
		sessions:  make(map[string]*Conversation),
		tokens:    make(map[event.TokenID]*Token),
		open:      make(map[event.Key]*Token),
		warned:    make(map[string]bool),
	}
}

// Token returns the token of that number, or nil.
func (s *State) Token(id event.TokenID) *Token { return s.tokens[id] }

// InDoubt lists the effects that were started and never finished, in the order
// they were started. After a crash each must be forfeited before work goes on.
func (s *State) InDoubt() []event.Key { return slices.Clone(s.openKeys) }

// Busy reports whether any effect is open.
func (s *State) Busy() bool { return len(s.openKeys) > 0 }

// Changed reports whether the branch holds a commit of this run.
func (s *State) Changed() bool { return s.changed }

func (s *State) wake(t *Token) {
	i, found := slices.BinarySearch(s.ready, t.ID)
	if !found {
		s.ready = slices.Insert(s.ready, i, t.ID)
	}
}

func (s *State) rest(t *Token) {
	if i, found := slices.BinarySearch(s.ready, t.ID); found {
		s.ready = slices.Delete(s.ready, i, i+1)
	}
}

// begin marks an effect of t as open; t rests until it ends.
func (s *State) begin(key event.Key, t *Token) {
	s.open[key] = t
	s.openKeys = append(s.openKeys, key)
	s.rest(t)
}

// end closes an effect and lets its token go on.
func (s *State) end(key event.Key) *Token {
	t := s.open[key]
	delete(s.open, key)
	s.openKeys = slices.DeleteFunc(s.openKeys, func(k event.Key) bool { return k == key })
	if t != nil {
		s.wake(t)
	}
	return t
}

func (s *State) node(n *ir.Node) *nodeState { return &s.nodes[n.Index] }

// OpenGates names the gates that wait for a person, in order of tokens.
func (s *State) OpenGates() []string {
	var names []string
	for id := event.TokenID(1); id <= s.lastToken; id++ {
		t := s.tokens[id]
		if t != nil && (t.Phase == Waiting || t.Phase == Asking) {
			names = append(names, t.Question.Gate)
		}
	}
	return names
}
