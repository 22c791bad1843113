package recipe

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/report/score"
	"github.com/pawl-ci/pawl/runner/lang/data"
	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// Recipe is a parsed file. It is immutable.
type Recipe struct {
	File        *diag.File
	Name        string
	Description string
	Workflow    Ref
	Vars        []Setting // variable → value
	Prompts     []Setting // prompt → text
	Limits      []Limit
	Tools       ToolRules
	NodeTools   []NodeTools
	Model       *data.Value // of every node that Models does not name; nil: its own
	Models      []Setting   // node → model
	Evaluation  *Evaluation // nil: none

	meaning any // everything but the description, as values
}

// Ref names the workflow that the recipe is made for.
type Ref struct {
	Name     string // "" does not restrict it
	NameSpan diag.Span
	Path     string // relative to the recipe's directory, or to the working directory; "" when it is not given
	PathSpan diag.Span
}

// Setting gives a named thing a value.
type Setting struct {
	Name  string
	At    diag.Span // of the name
	Value *data.Value
}

// Limit is one entry of the budget.
type Limit struct {
	Name string
	At   diag.Span
	get  func(*budget.Limits) *int64
	max  int64 // in the unit of the field
}

// ToolRules narrow the tools of models. Patterns are as in [ir.ToolPolicy].
type ToolRules struct {
	Allow, Deny []Pattern
}

// Pattern is one entry of a tool policy.
type Pattern struct {
	Text string
	Span diag.Span
}

// NodeTools are the rules for one node, beside those for all.
type NodeTools struct {
	Node string
	At   diag.Span
	ToolRules
}

// Evaluation is how the recipe judges a run.
type Evaluation struct {
	Metric    *data.Value
	Success   *data.Value // nil: the run must be done
	Direction score.Direction
	Secondary []*data.Value
}

// Digest is the lower-case hex SHA-256 of what the recipe says: its formatting,
// its order and its description do not count.
func (r *Recipe) Digest() string {
	raw, err := ir.Encode(r.meaning)
	if err != nil {
		raw = []byte(r.File.Text)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// marks are keys that only a recipe has; name and budget others may have too.
var marks = []string{"workflow_ref", "preset_vars", "prompt_pack", "evaluation_policy", "tool_policy", "models"}

// Is reports whether a file is meant as a recipe: it is named like YAML or JSON
// and has a key that only recipes have. What is wrong inside is for [Parse].
func Is(f *diag.File) bool {
	name := strings.ToLower(f.Name)
	if !strings.HasSuffix(name, ".json") && !strings.HasSuffix(name, ".yaml") && !strings.HasSuffix(name, ".yml") {
		return false
	}
	root, _ := data.Read(f)
	return slices.ContainsFunc(marks, func(key string) bool { return root.Field(key) != nil })
}
