package report

import (
	"encoding/json"
	"time"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/report/score"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// Status is where a run stands, in one word.
type Status string

// The statuses. Running covers a run whose process has died: Summary.Process
// tells, when the caller knew.
const (
	Running Status = "running"
	Parked  Status = "parked"
	Stopped Status = "stopped"
	Done    Status = "done"
	Failed  Status = "failed"
)

// Process says whether a program works on the run right now.
type Process string

// What may be known about the process.
const (
	ProcessUnknown Process = ""
	ProcessAlive   Process = "alive"
	ProcessGone    Process = "gone"
)

// Extra is what a record cannot tell: git, the disk, the process.
type Extra struct {
	Diff    *Diff   // base to head; nil when it is not known
	Paths   Paths   // where everything lies
	Process Process // matters for a run that is neither parked nor at an end
	Command string  // how pawl is called in lines to paste; "" is "pawl"
}

// Paths says where a run's things lie on this machine; "" is unknown.
type Paths struct {
	Record   string `json:"record,omitempty"`
	Worktree string `json:"worktree,omitempty"`
	Report   string `json:"report,omitempty"`
}

// Diff is what a run changed, from its base to its head.
type Diff struct {
	Files   []FileChange `json:"files"`
	Added   int          `json:"added"`   // lines
	Removed int          `json:"removed"` // lines
}

// FileChange is one changed file.
type FileChange struct {
	Path    string `json:"path"`
	From    string `json:"from,omitempty"` // former path of a renamed or copied file
	Status  string `json:"status"`         // added, deleted, modified, renamed, copied, type_changed
	Added   int    `json:"added"`          // lines; 0 when Binary
	Removed int    `json:"removed"`        // lines; 0 when Binary
	Binary  bool   `json:"binary,omitempty"`
}

// Summary is everything a report says about a run. Times are UTC, durations are
// milliseconds, money is micro-dollars.
type Summary struct {
	RunID     event.RunID `json:"run_id"`
	Workflow  string      `json:"workflow"`
	Source    string      `json:"source,omitempty"` // file of the workflow, as the user wrote it
	Recipe    *Recipe     `json:"recipe,omitempty"`
	Status    Status      `json:"status"`
	Process   Process     `json:"process,omitempty"`
	Outcome   Outcome     `json:"outcome"`
	Branch    string      `json:"branch,omitempty"`
	Base      string      `json:"base,omitempty"` // commit
	BaseRef   string      `json:"base_ref,omitempty"`
	Head      string      `json:"head,omitempty"` // last recorded commit of the branch
	StartedAt time.Time   `json:"started_at"`
	UpdatedAt time.Time   `json:"updated_at"` // of the last event
	RunningMS int64       `json:"running_ms"` // over all attempts
	ParkedMS  int64       `json:"parked_ms"`  // waiting for a person, with no process
	DownMS    int64       `json:"down_ms"`    // stopped or crashed, until the next attempt

	// Evaluation is what the recipe's policy says; absent without one.
	Evaluation *score.Verdict    `json:"evaluation,omitempty"`
	Comparison *event.Comparison `json:"comparison,omitempty"` // that the run is a part of

	Attempts     []Attempt    `json:"attempts"`
	Models       []ModelUse   `json:"models"`
	Path         []Step       `json:"path"` // the way taken, which is also the timeline
	Gates        []Gate       `json:"gates"`
	Verification Verification `json:"verification"`
	Budget       Budget       `json:"budget"`
	Repeats      Repeats      `json:"repeats"`
	Commits      []Commit     `json:"commits"`
	Tools        ToolActivity `json:"tools"`
	Warnings     []string     `json:"warnings"`
	Diff         *Diff        `json:"diff,omitempty"`
	Paths        Paths        `json:"paths"`
	Next         []Action     `json:"next"`

	// Flow is the workflow given to Build, for drawing the part of the graph that
	// was not walked; it may be nil.
	Flow *ir.Workflow `json:"-"`
}

// Outcome is why the run stands where it stands; empty while it runs and when
// it is done.
type Outcome struct {
	Class  string `json:"class,omitempty"` // of a failure: event.FailureClass; of a stop: event.StopReason; "gate" when parked
	Node   string `json:"node,omitempty"`  // where, when one node is to blame
	Limit  string `json:"limit,omitempty"` // the limit that stopped the run
	Detail string `json:"detail,omitempty"`
	Hint   string `json:"hint,omitempty"`
}

// Spend is what model calls used up. Calls whose outcome stayed unknown count
// with their whole reservation, under Forfeited….
type Spend struct {
	Calls               int64         `json:"calls"` // answered ones
	TokensIn            int64         `json:"tokens_in"`
	TokensCached        int64         `json:"tokens_cached"`      // part of TokensIn
	TokensCacheWrite    int64         `json:"tokens_cache_write"` // part of TokensIn
	TokensOut           int64         `json:"tokens_out"`
	TokensReasoning     int64         `json:"tokens_reasoning"` // part of TokensOut
	CostMicros          budget.Micros `json:"cost_micros"`
	ForfeitedCalls      int64         `json:"forfeited_calls"`
	ForfeitedTokens     int64         `json:"forfeited_tokens"`
	ForfeitedCostMicros budget.Micros `json:"forfeited_cost_micros"`
	Unpriced            bool          `json:"unpriced"`  // some calls have no known price: the cost is a lower bound
	Estimated           bool          `json:"estimated"` // some calls reported no usage: their reservation counts
}

// Attempt is one process that worked on the run.
type Attempt struct {
	Number    int       `json:"attempt"` // from 1
	Pawl      string    `json:"pawl"`    // version of the program
	StartedAt time.Time `json:"started_at"`
	RunningMS int64     `json:"running_ms"`
	End       string    `json:"end"` // a Status, or "died": the next attempt began without one
	// Sandbox is what confined the attempt's commands; nil in records that do not
	// say.
	Sandbox *event.Sandbox `json:"sandbox,omitempty"`
	Spend   Spend          `json:"spend"`
}

// ModelUse is what one model was used for, under the name its provider reported.
type ModelUse struct {
	Name  string `json:"name"`
	Spend Spend  `json:"spend"`
}

// StepState is how far a step has come.
type StepState string

// The states of a step.
const (
	StepArrived     StepState = "arrived" // not begun
	StepRunning     StepState = "running"
	StepWaiting     StepState = "waiting" // for a person
	StepInterrupted StepState = "interrupted"
	StepFinished    StepState = "finished"
	StepFailed      StepState = "failed"
)

// Step is one visit of a node, in the order in which visits began.
type Step struct {
	Node      string        `json:"node"`
	Op        string        `json:"op,omitempty"` // agent, judge, tool, …; "" when the workflow is not known
	Visit     int           `json:"visit"`        // 1 for the node's first execution, 0 when it did not begin
	Token     event.TokenID `json:"token"`
	Branch    string        `json:"branch,omitempty"`    // the path of the parallel branch it is in: first nodes, with slashes
	Via       *Via          `json:"via,omitempty"`       // absent for the entry, and where branches meet
	Joined    []Via         `json:"joined,omitempty"`    // where branches meet: the edges by which they came
	Merged    int           `json:"merged,omitempty"`    // branches whose changes were merged here
	Conflicts []string      `json:"conflicts,omitempty"` // files that two branches changed differently
	State     StepState     `json:"state"`
	StartedAt time.Time     `json:"started_at"`
	RunningMS int64         `json:"running_ms"`
	Attempts  int           `json:"attempts"` // the most that any one of its effects needed; 0 without effects
	ToolCalls int           `json:"tool_calls"`
	Repairs   int           `json:"repairs"` // answers that did not fit and were asked for again
	Spend     Spend         `json:"spend"`
	Models    []string      `json:"models,omitempty"`
	Command   string        `json:"command,omitempty"`
	Exit      *int          `json:"exit,omitempty"`      // of Command
	Facts     []Fact        `json:"facts,omitempty"`     // short fields of the output
	Chosen    []string      `json:"chosen,omitempty"`    // targets that a model chose for a router
	Reason    string        `json:"reason,omitempty"`    // why it chose them
	By        string        `json:"by,omitempty"`        // the model that answered in a person's place
	Retries   int           `json:"retries,omitempty"`   // how often the visit began again
	CutBytes  int64         `json:"cut_bytes,omitempty"` // of older tool results that the last request left out
	Failure   *Outcome      `json:"failure,omitempty"`
	Commit    string        `json:"commit,omitempty"` // made by this visit
}

// Via is the edge that led to a step.
type Via struct {
	From  string `json:"from"`
	Edge  int    `json:"edge"` // index among From's edges
	Loop  string `json:"loop,omitempty"`
	Count int    `json:"count,omitempty"` // how often the loop has been taken, this time included
	Max   int    `json:"max,omitempty"`   // the loop's bound, when the workflow is known
}

// Fact is one short field of a node's output: a yes or no, or a word out of a
// closed set.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// GateState says whether a gate still waits.
type GateState string

// The states of a gate.
const (
	GateOpen     GateState = "open"
	GateAnswered GateState = "answered"
	GateClosed   GateState = "closed" // the run ended first
)

// Gate is one question with what became of it.
type Gate struct {
	Gate       string          `json:"gate"` // "<node>#<visit>"
	Node       string          `json:"node"`
	State      GateState       `json:"state"`
	Text       string          `json:"text,omitempty"`
	Input      json.RawMessage `json:"input,omitempty"` // what flowed into the gate
	Fields     []gates.Field   `json:"fields"`
	MinAnswers int             `json:"min_answers,omitempty"`
	Commit     string          `json:"commit,omitempty"` // the state that is judged
	Ref        string          `json:"ref,omitempty"`    // where it was asked
	OpenedAt   time.Time       `json:"opened_at"`
	AnsweredAt *time.Time      `json:"answered_at,omitempty"`
	WaitedMS   int64           `json:"waited_ms"`    // from the question to the answer, or to the last event
	By         string          `json:"by,omitempty"` // a person, or the model that answered when Via is "model"
	Via        string          `json:"via,omitempty"`
	Values     json.RawMessage `json:"values,omitempty"`
	Lines      []string        `json:"lines,omitempty"` // for an open gate: commands to paste
}

// VerifyState is what is known about the repository's tests at the end.
type VerifyState string

// The states of verification.
const (
	VerifyPassed  VerifyState = "passed"
	VerifyFailed  VerifyState = "failed"
	VerifyNoTests VerifyState = "no_tests" // none could be found
	VerifyStale   VerifyState = "stale"    // passed, but files were written afterwards
	VerifyOff     VerifyState = "off"      // the workflow says so
	VerifyNotRun  VerifyState = "not_run"
)

// Verification is the evidence, oldest first; the last one counts.
type Verification struct {
	State    VerifyState `json:"state"`
	Evidence []Evidence  `json:"evidence"`
}

// Evidence is one verification and where it took place.
type Evidence struct {
	Node  string    `json:"node"`
	Visit int       `json:"visit"`
	At    time.Time `json:"at"`
	event.Evidence
}

// Budget is the purse: what was spent over all attempts, and of how much.
type Budget struct {
	Spent              Spend         `json:"spent"`
	OpenCalls          int64         `json:"open_calls"` // under way, or in doubt
	ReservedTokens     int64         `json:"reserved_tokens"`
	ReservedCostMicros budget.Micros `json:"reserved_cost_micros"`
	EffectiveTokens    int64         `json:"effective_tokens"` // input 1, cached 0.1, cache write 1.25, output 4
	Limits             []Gauge       `json:"limits"`           // of all four kinds
}

// Gauge is one limit and how much of it is gone.
type Gauge struct {
	Limit   string `json:"limit"` // the name used in .iter files
	Unit    string `json:"unit"`  // tokens, micros, ms, executions
	Used    int64  `json:"used"`
	Max     int64  `json:"max"`     // 0 without a limit
	Percent int    `json:"percent"` // rounded down; 0 without a limit
}

// Repeats is what had to be done again.
type Repeats struct {
	Calls        int64   `json:"calls"`         // model calls that were another attempt at the same turn
	FailedCalls  int64   `json:"failed_calls"`  // model calls that brought no answer
	Failures     []Count `json:"failures"`      // FailedCalls by class, in order of appearance
	OtherEffects int64   `json:"other_effects"` // tools, commands, tests and questions whose outcome was lost
}

// Count is a name with a number.
type Count struct {
	Name string `json:"name"`
	N    int64  `json:"n"`
}

// Commit is one commit on the run's branch.
type Commit struct {
	Commit  string `json:"commit"`
	Node    string `json:"node"`
	Visit   int    `json:"visit"`
	Subject string `json:"subject,omitempty"` // what the node said it did
	Branch  string `json:"branch,omitempty"`  // the parallel branch it was made in
}

// ToolActivity is what agents did with tools.
type ToolActivity struct {
	Calls  int64      `json:"calls"`
	Errors int64      `json:"errors"`
	ByName []ToolUse  `json:"by_name"` // by number of calls, then by name
	Last   []ToolUsed `json:"last"`    // the last ones that said something, oldest first
}

// ToolUse counts one tool.
type ToolUse struct {
	Name   string `json:"name"`
	Calls  int64  `json:"calls"`
	Errors int64  `json:"errors"`
	Writes bool   `json:"writes,omitempty"`
}

// ToolUsed is one use of a tool.
type ToolUsed struct {
	Node    string `json:"node"`
	Visit   int    `json:"visit"`
	Name    string `json:"name"`
	Summary string `json:"summary"`
	Error   bool   `json:"error,omitempty"`
}

// Action is one thing a person may do next.
type Action struct {
	Text     string   `json:"text"`
	Subject  string   `json:"subject,omitempty"`  // what Text speaks of: a node, a limit
	Commands []string `json:"commands,omitempty"` // exact lines for a shell
}
