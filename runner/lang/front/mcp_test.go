package front_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/front"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// serversOf compiles an agent with the given properties in a workflow with the
// given ones, and two declared servers, and returns the tools it gets.
func serversOf(t *testing.T, agent, workflow string) []string {
	t.Helper()
	text := `mcp_server one:
  transport: stdio
  command: "one"
  env: { TOKEN: "${GITHUB_TOKEN}", LEVEL: "info" }

mcp_server two:
  transport: http
  url: "http://two/mcp"

agent a:
  model: "m"
` + agent + `
workflow w:
  entry: a
` + workflow + `  a -> done
`
	w, list := front.Load(diag.NewFile("mcp.iter", text), front.Options{})
	if list.HasErrors() {
		t.Fatalf("%v\n%s", list, text)
	}
	if env := w.Server("one").Env; len(env) != 2 || env[1].From != "GITHUB_TOKEN" || env[1].Value != nil || env[0].From != "" {
		t.Errorf("environment %+v", env)
	}
	var names []string
	for _, tool := range w.Node("a").Op.(*ir.Call).Tools {
		names = append(names, tool.Name)
	}
	return names
}

func TestServersOfANode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ agent, workflow, want string }{
		{"", "", ""},
		{"  mcp:\n    servers: [one]\n", "", "mcp.one.*"},
		{"  mcp:\n    inherit: true\n", "", "mcp.one.* mcp.two.*"},
		{"  mcp:\n    disable: [one]\n", "", "mcp.two.*"},
		{"", "  mcp:\n    servers: [two]\n", "mcp.two.*"},
		{"", "  mcp:\n    inherit: true\n", "mcp.one.* mcp.two.*"},
		{"  mcp:\n    servers: [one]\n", "  mcp:\n    servers: [two]\n", "mcp.two.* mcp.one.*"},
		{"  mcp:\n    disable: [two]\n", "  mcp:\n    servers: [two]\n", ""},
		{"  mcp:\n    inherit: false\n    servers: [one]\n", "  mcp:\n    servers: [two]\n", "mcp.one.*"},
		{"  tools: [read_file, mcp.one.search]\n  mcp:\n    servers: [one, two]\n", "", "read_file mcp.one.search mcp.two.*"},
		{"  tools: [mcp.one.search]\n", "", "mcp.one.search"},
		{"", "  mcp:\n    autoload_project: true\n    servers: [one]\n", "mcp.one.* mcp.*"},
	} {
		if got := strings.Join(serversOf(t, c.agent, c.workflow), " "); got != c.want {
			t.Errorf("%q in %q: %q, want %q", c.agent, c.workflow, got, c.want)
		}
	}
}

func TestServersAreInTheDigest(t *testing.T) {
	t.Parallel()
	digest := func(url string) string {
		w, list := front.Load(diag.NewFile("mcp.iter", `mcp_server s:
  transport: http
  url: "`+url+`"

agent a:
  model: "m"

workflow w:
  entry: a
  a -> done
`), front.Options{})
		if list.HasErrors() {
			t.Fatal(list)
		}
		return w.Digest()
	}
	if all := []string{digest("http://a"), digest("http://b")}; slices.Equal(all[:1], all[1:]) {
		t.Error("another address is the same workflow")
	}
}
