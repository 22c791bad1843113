package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-ci/pawl/runner/host/sandbox"
)

// TestMain lets the test binary play the servers that the tests start.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "play" {
		play(os.Args[2])
	}
	os.Exit(m.Run())
}

func play(part string) {
	switch part {
	case "server":
		if err := newServer().Run(context.Background(), &sdk.StdioTransport{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	case "broken":
		fmt.Fprintln(os.Stderr, "cannot find my configuration")
		os.Exit(3)
	case "babble":
		fmt.Println("this is no JSON-RPC")
		_, _ = os.Stdin.Read(make([]byte, 1))
	case "silent":
		for { // until killed
			if _, err := os.Stdin.Read(make([]byte, 1<<10)); err != nil {
				return
			}
		}
	}
	os.Exit(0)
}

type echoArgs struct {
	Text string `json:"text" jsonschema:"what to say"`
}

// newServer is a server with tools of all kinds.
func newServer() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	say := func(text string, isError bool) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}, IsError: isError}, nil, nil
	}
	sdk.AddTool(s, &sdk.Tool{Name: "echo", Description: "Says\u202e what it is told.", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}},
		func(_ context.Context, _ *sdk.CallToolRequest, a echoArgs) (*sdk.CallToolResult, any, error) {
			return say("echo: "+a.Text, false)
		})
	sdk.AddTool(s, &sdk.Tool{Name: "issues.list"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		return say("two issues", false)
	})
	sdk.AddTool(s, &sdk.Tool{Name: "fail"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		return say("no such issue", true)
	})
	sdk.AddTool(s, &sdk.Tool{Name: "flood"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		var b strings.Builder
		for i := range 200_000 {
			fmt.Fprintf(&b, "line %d\n", i)
		}
		return say(b.String(), false)
	})
	sdk.AddTool(s, &sdk.Tool{Name: "hang"}, func(ctx context.Context, _ *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		<-ctx.Done()
		return nil, nil, ctx.Err()
	})
	sdk.AddTool(s, &sdk.Tool{Name: "die"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		fmt.Fprintln(os.Stderr, "out of memory")
		os.Exit(9)
		return nil, nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "env"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		return say(strings.Join(os.Environ(), "\n"), false)
	})
	sdk.AddTool(s, &sdk.Tool{Name: "picture"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.ImageContent{Data: []byte("12345"), MIMEType: "image/png"}, &sdk.TextContent{Text: "see above"}}}, nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "numbers"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, map[string]int, error) {
		return nil, map[string]int{"n": 7}, nil
	})
	return s
}

// playing is a server that the test binary plays.
func playing(t *testing.T, name, part string) Server {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Server{Name: name, Transport: "stdio", Command: self, Args: []string{"play", part}, Env: []string{"OWN=1"}}
}

