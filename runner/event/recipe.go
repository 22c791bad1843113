package event

import (
	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/report/score"
)

// Recipe is what a workflow was changed by before it ran, and how the run is
// judged.
type Recipe struct {
	Name   string        `json:"name"`
	Path   string        `json:"path"` // as the user wrote it
	Digest Digest        `json:"digest"`
	Source Payload       `json:"source"` // the text, as a JSON string: a resume needs no file
	Policy *score.Policy `json:"policy,omitempty"`
}

// Comparison says that a run is one of several that are compared.
type Comparison struct {
	ID      string        `json:"id"`
	Recipes []string      `json:"recipes"`                   // names of all that take part, in the order given
	Recipe  int           `json:"recipe"`                    // which of them this run is of, from 0
	Repeat  int           `json:"repeat"`                    // which run of the recipe this is, from 1
	Repeats int           `json:"repeats"`                   // how many each recipe gets
	MaxCost budget.Micros `json:"max_cost_micros,omitempty"` // of all runs together
	Policy  *score.Policy `json:"policy,omitempty"`          // judges runs whose recipe has none
}

// source is the payload of a recipe that may be absent.
func (r *Recipe) source() *Payload {
	if r == nil {
		return nil
	}
	return &r.Source
}
