package script

import (
	"time"

	"github.com/pawl-ci/pawl/budget"
)

// Script is a parsed file. It is immutable; a [Handler] counts its uses.
type Script struct {
	Name      string        // of the script, for messages
	Model     string        // shown in answers instead of the model asked for; may be ""
	Price     *budget.Price // what the script pretends to cost, or nil
	Exchanges []Exchange    // the first that matches answers
}

// Exchange is one "when asked this, answer that".
type Exchange struct {
	Match   Match
	Times   int     // how often it may be used; 0 is without bound
	Replies []Reply // one for each use in turn; the last one repeats
	Line    int     // where it stands in the file, from 1
}

// Match says which requests an exchange answers: all conditions that are set
// must hold. The zero Match takes every request.
type Match struct {
	Node        string   // the node's name, from the X-Pawl-Node header
	Visit       int      // which execution of the node, from 1
	Turn        int      // which request of the conversation, from 1
	Model       string   // the model asked for
	Schema      string   // the name of the answer schema asked for
	Tools       []string // tools that must be on offer
	Contains    []string // all must occur in the last message
	NotContains []string // none may occur in the last message
	Anywhere    []string // each must occur in some message
	NotAnywhere []string // none may occur in any message
}

// Reply is one answer, or one failure.
type Reply struct {
	Text      string // with a json reply: the encoded value
	ToolCalls []ToolCall
	Usage     *Usage // nil: estimated from the bytes by a fixed rule
	NoUsage   bool   // report no usage at all, as some servers do
	Finish    string // "": tool_calls or stop
	Delay     time.Duration
	Fault     *Fault // the answer is this failure
}

// ToolCall is a call the script's model makes.
type ToolCall struct {
	ID   string // "": made from the request
	Name string
	Args string // usually a JSON object
}

// Usage is what an answer claims to have consumed. Cached is a part of Input,
// Reasoning a part of Output.
type Usage struct{ Input, Output, Cached, Reasoning int64 }

// Kind names a way in which a server can break without an HTTP status.
type Kind string

// The kinds of breakage.
const (
	Hang    Kind = "hang"    // never answers
	Cut     Kind = "cut"     // the body ends in the middle
	Garbage Kind = "garbage" // 200, but not JSON
	Reset   Kind = "reset"   // the connection is reset before an answer
	Empty   Kind = "empty"   // JSON without a choice
)

var kinds = []string{string(Hang), string(Cut), string(Garbage), string(Reset), string(Empty)}

// Fault is a failing answer: an HTTP error when Status is set, else Kind.
type Fault struct {
	Kind       Kind
	Status     int
	Message    string
	Type       string // of the error body; "" means one that fits the status
	Code       string
	RetryAfter string // the header's value: seconds or an HTTP date; "" sends none
}
