package work

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/cmd/pawl/models"
	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/host/mcp"
	"github.com/pawl-ci/pawl/runner/host/tool"
	"github.com/pawl-ci/pawl/runner/lang/front"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// projectFile declares MCP servers for whoever works on the repository.
const projectFile = ".mcp.json"

// servers are the MCP servers of the run, started and asked for their tools
// before any money is spent; nil when the workflow has none.
func (j *job) servers(ctx context.Context, vars map[string]any) (*mcp.Servers, error) {
	w := j.source.Workflow
	declared, err := j.declaredServers(w, vars)
	if err != nil {
		return nil, err
	}
	if w.ProjectServers {
		project, err := j.projectServers()
		if err != nil {
			return nil, err
		}
		for _, s := range project {
			if w.Server(s.Name) == nil { // the workflow's own wins
				declared = append(declared, s)
			}
		}
	}
	if len(declared) == 0 {
		return nil, nil
	}
	if err := os.MkdirAll(j.workDir(), 0o700); err != nil {
		return nil, cli.Host(fmt.Errorf("make the run's directory: %w", err), cli.DiskHint(err))
	}
	all := mcp.New(mcp.Config{
		Servers: declared, Version: j.app.Version, Dir: j.workDir(), Env: j.cage.env, RunID: j.place.Mark(j.id), Confine: j.cage.policy,
		HTTP: &http.Client{Transport: &http.Transport{Proxy: models.Proxy(j.app.Env)}},
	})
	if err := all.Check(ctx, needed(w, declared)); err != nil {
		all.Close()
		return nil, cli.Host(err, "nothing was spent; pawl doctor looks at the rest")
	}
	return all, nil
}

// needed are the servers that some node may use.
func needed(w *ir.Workflow, all []mcp.Server) []string {
	var names []string
	for _, n := range w.Nodes {
		call := ir.CallOf(n.Op)
		if call == nil {
			continue
		}
		for _, t := range call.Tools {
			server, _, isServer := mcp.Split(t.Name)
			for _, s := range all {
				if isServer && (server == s.Name || server == "*") && !slices.Contains(names, s.Name) {
					names = append(names, s.Name)
				}
			}
		}
	}
	return names
}

func (j *job) declaredServers(w *ir.Workflow, vars map[string]any) ([]mcp.Server, error) {
	var out []mcp.Server
	for _, s := range w.Servers {
		render := renderer{vars: vars}
		server := mcp.Server{Name: s.Name, Transport: s.Transport, Command: render.text(s.Command), URL: render.text(s.URL)}
		for _, a := range s.Args {
			server.Args = append(server.Args, render.text(a))
		}
		for _, e := range s.Env {
			value, set := render.text(e.Value), true
			if e.From != "" {
				value, set = j.app.Env[e.From]
			}
			if !set {
				return nil, cli.Usage(fmt.Errorf("MCP server %s needs %s, which is not set", s.Name, e.From), "set it in the environment of pawl")
			}
			server.Env = append(server.Env, e.Name+"="+value)
		}
		if render.err != nil {
			return nil, cli.Usage(fmt.Errorf("MCP server %s: %w", s.Name, render.err), "")
		}
		out = append(out, server)
	}
	return out, nil
}

// renderer puts variables into texts; the first problem stays.
type renderer struct {
	vars map[string]any
	err  error
}

func (r *renderer) text(t *ir.Template) string {
	if t == nil {
		return ""
	}
	text, err := t.Render(r, nil)
	if r.err == nil {
		r.err = err
	}
	return text
}

// Lookup implements ir.Scope: before the run begins there are only variables.
func (r *renderer) Lookup(ref *ir.Ref) (any, error) {
	if ref.Root == ir.RootVars && len(ref.Path) == 1 {
		if v, ok := r.vars[ref.Path[0]]; ok {
			return v, nil
		}
	}
	return nil, fmt.Errorf("{{%s}} has no value before the run begins", ref)
}

