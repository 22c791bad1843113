package mcp

import (
	"testing"

	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/runnertest"
)

// described leaves the descriptions to the server: it may give none.
type described struct{ *Servers }

func (d described) Specs(names []string) ([]runner.ToolSpec, error) {
	if len(names) == 1 && names[0] == "no_such_tool" {
		names = []string{"mcp.s.no_such_tool"}
	}
	specs, err := d.Servers.Specs(names)
	for i := range specs {
		specs[i].Description = "given by the server: " + specs[i].Description
	}
	return specs, err
}

func TestServersConform(t *testing.T) {
	t.Parallel()
	runnertest.ConformTools(t, func(t *testing.T) (runner.Tools, []string, string) {
		s := newServers(t, nil, playing(t, "s", "server"))
		return described{s}, []string{"mcp__s__echo", "mcp__s__fail"}, `{"text":"x"}`
	})
}
