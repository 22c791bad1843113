package transcript

import (
	"encoding/json"
	"time"

	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// Artifact is one version of something that a node published.
type Artifact struct {
	Name    string          `json:"name"`
	Version int             `json:"version"` // from 1
	Node    string          `json:"node"`
	Visit   int             `json:"visit"`
	At      time.Time       `json:"at"`
	Value   json.RawMessage `json:"value"`
}

// Artifacts lists every version in the order of publication.
func Artifacts(events []event.Event, w *ir.Workflow) []Artifact {
	list := []Artifact{}
	versions := make(map[string]int)
	for i := range events {
		e := &events[i]
		b, finished := e.Body.(*event.NodeFinished)
		n := w.Node(e.Node)
		if !finished || n == nil || n.Publish == "" {
			continue
		}
		versions[n.Publish]++
		output := b.Output
		list = append(list, Artifact{
			Name: n.Publish, Version: versions[n.Publish], Node: e.Node, Visit: b.Visit, At: e.Time.UTC(), Value: output.Raw(),
		})
	}
	return list
}
