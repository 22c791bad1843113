package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-ci/pawl/report/words"
	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/host/sandbox"
)

// client is the connection to one server, made when it is needed and again when
// it broke.
type client struct {
	cfg    *Config
	server *Server

	mu      sync.Mutex
	session *mcp.ClientSession
	process *sandbox.Live           // of a stdio server
	end     context.CancelCauseFunc // of the session
	tools   []*mcp.Tool
	closed  bool
}

// maxTools is how many tools of a server are offered; more would fill a prompt.
const maxTools = 128

// maxMessage is the size in bytes above which a message of a server is refused.
const maxMessage = 16 << 20

// list connects and returns the server's tools, in its order.
func (c *client) list(ctx context.Context) ([]*mcp.Tool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.connect(ctx); err != nil {
		return nil, err
	}
	return c.tools, nil
}

// connect makes sure that there is a session. The caller holds the lock.
func (c *client) connect(ctx context.Context) error {
	if c.closed {
		return fmt.Errorf("MCP server %s: the run has ended", c.server.Name)
	}
	if c.session != nil {
		return nil
	}
	transport, err := c.transport()
	if err != nil {
		return fmt.Errorf("MCP server %s: %w", c.server.Name, err)
	}
	// A transport may keep the context for as long as the session lasts. So it gets
	// one of its own, which ends early only while the session is being opened.
	lasting, end := context.WithCancelCause(context.WithoutCancel(ctx))
	c.end = end
	late := time.AfterFunc(c.cfg.Start, func() { end(errLate) })
	stop := context.AfterFunc(ctx, func() { end(context.Cause(ctx)) })
	err = c.open(lasting, transport)
	if late.Stop() && stop() && err == nil {
		return nil
	}
	if err == nil {
		err = context.Cause(lasting)
	}
	err = c.explain(lasting, err)
	c.drop()
	return err
}

// errLate ends the opening of a session.
var errLate = errors.New("too late")

func (c *client) open(ctx context.Context, transport mcp.Transport) (err error) {
	sdk := mcp.NewClient(&mcp.Implementation{Name: "pawl", Version: c.cfg.Version}, nil)
	if c.session, err = sdk.Connect(ctx, transport, nil); err != nil {
		return err
	}
	c.tools = nil
	for t, err := range c.session.Tools(ctx, nil) {
		if err != nil {
			return fmt.Errorf("list its tools: %w", err)
		}
		if c.tools = append(c.tools, t); len(c.tools) == maxTools {
			break
		}
	}
	return nil
}

func (c *client) transport() (mcp.Transport, error) {
	switch c.server.Transport {
	case "http":
		return &mcp.StreamableClientTransport{Endpoint: c.server.URL, HTTPClient: c.http(), DisableStandaloneSSE: true}, nil
	case "sse":
		return &mcp.SSEClientTransport{Endpoint: c.server.URL, HTTPClient: c.http()}, nil
	}
	spec := sandbox.Spec{
		Argv: append([]string{c.server.Command}, c.server.Args...), Dir: c.cfg.Dir,
		Env: append(append([]string(nil), c.cfg.Env...), c.server.Env...), RunID: c.cfg.RunID,
	}
	if c.cfg.Confine != nil {
		policy := *c.cfg.Confine
		policy.Network = true // most servers are the way to somewhere else
		spec.Confine = &policy
	}
	var err error
	if c.process, err = sandbox.Start(spec); err != nil {
		return nil, err
	}
	return &mcp.IOTransport{Reader: c.process.Stdout, Writer: c.process.Stdin, MaxLineLength: maxMessage}, nil
}

// http adds the server's headers to each request.
func (c *client) http() *http.Client {
	if len(c.server.Headers) == 0 {
		return c.cfg.HTTP
	}
	own := *c.cfg.HTTP
	own.Transport = headers{c.server.Headers, c.cfg.HTTP.Transport}
	return &own
}

type headers struct {
	set  map[string]string
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (h headers) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range h.set {
		r.Header.Set(name, value)
	}
	next := h.next
	if next == nil {
		next = http.DefaultTransport
	}
	return next.RoundTrip(r)
}

// explain says what went wrong with the connection, and what the server printed
// about it.
func (c *client) explain(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errLate) {
		err = fmt.Errorf("it did not answer within %s", c.cfg.Start)
	}
	if c.process == nil {
		return fmt.Errorf("MCP server %s at %s: %w", c.server.Name, c.server.URL, err)
	}
	c.process.Stop()
	said := words.OneLine(c.process.Errors())
	if said == "" {
		return fmt.Errorf("MCP server %s: %w", c.server.Name, err)
	}
	return fmt.Errorf("MCP server %s: %w; it printed: %s", c.server.Name, err, words.Clip(said, 300))
}

// call runs a tool. A session that turns out to be over is dropped, so that the
// next call begins a new one; this call is not made twice, because nobody knows
// how far it came.
func (c *client) call(ctx context.Context, tool string, args json.RawMessage) (runner.ToolResult, error) {
	c.mu.Lock()
	err := c.connect(ctx)
	session := c.session
	c.mu.Unlock()
	if err != nil {
		return runner.ToolResult{}, err
	}
	var arguments any = map[string]any{}
	if len(strings.TrimSpace(string(args))) > 0 {
		if err := json.Unmarshal(args, &arguments); err != nil {
			return runner.ToolResult{}, fmt.Errorf("the arguments are not JSON: %w", err)
		}
	}
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return runner.ToolResult{}, c.broken(ctx, session, err)
	}
	return read(c.server.Name+"."+tool, result), nil
}

// broken drops the session when it is over, and says why.
func (c *client) broken(ctx context.Context, session *mcp.ClientSession, err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	ended := errors.Is(err, mcp.ErrConnectionClosed) || errors.Is(err, io.EOF)
	if c.process != nil {
		select {
		case <-c.process.Done():
			ended = true
		default:
		}
	}
	if !ended || c.session != session {
		return fmt.Errorf("MCP server %s: %w", c.server.Name, err)
	}
	err = c.explain(ctx, fmt.Errorf("it has ended: %w", err))
	c.drop()
	return err
}

// drop ends the session and the process behind it. The caller holds the lock.
func (c *client) drop() {
	if c.session != nil {
		_ = c.session.Close() // it is over one way or the other
	}
	if c.end != nil {
		c.end(mcp.ErrConnectionClosed)
	}
	if c.process != nil {
		c.process.Stop()
	}
	c.session, c.process = nil, nil
}

func (c *client) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.drop()
}
