package agent

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/host/sandbox"
	"github.com/pawl-ci/pawl/runner/host/sandbox/confine"
)

// Program is the usual name of a backend's program; "" when there is no such
// backend.
func Program(backend string) string {
	if p, known := protocolOf(backend); known {
		return p.program()
	}
	return ""
}

// Names are the backends that can be run, sorted.
func Names() []string { return []string{"claude_code", "codex"} }

// Config says how the programs run.
type Config struct {
	Dir      string            // the worktree, absolute, for requests that name none
	State    string            // a directory of pawl's own for what the programs keep, absolute
	Env      []string          // complete, see sandbox.Environment
	RunID    string            // as in sandbox.Spec
	Confine  *confine.Policy   // as in sandbox.Spec; the programs may use the network all the same
	Required bool              // as in sandbox.Spec
	Programs map[string]string // replaces the name of a backend's program
	// Key returns a key of the provider's for the backend's program, and "" when
	// the program is to use its own login.
	Key func(backend string) string
	// Login are variables, NAME=value, that a program with its own login gets.
	Login []string
	// Upstream replaces the provider's address, for tests and gateways; nil or ""
	// is the provider's own.
	Upstream func(backend string) string
}

// Backends runs agent CLIs. It may be used from many goroutines.
type Backends struct {
	cfg Config

	mu       sync.Mutex
	sessions map[[32]byte]string // by what was said before
	proxies  map[string]*proxy
}

// New returns the backends. Close them after use.
func New(cfg Config) *Backends {
	return &Backends{cfg: cfg, sessions: make(map[[32]byte]string), proxies: make(map[string]*proxy)}
}

// Close ends what was started beside the programs.
func (b *Backends) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.proxies {
		p.close()
	}
}

// protocol is how one program is talked to.
type protocol interface {
	// program is its usual name.
	program() string
	// arguments start it for a request, in a session that it knows or a new one.
	arguments(req *runner.ModelRequest, session string) []string
	// read takes one line of its output.
	read(line []byte, s *story)
	// environment is added: where it keeps things, and how it reaches its provider.
	environment(state string, p *proxy) []string
	// provider is where its requests go, and the header that carries a key.
	provider() (address, header string)
	// login are the places in a home that hold its own login.
	login() []string
}

// story is what a program has said so far.
type story struct {
	session string
	model   string
	text    string // the answer
	ended   bool   // it said that it is done
	problem string // why it could not do it
	usage   budget.Usage
	known   bool           // usage was reported
	cost    *budget.Micros // as it reports it
}

func protocolOf(backend string) (protocol, bool) {
	switch backend {
	case "claude_code", "claude":
		return claude{}, true
	case "codex":
		return codex{}, true
	}
	return nil, false
}

// Complete implements runner.Model for requests that name a backend.
func (b *Backends) Complete(ctx context.Context, req *runner.ModelRequest) (*runner.ModelResponse, error) {
	p, known := protocolOf(req.Backend)
	if !known {
		return nil, &runner.ModelError{Class: runner.BadRequest, Detail: fmt.Sprintf("there is no backend %q", req.Backend), Hint: "it is one of " + strings.Join(Names(), ", ")}
	}
	session, prompt := b.continued(req)
	s, failure := b.run(ctx, p, req, session, prompt)
	if failure != nil {
		return nil, failure
	}
	resp := &runner.ModelResponse{
		Model: cmp.Or(s.model, req.Model, req.Backend), Text: s.text, Finish: "stop", Usage: s.usage, UsageKnown: s.known, Cost: s.cost,
	}
	if req.Schema != nil {
		resp.Text, resp.Form = object(s.text), "prompt"
	}
	b.remember(req, s.session, resp.Text)
	return resp, nil
}

