package event

// FailureClass says what kind of thing went wrong in a node or a run.
type FailureClass string

// The classes of failure.
const (
	FailNode          FailureClass = "fail_node"      // the path reached `fail`
	FailLoopExhausted FailureClass = "loop_exhausted" // no edge left: a loop's bound is used up
	FailNoEdge        FailureClass = "no_edge"        // no edge's condition held
	FailVerify        FailureClass = "verify_failed"  // the repository's tests did not pass
	FailOutput        FailureClass = "bad_output"     // output did not fit its schema
	FailInput         FailureClass = "bad_input"      // a value was missing or of the wrong type
	FailCommand       FailureClass = "command_failed" // a tool node's command failed
	FailModel         FailureClass = "model_failed"   // the provider refused or kept failing
	FailSteps         FailureClass = "too_many_steps" // tool_max_steps is used up
	FailTimeout       FailureClass = "timeout"
	FailBranch        FailureClass = "branch_failed"  // a branch that its join needs did not arrive
	FailConflict      FailureClass = "merge_conflict" // branches changed the same lines
)

// NodeStarted says that a token began an execution of a node.
type NodeStarted struct {
	Visit  int      `json:"visit"`            // 1 for the first execution of this node
	Prompt *Payload `json:"prompt,omitempty"` // rendered {system, user, frame}; a call's first messages

	Session   string `json:"session,omitempty"`   // id of the conversation that the visit belongs to
	Continues string `json:"continues,omitempty"` // the visit, as NODE#VISIT, whose conversation goes on in this one
}

// NodeRetried says that an execution of an agent failed and begins again, with
// its first messages.
type NodeRetried struct {
	Visit  int          `json:"visit"`
	Try    int          `json:"try"` // 1 for the first time the visit begins again
	Class  FailureClass `json:"class"`
	Detail string       `json:"detail"`
}

// NodeFinished says that the node's output is final.
type NodeFinished struct {
	Visit   int     `json:"visit"`
	Output  Payload `json:"output"`
	Commit  string  `json:"commit,omitempty"`  // head of the branch afterwards
	Changed bool    `json:"changed,omitempty"` // the commit is new

	Route  []int  `json:"route,omitempty"`  // edges that a model chose for a router, as indexes in file order, ascending
	Reason string `json:"reason,omitempty"` // why the model chose them
	By     string `json:"by,omitempty"`     // the model that answered a human gate in a person's place
}

// NodeFailed says that the execution ended without an output.
type NodeFailed struct {
	Visit  int          `json:"visit"`
	Class  FailureClass `json:"class"`
	Detail string       `json:"detail"`
	Hint   string       `json:"hint,omitempty"`
}

// EdgeTaken moves a token.
type EdgeTaken struct {
	To    string   `json:"to"`
	Edge  int      `json:"edge"` // index in file order among the source's edges
	Loop  string   `json:"loop,omitempty"`
	Count int      `json:"count,omitempty"` // how often the loop has been taken, this time included
	Input *Payload `json:"input,omitempty"` // absent when the source's output passes through whole
	Joins bool     `json:"joins,omitempty"` // the token ends here: it has arrived at the join of its branch
}

// EventType implements Body.
func (*NodeStarted) EventType() Type { return "NodeStarted" }

// EventType implements Body.
func (*NodeFinished) EventType() Type { return "NodeFinished" }

// EventType implements Body.
func (*NodeFailed) EventType() Type { return "NodeFailed" }

// EventType implements Body.
func (*NodeRetried) EventType() Type { return "NodeRetried" }

// EventType implements Body.
func (*EdgeTaken) EventType() Type { return "EdgeTaken" }

func (b *NodeStarted) payloads() (needed, other []*Payload)  { return nil, []*Payload{b.Prompt} }
func (b *NodeFinished) payloads() (needed, other []*Payload) { return []*Payload{&b.Output}, nil }
func (*NodeFailed) payloads() (needed, other []*Payload)     { return nil, nil }
func (*NodeRetried) payloads() (needed, other []*Payload)    { return nil, nil }
func (b *EdgeTaken) payloads() (needed, other []*Payload)    { return []*Payload{b.Input}, nil }
