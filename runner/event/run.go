package event

import (
	"encoding/json"

	"github.com/pawl-ci/pawl/budget"
)

// RunStarted opens every record.
type RunStarted struct {
	Pawl        string            `json:"pawl"` // version of the program
	Workflow    string            `json:"workflow"`
	Path        string            `json:"path"`   // of the source, as the user wrote it
	Source      Payload           `json:"source"` // the text, as a JSON string: a resume needs no file
	Digest      Digest            `json:"digest"` // of the lowered workflow
	NodeDigests map[string]Digest `json:"node_digests"`
	Env         map[string]string `json:"env,omitempty"` // values of ${NAME} taken at compile time
	Vars        json.RawMessage   `json:"vars,omitempty"`
	Inputs      Payload           `json:"inputs"`
	Limits      budget.Limits     `json:"limits"`
	Base        string            `json:"base,omitempty"`     // commit the branch starts from
	BaseRef     string            `json:"base_ref,omitempty"` // its branch; "" when HEAD is detached
	Branch      string            `json:"branch,omitempty"`
	Model       string            `json:"model,omitempty"`   // replaces the model of every node
	Trigger     *Payload          `json:"trigger,omitempty"` // the GitHub event, as it came
	Sandbox     *Sandbox          `json:"sandbox,omitempty"`
	Recipe      *Recipe           `json:"recipe,omitempty"`
	Comparison  *Comparison       `json:"comparison,omitempty"`
}

// Sandbox is what confines the commands of an attempt, in short phrases.
type Sandbox struct {
	Enforced []string `json:"enforced"`
	Missing  []string `json:"missing,omitempty"` // what was wanted and cannot be enforced there, with the reason
}

// RunResumed marks the start of another attempt at the same run.
type RunResumed struct {
	Pawl    string         `json:"pawl"`
	Attempt int            `json:"attempt"` // the first run is attempt 1, so this is at least 2
	Limits  *budget.Limits `json:"limits,omitempty"`
	Model   string         `json:"model,omitempty"`    // replaces the model of every node from here on
	CutTail int            `json:"cut_tail,omitempty"` // bytes of a torn last line that were dropped

	Path        string            `json:"path,omitempty"`   // of an edited workflow, as the user wrote it
	Source      *Payload          `json:"source,omitempty"` // its text, as a JSON string; it holds from here on
	Digest      Digest            `json:"digest,omitempty"` // of the lowered workflow
	NodeDigests map[string]Digest `json:"node_digests,omitempty"`
	Env         map[string]string `json:"env,omitempty"`    // values of ${NAME} taken at compile time
	Recipe      *Recipe           `json:"recipe,omitempty"` // that changed this text; without a Source it says nothing
	Forced      []string          `json:"forced,omitempty"` // nodes that have run and were changed all the same
	Sandbox     *Sandbox          `json:"sandbox,omitempty"`
}

// RunParked says that every token waits for a person; the process ends.
type RunParked struct {
	Gates []string `json:"gates"`
}

// StopReason says why a run stopped without an outcome. It can be resumed.
type StopReason string

// The reasons to stop.
const (
	StopCancelled StopReason = "cancelled" // a signal
	StopBudget    StopReason = "budget"    // the purse refused
	StopKilled    StopReason = "killed"    // the kill switch
	StopHost      StopReason = "host"      // pawl or the world failed
)

// RunStopped says that an attempt ended without an outcome.
type RunStopped struct {
	Reason StopReason `json:"reason"`
	Limit  string     `json:"limit,omitempty"` // for StopBudget: the limit's name
	Detail string     `json:"detail"`
	Hint   string     `json:"hint,omitempty"`
}

// Outcome is how a run ended.
type Outcome string

// The outcomes.
const (
	Done   Outcome = "done"
	Failed Outcome = "failed"
)

// RunFinished closes a record.
type RunFinished struct {
	Outcome Outcome      `json:"outcome"`
	Class   FailureClass `json:"class,omitempty"`
	Detail  string       `json:"detail,omitempty"`
	Head    string       `json:"head,omitempty"` // last commit of the branch
}

// BudgetWarned says that four fifths of a limit are gone.
type BudgetWarned struct {
	Limit string `json:"limit"`
	Used  string `json:"used"`
	Max   string `json:"max"`
}

// EventType implements Body.
func (*RunStarted) EventType() Type { return "RunStarted" }

// EventType implements Body.
func (*RunResumed) EventType() Type { return "RunResumed" }

// EventType implements Body.
func (*RunParked) EventType() Type { return "RunParked" }

// EventType implements Body.
func (*RunStopped) EventType() Type { return "RunStopped" }

// EventType implements Body.
func (*RunFinished) EventType() Type { return "RunFinished" }

// EventType implements Body.
func (*BudgetWarned) EventType() Type { return "BudgetWarned" }

func (b *RunStarted) payloads() (needed, other []*Payload) {
	return []*Payload{&b.Inputs, &b.Source, b.Trigger, b.Recipe.source()}, nil
}
func (b *RunResumed) payloads() (needed, other []*Payload) {
	return []*Payload{b.Source, b.Recipe.source()}, nil
}
func (*RunParked) payloads() (needed, other []*Payload)    { return nil, nil }
func (*RunStopped) payloads() (needed, other []*Payload)   { return nil, nil }
func (*RunFinished) payloads() (needed, other []*Payload)  { return nil, nil }
func (*BudgetWarned) payloads() (needed, other []*Payload) { return nil, nil }