// run starts the program and reads it to its end.
func (b *Backends) run(ctx context.Context, p protocol, req *runner.ModelRequest, session, prompt string) (*story, *runner.ModelError) {
	spec, err := b.spec(p, req, session)
	if err != nil {
		return nil, &runner.ModelError{Class: runner.Unreachable, Detail: fmt.Sprintf("%s: %s", req.Backend, err), Err: err}
	}
	live, err := sandbox.Start(spec)
	if err != nil {
		return nil, &runner.ModelError{Class: runner.Unreachable, Detail: fmt.Sprintf("%s: %s", req.Backend, err), Hint: "install " + spec.Argv[0] + ", or ask a model directly", Err: err}
	}
	defer live.Stop()
	stop := context.AfterFunc(ctx, live.Stop)
	defer stop()
	go func() {
		_, _ = io.WriteString(live.Stdin, prompt) // a program that ends early says so itself
		_ = live.Stdin.Close()
	}()
	s := &story{}
	over := b.listen(live.Stdout, p, req, s)
	if over {
		live.Stop()
	}
	<-live.Done()
	return s, verdict(ctx, req, s, over, live.Errors())
}

// maxLine is the longest line of a program that is read, in bytes.
const maxLine = 16 << 20

// listen reads the program's output. It stops early when more was used than the
// request allows.
func (b *Backends) listen(out io.Reader, p protocol, req *runner.ModelRequest, s *story) (over bool) {
	lines := bufio.NewScanner(out)
	lines.Buffer(make([]byte, 64<<10), maxLine)
	for lines.Scan() {
		p.read(lines.Bytes(), s)
		if !s.ended && req.MaxTotal > 0 && s.usage.Input+s.usage.Output > req.MaxTotal {
			return true
		}
	}
	return false
}

// verdict is why there is no answer, or nil.
func verdict(ctx context.Context, req *runner.ModelRequest, s *story, over bool, printed string) *runner.ModelError {
	e := &runner.ModelError{InDoubt: true, Usage: s.usage, UsageKnown: s.known}
	switch {
	case ctx.Err() != nil:
		e.Class, e.Detail, e.Err = runner.NoAnswer, req.Backend+": interrupted: "+ctx.Err().Error(), ctx.Err()
	case over:
		e.Class, e.Limit = runner.BadRequest, "max_tokens"
		e.Detail = fmt.Sprintf("%s was ended: it had used %d tokens, and the run's limits left it %d", req.Backend, s.usage.Input+s.usage.Output, req.MaxTotal)
		e.Hint = "go on with a higher limit: pawl resume --max-tokens …"
	case s.problem != "":
		e.Class, e.Detail = runner.Server, req.Backend+": "+line(s.problem)
	case !s.ended:
		e.Class, e.Detail = runner.Server, req.Backend+" ended without an answer"
		if said := line(printed); said != "" {
			e.Detail += "; it printed: " + said
		}
	default:
		return nil
	}
	return e
}

// line is text on one line, not longer than can be read.
func line(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "�")), " ")
	if len(text) > 400 {
		text = strings.ToValidUTF8(text[:400], "") + "…"
	}
	return text
}

// spec is the process of one request.
func (b *Backends) spec(p protocol, req *runner.ModelRequest, session string) (sandbox.Spec, error) {
	via, err := b.proxy(req.Backend, p)
	if err != nil {
		return sandbox.Spec{}, err
	}
	state := filepath.Join(b.cfg.State, req.Backend)
	spec := sandbox.Spec{
		Argv: append([]string{cmp.Or(b.cfg.Programs[req.Backend], p.program())}, p.arguments(req, session)...),
		Dir:  cmp.Or(req.Dir, b.cfg.Dir), Env: append(slices.Clone(b.cfg.Env), p.environment(state, via)...),
		RunID: b.cfg.RunID, Required: b.cfg.Required,
	}
	if via == nil {
		spec.Env = append(spec.Env, b.cfg.Login...)
	}
	if b.cfg.Confine != nil {
		spec.Confine = b.policy(p, spec.Dir, state, via)
	}
	return spec, makeDir(state)
}

// policy adds what the program itself needs. Its own login is in reach of what
// the agent runs; a key given by pawl is not.
func (b *Backends) policy(p protocol, dir, state string, via *proxy) *confine.Policy {
	policy := *b.cfg.Confine
	policy.Network = true
	policy.Write = append(slices.Clone(policy.Write), dir, state)
	if home := confine.Variable(b.cfg.Env, "HOME"); via == nil && home != "" {
		for _, place := range p.login() {
			policy.Write = append(policy.Write, filepath.Join(home, place))
		}
	}
	return &policy
}