func newServers(t *testing.T, change func(*Config), servers ...Server) *Servers {
	t.Helper()
	cfg := Config{Servers: servers, Version: "test", Dir: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")}, RunID: "mcp-test"}
	if change != nil {
		change(&cfg)
	}
	s := New(cfg)
	t.Cleanup(s.Close)
	return s
}

// transports are the same server behind each of them.
func transports(t *testing.T) map[string]Server {
	t.Helper()
	server := newServer()
	stream := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	t.Cleanup(stream.Close)
	sse := httptest.NewServer(sdk.NewSSEHandler(func(*http.Request) *sdk.Server { return server }, nil))
	t.Cleanup(func() { sse.CloseClientConnections(); sse.Close() })
	return map[string]Server{
		"stdio": playing(t, "s", "server"),
		"http":  {Name: "s", Transport: "http", URL: stream.URL},
		"sse":   {Name: "s", Transport: "sse", URL: sse.URL},
	}
}

func TestToolsOfEveryTransport(t *testing.T) {
	t.Parallel()
	for transport, server := range transports(t) {
		t.Run(transport, func(t *testing.T) {
			s := newServers(t, nil, server)
			if err := s.Check(t.Context(), []string{"s"}); err != nil {
				t.Fatal(err)
			}
			specs, err := s.Specs([]string{"mcp.s.echo", "mcp.s.*", "mcp.s"})
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, spec := range specs {
				names = append(names, spec.Name)
				if spec.Writes == (spec.Name == "mcp__s__echo") {
					t.Errorf("%s: writes is %v", spec.Name, spec.Writes)
				}
				if !json.Valid(spec.Parameters) || !strings.Contains(string(spec.Parameters), `"type":"object"`) {
					t.Errorf("%s: parameters %s", spec.Name, spec.Parameters)
				}
			}
			if names[0] != "mcp__s__echo" || len(names) != 9 {
				t.Errorf("tools %v", names)
			}
			if specs[0].Description != "Says[U+202E] what it is told." && specs[0].Description != "Says what it is told." || !strings.Contains(string(specs[0].Parameters), `"what to say"`) {
				t.Errorf("echo is described as %q with %s", specs[0].Description, specs[0].Parameters)
			}
			for _, c := range []struct {
				name, args, text string
				failed           bool
			}{
				{"mcp__s__echo", `{"text":"hello"}`, "echo: hello", false},
				{"mcp.s.echo", `{"text":"hello"}`, "echo: hello", false},
				{names[slices.IndexFunc(names, func(n string) bool { return strings.Contains(n, "issues") })], ``, "two issues", false},
				{"mcp__s__fail", `{}`, "no such issue", true},
				{"mcp__s__picture", `{}`, "[an image of 5 bytes (image/png) was left out]\nsee above", false},
				{"mcp__s__numbers", `{}`, `{"n":7}`, false},
			} {
				r, err := s.Call(t.Context(), c.name, json.RawMessage(c.args))
				if err != nil || r.Text != c.text || r.Error != c.failed || r.Summary == "" {
					t.Errorf("%s: %+v, %v", c.name, r, err)
				}
			}
			r, err := s.Call(t.Context(), "mcp__s__flood", nil)
			if err != nil || len(r.Text) > maxResult+200 || len(r.Text) < maxResult/2 {
				t.Errorf("a flood leaves %d bytes, %v", len(r.Text), err)
			}
			if r, err := s.Call(t.Context(), "mcp__s__echo", json.RawMessage(`{"text":1}`)); err != nil || !r.Error {
				t.Errorf("bad arguments: %+v, %v", r, err)
			}
		})
	}
}

func TestAServerGetsTheGivenEnvironmentAlone(t *testing.T) {
	t.Setenv("PAWL_TEST_SECRET", "x")
	s := newServers(t, nil, playing(t, "s", "server"))
	r, err := s.Call(t.Context(), "mcp.s.env", nil)
	text := regexp.MustCompile(`(?m)^(PAWL_COMMAND_ID|PATH)=.*\n?`).ReplaceAllString(r.Text, "")
	if err != nil || strings.TrimSpace(text) != "OWN=1\nPAWL_RUN_ID=mcp-test" {
		t.Errorf("the environment is %q, %v", text, err)
	}
}

func TestAServerThatDiesIsStartedAgainByTheNextCall(t *testing.T) {
	t.Parallel()
	s := newServers(t, nil, playing(t, "s", "server"))
	for range 2 {
		r, err := s.Call(t.Context(), "mcp.s.die", nil)
		if err != nil || !r.Error || !strings.Contains(r.Text, "it has ended") || !strings.Contains(r.Text, "out of memory") {
			t.Errorf("death: %+v, %v", r, err)
		}
		if r, err := s.Call(t.Context(), "mcp.s.echo", json.RawMessage(`{"text":"a"}`)); err != nil || r.Text != "echo: a" {
			t.Errorf("after it: %+v, %v", r, err)
		}
	}
}

func TestACallHasAnEnd(t *testing.T) {
	t.Parallel()
	s := newServers(t, func(c *Config) { c.Call = 50 * time.Millisecond }, playing(t, "s", "server"))
	if err := s.Check(t.Context(), []string{"s"}); err != nil {
		t.Fatal(err)
	}
	r, err := s.Call(t.Context(), "mcp.s.hang", nil)
	if err != nil || !r.Error || r.Text != "the tool did not answer within 50ms" {
		t.Errorf("got %+v, %v", r, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Call(ctx, "mcp.s.hang", nil); err == nil {
		t.Error("a cancelled call is no error")
	}
}

func TestServersThatCannotBeReached(t *testing.T) {
	t.Parallel()
	quick := func(c *Config) { c.Start = 300 * time.Millisecond }
	gone := httptest.NewServer(http.NotFoundHandler())
	defer gone.Close()
	for name, c := range map[string]struct {
		server Server
		want   string
	}{
		"not there":  {Server{Name: "s", Transport: "stdio", Command: "no-such-program"}, `there is no program "no-such-program"`},
		"broken":     {playing(t, "s", "broken"), "it printed: cannot find my configuration"},
		"babble":     {playing(t, "s", "babble"), "MCP server s: "},
		"silent":     {playing(t, "s", "silent"), "it did not answer within 300ms"},
		"wrong path": {Server{Name: "s", Transport: "http", URL: gone.URL}, "MCP server s at " + gone.URL},
		"nobody":     {Server{Name: "s", Transport: "sse", URL: "http://127.0.0.1:9/"}, "MCP server s at http://127.0.0.1:9/"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServers(t, quick, c.server)
			if err := s.Check(t.Context(), []string{"s"}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q in it", err, c.want)
			}
		})
	}
}

func TestNamesThatMeanNothing(t *testing.T) {
	t.Parallel()
	s := newServers(t, nil, playing(t, "github", "server"))
	for _, c := range []struct{ name, want string }{
		{"mcp.githb.echo", `there is no MCP server "githb"`},
		{"mcp.github.ehco", `MCP server github has no tool "ehco"`},
		{"mcp.github.nothing*", `has no tool "nothing*"`},
		{"mcp.", `there is no MCP server ""`},
	} {
		if _, err := s.Specs([]string{c.name}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if r, err := s.Call(t.Context(), "mcp.githb.echo", nil); err != nil || !r.Error {
		t.Errorf("call: %+v, %v", r, err)
	}
	if err := s.Check(t.Context(), []string{"other"}); err == nil {
		t.Error("an unknown server is fine")
	}
}

func TestNothingIsLeftBehind(t *testing.T) {
	t.Parallel()
	s := newServers(t, nil, playing(t, "s", "server"))
	if err := s.Check(t.Context(), []string{"s"}); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if n, err := sandbox.Reap("mcp-test-none"); n != 0 && err == nil {
		t.Errorf("reaped %d", n)
	}
	if _, err := s.Specs([]string{"mcp.s.echo"}); err == nil || !strings.Contains(err.Error(), "the run has ended") {
		t.Errorf("a closed server answers: %v", err)
	}
}

func TestHeadersAreSent(t *testing.T) {
	t.Parallel()
	var seen string
	server := newServer()
	handler := sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server { seen = r.Header.Get("Authorization"); return server }, nil)
	web := httptest.NewServer(handler)
	defer web.Close()
	s := newServers(t, nil, Server{Name: "s", Transport: "http", URL: web.URL, Headers: map[string]string{"Authorization": "Bearer k"}})
	if err := s.Check(t.Context(), []string{"s"}); err != nil || seen != "Bearer k" {
		t.Errorf("sent %q, %v", seen, err)
	}
}

func TestCallableNamesStayApart(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long_", 30)
	seen := map[string]string{}
	for _, tool := range []string{"a", "a.b", "a_b", "a b", "ä", long + "1", long + "2"} {
		name := callable("s", tool)
		if other, taken := seen[name]; taken || !regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`).MatchString(name) {
			t.Errorf("%q is called %q, as is %q", tool, name, other)
		}
		seen[name] = tool
	}
}

func TestParameters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{`{"type":"object","$schema":"x","properties":{"b":{"type":"string"},"a":{}}}`, `{"properties":{"a":{},"b":{"type":"string"}},"type":"object"}`},
		{`{"properties":{}}`, `{"properties":{},"type":"object"}`},
		{`{"type":"string"}`, `{"type":"object"}`},
		{`[]`, `{"type":"object"}`},
		{`null`, `{"type":"object"}`},
		{`{"type":"object","description":"` + strings.Repeat("x", maxSchema) + `"}`, `{"type":"object"}`},
	} {
		var in any
		if err := json.Unmarshal([]byte(c.in), &in); err != nil {
			t.Fatal(err)
		}
		if got := string(parameters(in)); got != c.want {
			t.Errorf("%.60s: %.80s, want %s", c.in, got, c.want)
		}
	}
}