// projectServers reads the project's file from the user's checkout: what agents
// write to a worktree starts nothing.
func (j *job) projectServers() ([]mcp.Server, error) {
	if j.place.Repo == nil {
		return nil, nil
	}
	text, err := os.ReadFile(filepath.Join(j.place.Repo.Top, projectFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, cli.Usage(fmt.Errorf("read %s: %w", projectFile, err), "")
	}
	servers, err := parseProject(text, j.app.LookupEnv)
	if err != nil {
		return nil, cli.Usage(fmt.Errorf("%s: %w", projectFile, err), "leave autoload_project out to run without it")
	}
	return servers, nil
}

// parseProject reads {"mcpServers": {NAME: {command, args, env} or {type, url,
// headers}}}, sorted by name. ${NAME} and ${NAME:-default} are put in from lookup,
// which has no secrets: anybody who may change the repository may change this
// file.
func parseProject(text []byte, lookup func(string) (string, bool)) ([]mcp.Server, error) {
	var file struct {
		Servers map[string]struct {
			Type    string            `json:"type"`
			Command string            `json:"command"`
			Args    []string          `json:"args"`
			Env     map[string]string `json:"env"`
			URL     string            `json:"url"`
			Headers map[string]string `json:"headers"`
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, err
	}
	var out []mcp.Server
	for _, name := range slices.Sorted(maps.Keys(file.Servers)) {
		s := file.Servers[name]
		e := expander{lookup: lookup}
		server := mcp.Server{Name: name, Transport: s.Type, Command: e.expand(s.Command), URL: e.expand(s.URL), Headers: map[string]string{}}
		for _, a := range s.Args {
			server.Args = append(server.Args, e.expand(a))
		}
		for _, variable := range slices.Sorted(maps.Keys(s.Env)) {
			server.Env = append(server.Env, variable+"="+e.expand(s.Env[variable]))
		}
		for header, value := range s.Headers {
			server.Headers[header] = e.expand(value)
		}
		if err := errors.Join(e.err, complete(&server)); err != nil {
			return nil, fmt.Errorf("server %s: %w", name, err)
		}
		out = append(out, server)
	}
	return out, nil
}

// complete fills in the usual transport and says what is missing.
func complete(s *mcp.Server) error {
	switch {
	case s.Transport == "" && s.Command != "":
		s.Transport = "stdio"
	case s.Transport == "" || s.Transport == "streamable-http":
		s.Transport = "http"
	}
	switch {
	case s.Transport == "stdio" && s.Command == "":
		return errors.New("it has no command")
	case s.Transport != "stdio" && s.Transport != "http" && s.Transport != "sse":
		return fmt.Errorf("there is no transport %q; it is one of stdio, http, sse", s.Transport)
	case s.Transport != "stdio" && s.URL == "":
		return errors.New("it has no url")
	}
	return nil
}

// expander puts environment variables into texts; the first problem stays.
type expander struct {
	lookup func(string) (string, bool)
	err    error
}

var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}`)

func (e *expander) expand(text string) string {
	return variable.ReplaceAllStringFunc(text, func(written string) string {
		m := variable.FindStringSubmatch(written)
		value, set := e.lookup(m[1])
		if !set && !strings.Contains(written, ":-") {
			e.err = errors.Join(e.err, missing(m[1]))
		}
		if !set {
			value = m[2]
		}
		return value
	})
}

func missing(name string) error {
	if !front.EnvAllowed(name) {
		return fmt.Errorf("${%s} may hold a secret; declare the server in the workflow to pass it on", name)
	}
	return fmt.Errorf("${%s} is not set", name)
}

// toolset is the built-in tools and those of servers behind one port.
type toolset struct {
	*tool.Tools
	servers *mcp.Servers // nil: there are none
}

// Specs implements runner.Tools, in the order of the names.
func (t *toolset) Specs(names []string) ([]runner.ToolSpec, error) {
	var specs []runner.ToolSpec
	for len(names) > 0 {
		n := slices.IndexFunc(names, func(name string) bool { return mcp.Is(name) != mcp.Is(names[0]) })
		if n < 0 {
			n = len(names)
		}
		describe := t.Tools.Specs
		if mcp.Is(names[0]) {
			if t.servers == nil {
				return nil, fmt.Errorf("there is no MCP server for the tool %s", names[0])
			}
			describe = t.servers.Specs
		}
		more, err := describe(names[:n])
		if err != nil {
			return nil, err
		}
		specs, names = append(specs, more...), names[n:]
	}
	return specs, nil
}

// Call implements runner.Tools.
func (t *toolset) Call(ctx context.Context, name string, args json.RawMessage) (runner.ToolResult, error) {
	if mcp.Is(name) && t.servers != nil {
		return t.servers.Call(ctx, name, args)
	}
	return t.Tools.Call(ctx, name, args)
}

// Close ends the servers and lets go of the worktree.
func (t *toolset) Close() error {
	if t.servers != nil {
		t.servers.Close()
	}
	return t.Tools.Close()
}