// proxy is what puts the backend's key in, or nil when it uses its own login.
func (b *Backends) proxy(backend string, p protocol) (*proxy, error) {
	if b.cfg.Key == nil || b.cfg.Key(backend) == "" {
		return nil, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.proxies[backend] == nil {
		address, header := p.provider()
		if b.cfg.Upstream != nil {
			address = cmp.Or(b.cfg.Upstream(backend), address)
		}
		made, err := newProxy(address, header, b.cfg.Key(backend))
		if err != nil {
			return nil, err
		}
		b.proxies[backend] = made
	}
	return b.proxies[backend], nil
}

// continued finds the program's own session for the conversation. When there is
// none, the whole conversation is the prompt.
func (b *Backends) continued(req *runner.ModelRequest) (session, prompt string) {
	last := len(req.Messages) - 1
	if last < 0 {
		return "", ""
	}
	b.mu.Lock()
	session = b.sessions[fingerprint(req.Backend, req.Messages[:last])]
	b.mu.Unlock()
	if session != "" {
		return session, req.Messages[last].Text + demand(req)
	}
	return "", told(req.Messages) + demand(req)
}

// remember keeps the session under what the next request will begin with.
func (b *Backends) remember(req *runner.ModelRequest, session, answer string) {
	if session == "" {
		return
	}
	said := append(slices.Clone(req.Messages), runner.Message{Role: runner.Assistant, Text: answer})
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sessions[fingerprint(req.Backend, said)] = session
}

func fingerprint(backend string, messages []runner.Message) [32]byte {
	h := sha256.New()
	enc := json.NewEncoder(h)
	_ = enc.Encode(backend) // a hash takes everything
	for _, m := range messages {
		_ = enc.Encode([]string{string(m.Role), strings.TrimSpace(m.Text)})
	}
	return [32]byte(h.Sum(nil))
}

// told is a conversation as one text; the system's words go another way.
func told(messages []runner.Message) string {
	messages = slices.DeleteFunc(slices.Clone(messages), func(m runner.Message) bool { return m.Role == runner.System })
	if len(messages) == 1 {
		return messages[0].Text
	}
	var b strings.Builder
	b.WriteString("This conversation is being continued. What was said so far, and then what is asked of you now:\n")
	for i, m := range messages {
		who := "They said"
		if m.Role == runner.Assistant {
			who = "You answered"
		}
		if i == len(messages)-1 {
			who = "Now"
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", who, m.Text)
	}
	return b.String()
}

// demand says in which form the answer is wanted.
func demand(req *runner.ModelRequest) string {
	if req.Schema == nil {
		return ""
	}
	return "\n\nWhen you are done, give your final answer as one JSON object and nothing else. It must fit this JSON schema:\n" + string(req.Schema)
}

func system(req *runner.ModelRequest) string {
	var parts []string
	for _, m := range req.Messages {
		if m.Role == runner.System {
			parts = append(parts, m.Text)
		}
	}
	return strings.Join(parts, "\n\n")
}

// object finds the JSON object in an answer: programs wrap theirs in words and
// fences. What holds none is returned as it is.
func object(text string) string {
	text = strings.TrimSpace(text)
	if json.Valid([]byte(text)) {
		return text
	}
	best := ""
	for i := strings.IndexByte(text, '{'); i >= 0; {
		var raw json.RawMessage
		if json.NewDecoder(strings.NewReader(text[i:])).Decode(&raw) == nil && len(raw) > len(best) {
			best = string(raw)
		}
		next := strings.IndexByte(text[i+max(len(raw), 1):], '{')
		if next < 0 {
			break
		}
		i += max(len(raw), 1) + next
	}
	return cmp.Or(best, text)
}

// plainModel is the name that a program knows a model by.
func plainModel(name string) string {
	if _, rest, ok := strings.Cut(name, "/"); ok {
		return rest
	}
	return name
}
