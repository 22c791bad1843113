package ir

import (
	"time"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/runner/lang/diag"
)

// The two nodes that every workflow has without declaring them.
const (
	DoneID = "done"
	FailID = "fail"
)

// Workflow is what should run. It is built by a front end, sealed once, and
// never changed afterwards.
type Workflow struct {
	Name    string
	Span    diag.Span
	Entry   *Node
	Nodes   []*Node // file order, then done and fail
	Vars    []*Var
	Prompts []*Prompt // file order
	Loops   []*Loop
	Servers []*Server // MCP servers, in file order
	// ProjectServers adds the servers that the repository's .mcp.json declares.
	ProjectServers bool
	Limits         budget.Limits
	Verify         Verify
	Worktree       bool              // false: `worktree: none`, nothing is committed
	Env            map[string]string // values of ${NAME} that were put in at compile time

	byID map[string]*Node
	vars map[string]*Var
}

// Verify says how the repository's own tests are run before `done` counts.
type Verify struct {
	Mode     VerifyMode
	Commands []string // for VerifyCommands
	Explicit bool     // the file says so; otherwise it is the default
}

// VerifyMode is the way of verifying.
type VerifyMode int

// The ways of verifying.
const (
	VerifyAuto     VerifyMode = iota // find the tests
	VerifyCommands                   // run the listed commands
	VerifyNone
)

// Node is one step. Fields that only some steps have live in Op.
type Node struct {
	ID      string
	Span    diag.Span
	In      *Schema // nil: anything
	Out     *Schema // nil: anything
	Publish string  // artifact name, or ""
	Op      Op
	Edges   []*Edge // outgoing, in file order
	Timeout time.Duration
	Retries int // further attempts after a failed one; -1 leaves it to the op's default

	Index int // position in Workflow.Nodes; set by Seal

	meets    *Node
	required bool
	place    int  // in the order of regions; -1 when the entry does not lead to it
	looped   bool // a loop bounds some cycle through it
}

// Edge leads from one node to another.
type Edge struct {
	Span  diag.Span
	From  *Node
	To    *Node
	Cond  *Cond // nil: unconditional
	With  []Binding
	Loop  *Loop // nil: none
	Index int   // position in From.Edges; set by Seal

	enters []*Loop
}

// Binding is one `with` entry.
type Binding struct {
	Key   string
	Value *Template
	Span  diag.Span
}

// Loop bounds how often its edges may be taken per entry.
type Loop struct {
	Name string
	Max  int
	Span diag.Span

	body []span // of places, sorted: nodes whose cycle this loop bounds
}

// Prompt is a declared prompt. Every node that uses it holds this very template.
type Prompt struct {
	Name string
	Text *Template // nil: no node uses it
	Span diag.Span
}

// Var is a workflow variable.
type Var struct {
	Name    string
	Type    Field // its kind; the name is the same
	Default any   // decoded; nil without one
	HasDef  bool
	Span    diag.Span
}

// Node returns the node of that name, or nil.
func (w *Workflow) Node(id string) *Node { return w.byID[id] }

// Var returns the variable of that name, or nil.
func (w *Workflow) Var(name string) *Var { return w.vars[name] }

// Seal adds done and fail where they are missing, numbers nodes and edges, and
// computes what the machine looks up: names, loop bodies, and where branches
// meet. It may be called again after a change.
func (w *Workflow) Seal() {
	w.addEnds()
	w.byID = make(map[string]*Node, len(w.Nodes))
	for i, n := range w.Nodes {
		n.Index = i
		if _, dup := w.byID[n.ID]; !dup {
			w.byID[n.ID] = n
		}
		for j, e := range n.Edges {
			e.Index = j
		}
	}
	w.vars = make(map[string]*Var, len(w.Vars))
	for _, v := range w.Vars {
		w.vars[v.Name] = v
	}
	w.findLoopBodies()
	w.findMeetings()
}

func (w *Workflow) addEnds() {
	have := make(map[string]bool, 2)
	for _, n := range w.Nodes {
		have[n.ID] = true
	}
	if !have[DoneID] {
		w.Nodes = append(w.Nodes, &Node{ID: DoneID, Op: &End{}, Retries: -1})
	}
	if !have[FailID] {
		w.Nodes = append(w.Nodes, &Node{ID: FailID, Op: &End{Fail: true}, Retries: -1})
	}
}
