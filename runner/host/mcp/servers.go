package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/host/sandbox/confine"
	"github.com/pawl-ci/pawl/runner/lang/diag"
)

// Server is one server, ready to be reached.
type Server struct {
	Name      string
	Transport string // stdio, http (streamable) or sse
	Command   string // of stdio: a program in PATH, or a path
	Args      []string
	Env       []string          // of stdio: NAME=value, on top of Config.Env
	URL       string            // of http and sse
	Headers   map[string]string // of http and sse
}

// Config says which servers there are and how they run.
type Config struct {
	Servers []Server
	Version string // of pawl, which servers are told
	Dir     string // working directory of stdio servers, absolute
	Env     []string
	RunID   string          // as in sandbox.Spec
	Confine *confine.Policy // as in sandbox.Spec; servers may use the network all the same
	// Start bounds how long a server may take until its tools are known, Call how
	// long one of them may work. 0 is DefaultStart and DefaultCall.
	Start time.Duration
	Call  time.Duration
	HTTP  *http.Client // for http and sse; nil is a client without a proxy
}

// The defaults of [Config].
const (
	DefaultStart = 30 * time.Second
	DefaultCall  = 5 * time.Minute
)

// Servers are the tools of some servers. They may be used from many goroutines.
// A server is started when it is first asked for.
type Servers struct {
	cfg     Config
	clients map[string]*client
	mu      sync.Mutex
	calls   map[string]target // by the name a model calls
}

// target is a tool of a server.
type target struct{ server, tool string }

// New returns the tools of servers that have not been started yet. Close it after
// use.
func New(cfg Config) *Servers {
	if cfg.Start <= 0 {
		cfg.Start = DefaultStart
	}
	if cfg.Call <= 0 {
		cfg.Call = DefaultCall
	}
	if cfg.HTTP == nil {
		cfg.HTTP = &http.Client{Transport: &http.Transport{}}
	}
	s := &Servers{cfg: cfg, clients: make(map[string]*client), calls: make(map[string]target)}
	for i := range cfg.Servers {
		s.clients[cfg.Servers[i].Name] = &client{cfg: &s.cfg, server: &s.cfg.Servers[i]}
	}
	return s
}

// Close ends all connections, and the servers that were started for them.
func (s *Servers) Close() {
	var all sync.WaitGroup
	for _, c := range s.clients {
		all.Go(c.close)
	}
	all.Wait()
}

// Check starts the named servers and asks for their tools, all at once. The
// error names each that did not answer, and what it printed.
func (s *Servers) Check(ctx context.Context, names []string) error {
	problems := make([]error, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() {
			if c := s.clients[name]; c == nil {
				problems[i] = s.unknown(name)
			} else {
				_, problems[i] = c.list(ctx)
			}
		})
	}
	all.Wait()
	return errors.Join(problems...)
}

func (s *Servers) unknown(name string) error {
	var names []string
	for _, server := range s.cfg.Servers {
		names = append(names, server.Name)
	}
	return fmt.Errorf("there is no MCP server %q; %s", name, diag.Suggest(name, names))
}

// Is reports whether name is of an MCP tool, in a workflow's form or a model's.
func Is(name string) bool {
	return strings.HasPrefix(name, "mcp.") || strings.HasPrefix(name, "mcp__")
}

// Split takes a name of the form mcp.SERVER.TOOL, mcp.SERVER.* or mcp.SERVER
// apart; the last two mean all tools of the server, and tool is then "*".
func Split(name string) (server, tool string, ok bool) {
	rest, ok := strings.CutPrefix(name, "mcp.")
	if !ok {
		rest, ok = strings.CutPrefix(name, "mcp__")
		rest = strings.Replace(rest, "__", ".", 1)
	}
	if !ok {
		return "", "", false
	}
	server, tool, _ = strings.Cut(rest, ".")
	if tool == "" {
		tool = "*"
	}
	return server, tool, server != ""
}

// Specs describes the tools that the names mean (mcp.* those of all servers), each once, in the order of the
// names and, within a server, in its own. It starts servers that were not
// started, for at most Config.Start each. A tool that a server does not have is
// an error that says which it has.
func (s *Servers) Specs(names []string) ([]runner.ToolSpec, error) {
	var specs []runner.ToolSpec
	for _, name := range s.everywhere(names) {
		server, tool, ok := Split(name)
		c := s.clients[server]
		if !ok || c == nil {
			return nil, s.unknown(server)
		}
		// Describing has no context of its own; the connection outlives the request.
		all, err := c.list(context.Background())
		if err != nil {
			return nil, err
		}
		matched := false
		for _, t := range all {
			if !matches(tool, t.Name) {
				continue
			}
			matched = true
			spec := describe(server, t)
			if !slices.ContainsFunc(specs, func(o runner.ToolSpec) bool { return o.Name == spec.Name }) {
				specs = append(specs, spec)
			}
			s.remember(spec.Name, target{server, t.Name})
		}
		if !matched {
			return nil, fmt.Errorf("MCP server %s has no tool %q; %s", server, tool, diag.Suggest(tool, toolNames(all)))
		}
	}
	return specs, nil
}

// everywhere puts the names of all servers in the place of mcp.*.
func (s *Servers) everywhere(names []string) []string {
	var out []string
	for _, name := range names {
		if name != "mcp.*" {
			out = append(out, name)
			continue
		}
		for _, server := range s.cfg.Servers {
			out = append(out, "mcp."+server.Name+".*")
		}
	}
	return out
}

// matches: a name may end in a wildcard.
func matches(pattern, name string) bool {
	if beginning, wild := strings.CutSuffix(pattern, "*"); wild {
		return strings.HasPrefix(name, beginning)
	}
	return pattern == name
}

func toolNames(all []*mcp.Tool) []string {
	names := make([]string, len(all))
	for i, t := range all {
		names[i] = t.Name
	}
	return names
}

func (s *Servers) remember(name string, t target) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[name] = t
}

// Call runs a tool under the name that its spec has. What the tool cannot do is a
// result; a server that has ended is one as well, and is started again by the
// next call. The error is ctx's.
func (s *Servers) Call(ctx context.Context, name string, args json.RawMessage) (runner.ToolResult, error) {
	s.mu.Lock()
	t, known := s.calls[name]
	s.mu.Unlock()
	if !known {
		server, tool, ok := Split(name)
		if !ok || s.clients[server] == nil {
			return failed(name, s.unknown(server).Error()), nil
		}
		t = target{server, tool}
	}
	bounded, cancel := context.WithTimeout(ctx, s.cfg.Call)
	defer cancel()
	result, err := s.clients[t.server].call(bounded, t.tool, args)
	switch {
	case ctx.Err() != nil:
		return runner.ToolResult{}, fmt.Errorf("%s: %w", name, context.Cause(ctx))
	case bounded.Err() != nil:
		return failed(name, fmt.Sprintf("the tool did not answer within %s", s.cfg.Call)), nil
	case err != nil:
		return failed(name, err.Error()), nil
	}
	return result, nil
}
