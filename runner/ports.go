package runner

import (
	"context"
	"encoding/json"
	"time"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/machine"
)

// Model answers one turn of a conversation. Complete may be called from many
// goroutines; it honours ctx, and every error it returns is a *[ModelError].
// It makes no second attempt once the provider may have begun to work: that is
// the engine's decision, because it costs.
type Model interface {
	Complete(ctx context.Context, req *ModelRequest) (*ModelResponse, error)
}

// Role says who speaks a message.
type Role string

// The roles of a conversation.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// Message is one turn of a conversation.
type Message struct {
	Role      Role       `json:"role"`
	Text      string     `json:"text,omitempty"`
	ToolCalls []ToolCall `json:"tool_calls,omitempty"` // assistant only
	ToolID    string     `json:"tool_id,omitempty"`    // tool only: the call it answers
}

// ToolCall is what a model asks for. Args is the text the model wrote: usually a
// JSON object, possibly not valid JSON.
type ToolCall struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Args string `json:"args"`
}

// ToolSpec describes a tool to a model.
type ToolSpec struct {
	Name        string
	Proper      string // as workflows and policies name it, when that is not Name: "mcp.github.search"
	Description string
	Parameters  json.RawMessage // JSON schema of an object
	Writes      bool            // may change the worktree
}

// ModelRequest is one turn. The engine owns it; adapters do not keep or change it.
type ModelRequest struct {
	Model       string // as the workflow names it, e.g. "openai/gpt-5"
	Messages    []Message
	Tools       []ToolSpec
	SchemaName  string          // set when the answer must be structured
	Schema      json.RawMessage // JSON schema of the answer, or nil
	Strict      bool            // Schema keeps to the subset that providers can enforce
	MaxOutput   int64           // tokens; 0 leaves it to the provider
	Temperature *float64
	Effort      string    // low, medium, high, extra_high or ""
	Key         event.Key // idempotency key
	Trace       Trace

	// Backend names an agent CLI that does the whole work instead of a model: it
	// uses tools of its own. The fields below are for it alone.
	Backend      string
	Dir          string        // the worktree, absolute; "" is the run's
	BackendTools []string      // what it may use; none leaves it its usual ones
	Readonly     bool          // it must change nothing
	MaxSteps     int           // turns; 0 is unlimited
	MaxTotal     int64         // tokens, in and out together, after which it is ended; 0 is unlimited
	MaxCost      budget.Micros // after which it should end itself; 0 is unlimited
}

// Trace says where a request comes from; scripted models match on it.
type Trace struct {
	Run   event.RunID
	Node  string
	Visit int
	Turn  int
}

// ModelResponse is a complete answer.
type ModelResponse struct {
	Model      string // as the provider reports it
	Text       string
	ToolCalls  []ToolCall
	Finish     string // stop, length, tool_calls, content_filter, …
	Usage      budget.Usage
	UsageKnown bool // false when the provider reported no usage
	// Form is what kept the answer to the schema: json_schema, json_object, tool or
	// prompt; "" without a schema.
	Form string
	Cost *budget.Micros // as a backend reports it; nil: what the price says
}

// ModelErrorClass sorts provider failures by what helps against them.
type ModelErrorClass string

// The classes of provider failure.
const (
	Unreachable ModelErrorClass = "unreachable" // no connection: nothing was charged
	Auth        ModelErrorClass = "auth"        // 401, 403
	RateLimit   ModelErrorClass = "rate_limit"  // 429 after the patience ran out
	Server      ModelErrorClass = "server"      // 5xx
	BadRequest  ModelErrorClass = "bad_request" // 400, 404, 422: the request itself
	NoAnswer    ModelErrorClass = "timeout"     // nothing came in time
	Malformed   ModelErrorClass = "malformed"   // cut off, not JSON, no choice in it
)

// ModelError is a failed call.
type ModelError struct {
	Class     ModelErrorClass
	Status    int    // HTTP status, 0 without one
	Detail    string // one line: what happened, where
	Hint      string // one line: what to do, or ""
	Retryable bool   // another attempt may help
	InDoubt   bool   // the provider may have worked: count the reservation as spent
	Err       error  // cause, may be nil
	// Usage is what was used all the same, when UsageKnown; it then counts instead
	// of the reservation.
	Usage      budget.Usage
	UsageKnown bool
	Limit      string // of the budget, that ended the call; "" for other failures
}

// Error implements error.
func (e *ModelError) Error() string { return e.Detail }

// Unwrap implements errors.Unwrap.
func (e *ModelError) Unwrap() error { return e.Err }

// Tools is what agents may call. Call may be called from many goroutines, and
// reports a tool's own failure in its result: an error means that the host
// failed and the run must stop.
type Tools interface {
	// Specs describes the named tools in the given order; an unknown name is an
	// error that lists the known ones.
	Specs(names []string) ([]ToolSpec, error)
	// Call runs one tool in the worktree.
	Call(ctx context.Context, name string, args json.RawMessage) (ToolResult, error)
}

