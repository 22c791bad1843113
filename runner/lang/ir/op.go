package ir

import (
	"github.com/pawl-ci/pawl/runner/lang/diag"
)

// Op is what a node does. The set is closed: Call, Route, Ask, Exec, Compute,
// Join and End, used as pointers.
type Op interface {
	// Word is the op's name in reports: "agent", "judge", "router", …
	Word() string
}

// CallRole tells an agent from a judge.
type CallRole int

// The roles of a call.
const (
	Agent CallRole = iota // does work, may use tools
	Judge                 // evaluates
)

// Session says which conversation a call continues.
type Session string

// The sessions.
const (
	Fresh         Session = "fresh"
	Inherit       Session = "inherit"
	Fork          Session = "fork"
	ArtifactsOnly Session = "artifacts_only"
)

// Call asks a model.
type Call struct {
	Role        CallRole
	Model       *Template // nil: the run's default model
	Backend     string    // "" is pawl's own client
	System      *Template // nil: none
	User        *Template // nil: the input as JSON
	Session     Session
	Tools       []ToolRef
	Policy      *ToolPolicy // narrows Tools; nil permits them all
	MaxSteps    int         // turns with tool calls; 0 is unlimited
	Effort      string
	Readonly    bool
	MaxTokens   int64 // answer tokens of one turn; 0 is the default
	Temperature *float64

	Interaction       Interaction // who answers the agent's own questions
	InteractionPrompt *Template   // for the model that answers; nil: none
	InteractionModel  *Template   // the model that answers; nil: the call's own
}

// Interaction says who answers the questions that an agent has while it works.
type Interaction string

// The ways of answering an agent.
const (
	NoInteraction Interaction = ""
	HumanAnswers  Interaction = "human"
	ModelAnswers  Interaction = "llm"
	ModelOrHuman  Interaction = "llm_or_human" // the model decides whether a person is needed
)

// CallOf is how op asks a model, or nil when it never does.
func CallOf(op Op) *Call {
	switch op := op.(type) {
	case *Call:
		return op
	case *Route:
		if op.Mode == LLM {
			return op.Call
		}
	case *Ask:
		if op.Mode != Pause {
			return op.Call
		}
	}
	return nil
}

// CodexPrice is the model at whose price the tokens of the backend codex count
// when the node names none: the program does not say what it costs.
const CodexPrice = "gpt-5-codex"

// ToolRef names a tool.
type ToolRef struct {
	Name string
	Span diag.Span
}

// RouteMode is how a router chooses.
type RouteMode string

// The ways of routing.
const (
	FanOutAll  RouteMode = "fan_out_all"
	Condition  RouteMode = "condition"
	RoundRobin RouteMode = "round_robin"
	LLM        RouteMode = "llm"
)

// Route passes its input on along one or several edges.
type Route struct {
	Mode  RouteMode
	Multi bool
	Call  *Call // for LLM: how the model is asked
}

// AskMode is who answers a human gate.
type AskMode string

// The ways of answering.
const (
	Pause       AskMode = "pause_until_answers"
	AutoAnswer  AskMode = "auto_answer"
	AutoOrPause AskMode = "auto_or_pause"
)

// Ask is a human gate.
type Ask struct {
	Mode         AskMode
	Instructions *Template // nil: none
	MinAnswers   int
	Call         *Call // for the auto modes
}

// Exec is a tool node: a shell command or a built-in.
type Exec struct {
	Command  *Template // nil when Uses is set
	Uses     string    // "builtin.verify", …
	With     []Binding
	Readonly bool
	Network  bool
}

// Compute derives its output from expressions.
type Compute struct {
	Fields []ComputeField
}

// ComputeField is one output field of a Compute.
type ComputeField struct {
	Name string
	Expr *Expr
	Span diag.Span
}

// Join waits for branches.
type Join struct {
	BestEffort bool
	Require    []string // nodes that a branch must have finished, whatever else failed
	Conflict   string   // what happens when branches changed the same lines: a policy, or an agent's name
}

// The policies for conflicts beside an agent that resolves them.
const (
	ConflictFails = "" // the join fails
	ConflictAsks  = "ask"
)

// End ends the run.
type End struct {
	Fail bool
}

// Word implements Op.
func (c *Call) Word() string {
	if c.Role == Judge {
		return "judge"
	}
	return "agent"
}

// Word implements Op.
func (*Route) Word() string { return "router" }

// Word implements Op.
func (*Ask) Word() string { return "human" }

// Word implements Op.
func (*Exec) Word() string { return "tool" }

// Word implements Op.
func (*Compute) Word() string { return "compute" }

// Word implements Op.
func (*Join) Word() string { return "join" }

// Word implements Op.
func (*End) Word() string { return "end" }

// VerifyTool is the built-in tool that runs the repository's own tests.
const VerifyTool = "builtin.verify"

// Writes reports whether the command may change the worktree for good.
func (e *Exec) Writes() bool { return !e.Readonly && e.Uses != VerifyTool }
