package event

// Forked puts a token on each edge that a fan-out chose. The token that forked
// rests until its branches have met.
type Forked struct {
	Branches []Branch `json:"branches"` // in file order of the edges
}

// Branch is one new token and the edge that it begins with.
type Branch struct {
	Token TokenID  `json:"token"`
	To    string   `json:"to"`
	Edge  int      `json:"edge"` // index in file order among the fan-out's edges
	Loop  string   `json:"loop,omitempty"`
	Count int      `json:"count,omitempty"`
	Input *Payload `json:"input,omitempty"` // absent when the fan-out's output passes through whole
	Joins bool     `json:"joins,omitempty"` // the edge leads straight to the join
}

// BranchFailed ends a token that could not go on. The branch's join says what
// follows.
type BranchFailed struct {
	Class  FailureClass `json:"class"`
	Detail string       `json:"detail"`
}

// MergeStarted is durable before what branches wrote is put together. A merge
// moves nothing but the tree it merges into, and may be done again.
type MergeStarted struct {
	Key      Key               `json:"key"`
	Attempt  int               `json:"attempt"`
	Ours     string            `json:"ours"`            // commit that the branches are merged into
	Branches []MergeBranch     `json:"branches"`        // in the order in which they are merged
	Sides    map[string]string `json:"sides,omitempty"` // for the first branch: whose file counts, by path
}

// MergeBranch is the work of one branch.
type MergeBranch struct {
	Branch string `json:"branch"` // its path, for people
	Commit string `json:"commit"`
}

// The sides of a conflict that a person may choose, per file.
const (
	Ours   = "ours"   // what was merged before
	Theirs = "theirs" // what the branch brings
)

// MergeFinished holds the commit that the tree is at afterwards. With conflicts
// the first Merged branches are in it and the next one is not.
type MergeFinished struct {
	Key       Key        `json:"key"`
	Head      string     `json:"head"`
	Merged    int        `json:"merged"`
	Conflicts []Conflict `json:"conflicts,omitempty"`
	Snapshot  string     `json:"snapshot,omitempty"` // the files with both sides marked, when an agent is to resolve them
	Millis    int64      `json:"ms"`
}

// Conflict is one file that a three-way merge could not decide.
type Conflict struct {
	Path   string `json:"path"`
	Ours   bool   `json:"ours,omitempty"`   // the file is there on our side
	Theirs bool   `json:"theirs,omitempty"` // … on the branch's
	Text   string `json:"text,omitempty"`   // an excerpt with both sides marked
}

// ConflictReferred sends the token of a join to the agent that resolves the
// conflict; when it has finished, the token is back at the join.
type ConflictReferred struct {
	To    string   `json:"to"`
	Input *Payload `json:"input"`
}

// EventType implements Body.
func (*Forked) EventType() Type { return "Forked" }

// EventType implements Body.
func (*BranchFailed) EventType() Type { return "BranchFailed" }

// EventType implements Body.
func (*MergeStarted) EventType() Type { return "MergeStarted" }

// EventType implements Body.
func (*MergeFinished) EventType() Type { return "MergeFinished" }

// EventType implements Body.
func (*ConflictReferred) EventType() Type { return "ConflictReferred" }

func (b *Forked) payloads() (needed, other []*Payload) {
	for i := range b.Branches {
		needed = append(needed, b.Branches[i].Input)
	}
	return needed, nil
}
func (*BranchFailed) payloads() (needed, other []*Payload)       { return nil, nil }
func (*MergeStarted) payloads() (needed, other []*Payload)       { return nil, nil }
func (*MergeFinished) payloads() (needed, other []*Payload)      { return nil, nil }
func (b *ConflictReferred) payloads() (needed, other []*Payload) { return []*Payload{b.Input}, nil }