// ToolResult is what a model gets to see.
type ToolResult struct {
	Text    string // already capped
	Error   bool   // the tool could not do what was asked
	Summary string // one line for people: "wrote calc.go (+3 −1)"
}

// Shell runs a command of the workflow or of a verification in the worktree,
// with a scrubbed environment, an output cap and its process group killed at
// the end. A command that fails is a result; an error means that it could not
// be run at all.
type Shell interface {
	Run(ctx context.Context, cmd ShellCommand) (ShellResult, error)
}

// ShellCommand is one command line for sh.
type ShellCommand struct {
	Line    string
	Dir     string        // relative to the worktree; "" is its root
	Timeout time.Duration // 0 means the host's default
	Network bool          // other machines may be reached, where the host confines commands
}

// ShellResult is how a command ended. Outputs hold head and tail when they were
// longer than the cap, with a line in between that says how much is missing.
type ShellResult struct {
	Stdout   string
	Stderr   string
	Combined string // both, in the order they arrived
	Exit     int    // 128+n when ended by signal n
	TimedOut bool
	Took     time.Duration
}

// Workspace is the tick's worktree. Methods are called one at a time.
type Workspace interface {
	// Snapshot keeps the present content of the worktree, tracked and new files
	// alike, as an object that Restore understands. It moves no branch.
	Snapshot(ctx context.Context) (string, error)
	// Restore puts the branch at commit head and the files at snapshot, which
	// may be "" for the files of head itself. Ignored files stay.
	Restore(ctx context.Context, head, snapshot string) error
	// Commit puts all changes on the branch and returns its head; changed is
	// false when there was nothing to commit. Hooks do not run.
	Commit(ctx context.Context, c Commit) (head string, changed bool, err error)
}

// Commit describes a commit of the engine.
type Commit struct {
	Subject  string
	Body     string
	Trailers []Trailer
	Time     time.Time
	Merges   string   // further parent: the commit whose conflicts were resolved; "" for none
	Marked   []string // files that may hold no marks of a conflict; else it is a *[MarkedError]
}

// Place is a worktree and what works in it.
type Place struct {
	Workspace Workspace
	Tools     Tools
	Shell     Shell
	Verifier  Verifier
	Backend   Model // agent CLIs that work in the worktree; nil: there are none
}

// Branches gives branches that write a worktree each, and puts together what they
// have made. Its methods may be called from many goroutines.
type Branches interface {
	// Open returns the place of a branch's tree, with the files of its snapshot,
	// or of its head when it has none. It is made when it is not there.
	Open(ctx context.Context, tree machine.Tree) (Place, error)
	// Merge merges the branches one after the other by three-way merge, up to the
	// first conflict that is not decided. It makes commits and moves nothing.
	Merge(ctx context.Context, r MergeRequest) (MergeResult, error)
	// Drop gives trees back. One that is not there is no error.
	Drop(ctx context.Context, names []string) error
}

// MergeRequest says what to merge.
type MergeRequest struct {
	Ours     string // commit
	Base     string // commit that all branches go back to
	Branches []event.MergeBranch
	Sides    map[string]string // of the first branch: event.Ours or event.Theirs by path
	Commit   Commit            // of each merge; the branch's name is added to its subject
}

// MergeResult is what became of it.
type MergeResult struct {
	Head      string // Ours with the first Merged branches
	Merged    int
	Conflicts []event.Conflict // of the next branch; nil when all are merged
	Marked    string           // commit whose files hold both sides, when there are conflicts
}

// Trailer is one "Key: value" line at the end of a commit message.
type Trailer struct{ Key, Value string }

// Verifier runs the repository's own tests.
type Verifier interface {
	// Verify finds (commands empty: auto) and runs the tests. Failing tests are
	// evidence, not an error.
	Verify(ctx context.Context, commands []string) (event.Evidence, error)
}

// Gate asks a person. Ask is called again for the same question after a resume
// and must then find what it asked before.
type Gate interface {
	// Ask returns the answer, or nil while there is none; ref says where the
	// question can be seen (a URL), or is "".
	Ask(ctx context.Context, q gates.Question) (answer *gates.Answer, ref string, err error)
}

// Log is the record. Append makes all events durable, in order, or returns an
// error; after an error the state of the record is unknown and nothing more may
// be appended.
type Log interface {
	Append(ctx context.Context, events []event.Event) error
}

// Blobs keeps large payloads by content. Put is durable when it returns.
type Blobs interface {
	Put(digest event.Digest, content []byte) error
	Get(digest event.Digest) ([]byte, error)
}

// Clock tells the time.
type Clock interface {
	Now() time.Time
}
