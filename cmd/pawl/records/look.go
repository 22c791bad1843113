package records

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/report/transcript"
	"github.com/pawl-ci/pawl/runner/event"
)

func (l *looking) printArtifacts(a *cli.App, p *Place, id event.RunID) error {
	events, err := Read(p, id)
	if err != nil {
		return err
	}
	w := recordedWorkflow(events)
	if w == nil {
		return cli.Host(fmt.Errorf("read the record of %s: this version cannot compile the recorded workflow", id), "pawl inspect "+string(id)+" --events shows the outputs")
	}
	list := transcript.Artifacts(events, w)
	if a.JSON {
		return a.WriteJSON(list)
	}
	return transcript.WriteArtifacts(a.Out, list, l.full)
}

func (l *looking) printNode(a *cli.App, p *Place, id event.RunID) error {
	events, err := readWhole(p, id)
	if err != nil {
		return err
	}
	visits := transcript.Of(events, l.node)
	if len(visits) == 0 {
		return cli.Usage(fmt.Errorf("run %s never came to a node %s", id, l.node), "it ran: "+strings.Join(nodesOf(events), ", "))
	}
	if a.JSON {
		return a.WriteJSON(visits)
	}
	return transcript.Write(a.Out, visits, l.full)
}

// nodesOf lists the nodes that began, in order.
func nodesOf(events []event.Event) []string {
	var names []string
	for i := range events {
		if _, began := events[i].Body.(*event.NodeStarted); began && !slices.Contains(names, events[i].Node) {
			names = append(names, events[i].Node)
		}
	}
	return names
}
