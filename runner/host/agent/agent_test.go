package agent

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/host/sandbox/confine"
)

// TestMain lets the test binary play the programs: under their names it speaks
// their protocols and notes how it was called.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "claude":
		playClaude()
	case "codex":
		playCodex()
	}
	os.Exit(m.Run())
}

// called is how a program was started.
type called struct {
	Args   []string
	Prompt string
	Dir    string
	Key    string
	Seen   string // what the provider said
}

func note() called {
	prompt, _ := io.ReadAll(os.Stdin)
	dir, _ := os.Getwd()
	c := called{Args: os.Args[1:], Prompt: string(prompt), Dir: dir, Key: os.Getenv("ANTHROPIC_API_KEY") + os.Getenv("CODEX_API_KEY")}
	if base := os.Getenv("ANTHROPIC_BASE_URL") + os.Getenv("OPENAI_BASE_URL"); base != "" {
		r, _ := http.NewRequest("POST", base+"/messages", nil)
		r.Header.Set("X-Api-Key", c.Key)
		if resp, err := http.DefaultClient.Do(r); err == nil {
			body, _ := io.ReadAll(resp.Body)
			c.Seen = string(body)
		}
	}
	raw, _ := json.Marshal(c)
	f, err := os.OpenFile("calls.jsonl", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, _ = f.Write(append(raw, '\n'))
		_ = f.Close()
	}
	return c
}

func playClaude() {
	c := note()
	say := func(line string) { fmt.Println(line) }
	say(`{"type":"system","subtype":"init","session_id":"s-1","model":"claude-test","tools":["Read"]}`)
	say(`{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"working"}],"usage":{"input_tokens":10,"cache_read_input_tokens":90,"output_tokens":5}},"session_id":"s-1"}`)
	switch {
	case strings.Contains(c.Prompt, "crash"):
		fmt.Fprintln(os.Stderr, "Error: cannot reach the API")
		os.Exit(1)
	case strings.Contains(c.Prompt, "spend"):
		for {
			say(`{"type":"assistant","message":{"usage":{"input_tokens":1000,"output_tokens":1000}}}`)
			time.Sleep(time.Millisecond) // until it is ended
		}
	case strings.Contains(c.Prompt, "too many"):
		say(`{"type":"result","subtype":"error_max_turns","is_error":true,"num_turns":3,"session_id":"s-1","total_cost_usd":0.25,"usage":{"input_tokens":10,"output_tokens":20}}`)
	case strings.Contains(c.Prompt, "hang"):
		select {}
	default:
		_ = os.WriteFile("made.txt", []byte("made\n"), 0o600)
		say(`{"type":"result","subtype":"success","is_error":false,"result":"Here it is:\n` + "```json\\n" + `{\"ok\": true}\n` + "```" + `","session_id":"s-2","total_cost_usd":0.0123,"usage":{"input_tokens":20,"cache_creation_input_tokens":30,"cache_read_input_tokens":150,"output_tokens":40}}`)
	}
	os.Exit(0)
}

func playCodex() {
	c := note()
	fmt.Println(`{"type":"thread.started","thread_id":"t-1"}`)
	fmt.Println(`{"type":"turn.started"}`)
	if strings.Contains(c.Prompt, "fail") {
		fmt.Println(`{"type":"turn.failed","error":{"message":"stream disconnected"}}`)
		os.Exit(1)
	}
	fmt.Println(`{"type":"item.completed","item":{"id":"i0","type":"command_execution","command":"ls"}}`)
	fmt.Println(`{"type":"item.completed","item":{"id":"i1","type":"agent_message","text":"{\"ok\":false}"}}`)
	fmt.Println(`{"type":"turn.completed","usage":{"input_tokens":300,"cached_input_tokens":200,"output_tokens":50}}`)
	os.Exit(0)
}

// stage is a worktree with backends whose programs the test binary plays.
type stage struct {
	*Backends
	dir string
}

func newStage(t *testing.T, change func(*Config)) *stage {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	top := t.TempDir()
	s := &stage{dir: filepath.Join(top, "work")}
	cfg := Config{Dir: s.dir, State: filepath.Join(top, "state"), Env: []string{"PATH=" + top, "HOME=" + top}, RunID: "agent-test"}
	for _, program := range []string{"claude", "codex"} {
		if err := os.Symlink(self, filepath.Join(top, program)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&cfg)
	}
	s.Backends = New(cfg)
	t.Cleanup(s.Close)
	return s
}

