package event

// Evidence is what a verification saw. It is kept whole in the record, so that
// a report can show why a run was believed.
type Evidence struct {
	Mode     string            `json:"mode"`             // auto, commands
	Passed   bool              `json:"passed"`           // every command exited 0 and at least one ran
	Reason   string            `json:"reason,omitempty"` // why not passed, or why nothing ran
	Tree     string            `json:"tree,omitempty"`   // snapshot that was tested
	Commands []CommandEvidence `json:"commands,omitempty"`
}

// CommandEvidence is the evidence of one command.
type CommandEvidence struct {
	Name     string  `json:"name"` // what it tests: "go", "npm", "cargo", …
	Command  string  `json:"command"`
	Dir      string  `json:"dir,omitempty"` // relative to the worktree
	Exit     int     `json:"exit"`
	TimedOut bool    `json:"timed_out,omitempty"`
	Millis   int64   `json:"ms"`
	Tail     string  `json:"tail,omitempty"` // last lines of the output
	Counts   *Counts `json:"counts,omitempty"`
}

// Counts are tests by result, when the runner's output format is known.
type Counts struct {
	Unit    string   `json:"unit,omitempty"` // what is counted: "package"; "" is tests
	Passed  int      `json:"passed"`
	Failed  int      `json:"failed"`
	Skipped int      `json:"skipped,omitempty"`
	Failing []string `json:"failing,omitempty"` // names, in order of appearance, at most 20
}
