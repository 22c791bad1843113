package runner

import (
	"fmt"
	"strings"

	"github.com/pawl-ci/pawl/runner/lang/ir"
	"github.com/pawl-ci/pawl/runner/machine"
)

// subjectLimit is how long a commit's first line may be, in characters.
const subjectLimit = 72

// commitFor describes the commit of one visit. Its trailers tie it to the
// record.
func (e *engine) commitFor(c machine.Finish) Commit {
	commit := Commit{
		Subject:  subject(c.Node.ID, c.Done.Output.Raw()),
		Body:     fmt.Sprintf("Made by node %s of workflow %s, visit %d.", c.Node.ID, e.state.Workflow.Name, c.Token.Visit),
		Trailers: e.trailers(c.Node.ID),
		Time:     e.state.Time,
	}
	commit.Merges, commit.Marked = c.Token.Merging()
	if branch := c.Token.Branch(); branch != "" {
		commit.Body += "\nIn branch " + branch + "."
	}
	return commit
}

func (e *engine) trailers(node string) []Trailer {
	return []Trailer{{"Pawl-Run", string(e.run)}, {"Pawl-Node", node}, {"Pawl-Seq", fmt.Sprint(e.state.Seq)}}
}

// subject is the node's own summary when its output has one.
func subject(node string, output []byte) string {
	text := node
	if object, err := ir.DecodeObject(output); err == nil {
		for _, field := range []string{"commit_message", "title", "summary"} {
			if s, ok := object[field].(string); ok && strings.TrimSpace(s) != "" {
				text = node + ": " + strings.Join(strings.Fields(s), " ")
				break
			}
		}
	}
	if r := []rune(text); len(r) > subjectLimit {
		text = string(r[:subjectLimit-1]) + "…"
	}
	return text
}