func (s *stage) calls(t *testing.T) []called {
	t.Helper()
	f, err := os.Open(filepath.Join(s.dir, "calls.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []called
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var c called
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

func asking(backend, prompt string) *runner.ModelRequest {
	return &runner.ModelRequest{
		Backend: backend, Model: "anthropic/claude-x", Messages: []runner.Message{{Role: runner.System, Text: "be brief"}, {Role: runner.User, Text: prompt}},
		Schema: json.RawMessage(`{"type":"object"}`), MaxSteps: 7, BackendTools: []string{"read_file", "run_command", "WebFetch"},
	}
}

func value(args []string, flag string) string {
	if i := slices.Index(args, flag); i >= 0 && i+1 < len(args) {
		return args[i+1]
	}
	return ""
}

func TestClaude(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	resp, err := s.Complete(t.Context(), asking("claude_code", "do it"))
	if err != nil {
		t.Fatal(err)
	}
	if resp.Text != `{"ok": true}` || resp.Model != "claude-test" || !resp.UsageKnown || resp.Usage.Input != 200 || resp.Usage.Cached != 150 || resp.Usage.Output != 40 || resp.Cost == nil || *resp.Cost != 12300 {
		t.Errorf("got %+v, cost %v", resp, resp.Cost)
	}
	c := s.calls(t)[0]
	for flag, want := range map[string]string{
		"--model": "claude-x", "--append-system-prompt": "be brief", "--max-turns": "7", "--output-format": "stream-json",
		"--permission-mode": "acceptEdits", "--allowedTools": "Read,Bash,WebFetch",
	} {
		if got := value(c.Args, flag); got != want {
			t.Errorf("%s is %q, want %q", flag, got, want)
		}
	}
	if !strings.HasPrefix(c.Prompt, "do it\n\n") || !strings.Contains(c.Prompt, `{"type":"object"}`) || c.Dir != s.dir || c.Key != "" {
		t.Errorf("called with %+v", c)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "made.txt")); err != nil {
		t.Error(err)
	}
}

func TestCodex(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	req := asking("codex", "do it")
	req.Model, req.Effort, req.Readonly = "openai/gpt-x", "extra_high", true
	resp, err := s.Complete(t.Context(), req)
	if err != nil || resp.Text != `{"ok":false}` || resp.Usage.Input != 300 || resp.Usage.Cached != 200 || resp.Usage.Output != 50 || resp.Cost != nil {
		t.Fatalf("got %+v, %v", resp, err)
	}
	c := s.calls(t)[0]
	want := []string{"exec", "--json", "--skip-git-repo-check", "--model", "gpt-x", "--sandbox", "read-only", "-c", `model_reasoning_effort="xhigh"`, "-c", `developer_instructions="be brief"`, "-"}
	if !slices.Equal(c.Args, want) {
		t.Errorf("called with %q", c.Args)
	}
}

func TestAConversationGoesOnInTheProgramsSession(t *testing.T) {
	t.Parallel()
	for backend, session := range map[string][]string{"claude_code": {"--resume", "s-2"}, "codex": {"resume", "t-1"}} {
		s := newStage(t, nil)
		req := asking(backend, "do it")
		first, err := s.Complete(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		req.Messages = append(req.Messages, runner.Message{Role: runner.Assistant, Text: first.Text}, runner.Message{Role: runner.User, Text: "again, better"})
		if _, err := s.Complete(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		c := s.calls(t)[1]
		if value(c.Args, session[0]) != session[1] || strings.Contains(c.Prompt, "do it") || !strings.HasPrefix(c.Prompt, "again, better") {
			t.Errorf("%s went on with %q: %q", backend, c.Args, c.Prompt)
		}
		// Another process has no session: everything is told again.
		other := newStage(t, nil)
		if _, err := other.Complete(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		c = other.calls(t)[0]
		if value(c.Args, session[0]) != "" || !strings.Contains(c.Prompt, "## They said\n\ndo it") || !strings.Contains(c.Prompt, "## Now\n\nagain, better") {
			t.Errorf("%s began with %q: %q", backend, c.Args, c.Prompt)
		}
	}
}

func TestAProgramThatFails(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	for _, c := range []struct {
		backend, prompt, want string
		used                  int64
	}{
		{"claude_code", "crash", "claude_code ended without an answer; it printed: Error: cannot reach the API", 105},
		{"claude_code", "too many", "claude_code: error max turns", 30},
		{"codex", "fail", "codex: stream disconnected", 0},
	} {
		_, err := s.Complete(t.Context(), asking(c.backend, c.prompt))
		var failure *runner.ModelError
		if !errors.As(err, &failure) || failure.Detail != c.want || !failure.InDoubt || failure.Retryable || failure.Usage.Input+failure.Usage.Output != c.used || failure.UsageKnown != (c.used > 0) {
			t.Errorf("%s: %v (%+v)", c.prompt, err, failure)
		}
	}
	for _, backend := range []string{"gemini", ""} {
		if _, err := s.Complete(t.Context(), asking(backend, "x")); err == nil || !strings.Contains(err.Error(), "there is no backend") {
			t.Errorf("backend %q: %v", backend, err)
		}
	}
	missing := newStage(t, func(c *Config) { c.Programs = map[string]string{"codex": "no-such-codex"} })
	var failure *runner.ModelError
	if _, err := missing.Complete(t.Context(), asking("codex", "x")); !errors.As(err, &failure) || failure.Class != runner.Unreachable || !strings.Contains(failure.Hint, "install no-such-codex") {
		t.Errorf("a program that is not there: %v", err)
	}
}

func TestAProgramThatUsesTooMuchIsEnded(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	req := asking("claude_code", "spend")
	req.MaxTotal = 5000
	_, err := s.Complete(t.Context(), req)
	var failure *runner.ModelError
	if !errors.As(err, &failure) || !strings.Contains(failure.Detail, "the run's limits left it 5000") || failure.Usage.Input+failure.Usage.Output <= 5000 || failure.Usage.Input+failure.Usage.Output > 9000 {
		t.Errorf("got %v, %+v", err, failure)
	}
}

func TestAProgramIsEndedWithItsContext(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := s.Complete(ctx, asking("claude_code", "hang")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// The program gets a word; the provider gets the key; nobody else is served.
func TestTheKeyStaysWithTheProxy(t *testing.T) {
	t.Parallel()
	for backend, header := range map[string]string{"claude_code": "X-Api-Key", "codex": "Authorization"} {
		var key, path string
		provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			key, path = r.Header.Get(header), r.URL.Path
			_, _ = io.WriteString(w, "the provider")
		}))
		defer provider.Close()
		s := newStage(t, func(c *Config) {
			c.Key = func(string) string { return "the-real-key" }
			c.Upstream = func(string) string { return provider.URL }
			policy := confine.Usual(c.Env, c.Dir)
			c.Confine = &policy
		})
		if _, err := s.Complete(t.Context(), asking(backend, "do it")); err != nil {
			t.Fatal(err)
		}
		c := s.calls(t)[0]
		if c.Seen != "the provider" || !strings.HasSuffix(key, "the-real-key") || !strings.HasSuffix(path, "/messages") {
			t.Errorf("%s: the provider saw %q at %s, the program %q", backend, key, path, c.Seen)
		}
		if !strings.Contains(c.Key, "pawl-") || strings.Contains(c.Key, "real") {
			t.Errorf("%s: the program has the key %q", backend, c.Key)
		}
		resp, err := http.Get(s.proxies[backend].address())
		if err != nil || resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: somebody else is served: %v %v", backend, resp, err)
		}
	}
}

func TestObject(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"a":1}`: `{"a":1}`, " {\"a\":1}\n": `{"a":1}`, "Sure:\n```json\n{\"a\": {\"b\":[1]}}\n```\nDone {not this}": `{"a": {"b":[1]}}`,
		"no object": "no object", "{broken": "{broken", `{"s":1} and the answer {"answer":"long enough"}`: `{"answer":"long enough"}`,
		`[1]`: `[1]`, "": "",
	} {
		if got := object(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"type":"result","usage":{"input_tokens":-1}}`))
	f.Add([]byte(`{"type":"turn.completed","usage":null}`))
	f.Fuzz(func(_ *testing.T, text []byte) {
		claude{}.read(text, &story{})
		codex{}.read(text, &story{})
		object(string(text))
	})
}
