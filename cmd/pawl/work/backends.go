package work

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/runner/host/agent"
	"github.com/pawl-ci/pawl/runner/host/sandbox/confine"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// backendKeys are the variables that hold a key for a backend's program. Without
// one it uses its own login.
var backendKeys = map[string][]string{"claude_code": {"ANTHROPIC_API_KEY"}, "codex": {"CODEX_API_KEY", "OPENAI_API_KEY"}}

// loginVariables are what a login of a program may consist of.
var loginVariables = []string{"CLAUDE_CODE_OAUTH_TOKEN"}

// backends are the agent CLIs in one worktree.
func (j *job) backends(root string, policy *confine.Policy) *agent.Backends {
	var login []string
	for _, name := range loginVariables {
		if value := j.app.Env[name]; value != "" {
			login = append(login, name+"="+value)
		}
	}
	return agent.New(agent.Config{
		Dir: root, State: filepath.Join(j.place.Store, "agents"), Env: j.cage.env, RunID: j.place.Mark(j.id),
		Confine: policy, Required: j.flags.sandbox == sandboxRequired, Login: login,
		Key: func(backend string) string { return j.app.Env.First(backendKeys[backend]...) },
		Upstream: func(backend string) string {
			if backend == "codex" {
				return "" // its address ends in /v1, and the program adds that
			}
			return j.app.Env["ANTHROPIC_BASE_URL"]
		},
	})
}

// needBackends says before anything is opened that a program is not there.
func (j *job) needBackends() error {
	for _, n := range j.source.Workflow.Nodes {
		call := ir.CallOf(n.Op)
		if call == nil || call.Backend == "" {
			continue
		}
		program := agent.Program(call.Backend)
		found := slices.ContainsFunc(filepath.SplitList(j.app.Env["PATH"]), func(dir string) bool {
			st, err := os.Stat(filepath.Join(dir, program))
			return err == nil && st.Mode().IsRegular()
		})
		if !found {
			return cli.Usage(fmt.Errorf("node %s is the work of %s, and there is no program %s in PATH", n.ID, call.Backend, program),
				"install it, or give the node a model instead of the backend")
		}
	}
	return nil
}
