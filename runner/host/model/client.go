package model

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/openai/openai-go"
	"github.com/openai/openai-go/option"

	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/redact"
)

// The defaults of [Config].
const (
	DefaultBaseURL     = "https://api.openai.com/v1"
	DefaultHTTPTimeout = 10 * time.Minute
	DefaultPatience    = time.Minute
	DefaultRetryWait   = 500 * time.Millisecond
	DefaultMaxBody     = 32 << 20
)

// Config describes an endpoint. Its zero value is OpenAI's, without a key.
type Config struct {
	BaseURL   string // up to and with /v1; "" is DefaultBaseURL
	APIKey    string // "" sends none
	KeyName   string // the variable that holds the key, for messages; "" is OPENAI_API_KEY
	KeyHeader string // carries the key; "" sends it as a bearer token
	// NoSchema says that the endpoint takes response_format and ignores it: answers
	// are given their form by a tool.
	NoSchema  bool
	Sizes     bool   // the server has Ollama's list of models beside the API
	UserAgent string // "" is "pawl"

	// HTTPTimeout bounds one attempt, from dialing to the last byte of the
	// answer; 0 is DefaultHTTPTimeout.
	HTTPTimeout time.Duration
	// Patience is how long one call may wait, in total, between attempts; 0 is
	// DefaultPatience, less than 0 makes one attempt only. A quarter of it is
	// spent on an endpoint that cannot be connected to.
	Patience time.Duration
	// RetryWait is the least time between attempts; it doubles each time. 0 is
	// DefaultRetryWait.
	RetryWait time.Duration
	// MaxBody bounds an answer in bytes; 0 is DefaultMaxBody.
	MaxBody int64

	// Proxy says through what to connect; nil connects directly.
	Proxy func(*http.Request) (*url.URL, error)
	// Prefixes are provider names that a model's name may begin with, as in
	// "openai/gpt-5", and that the endpoint does not know; nil is openai and
	// script.
	Prefixes []string
	// TraceHeaders sends X-Pawl-Run, -Node, -Visit and -Turn, on which a scripted
	// model matches. Leave it off for others: it tells them about the workflow.
	TraceHeaders bool
}

// Client is a runner.Model behind an OpenAI-compatible API. It may be used from
// many goroutines. Making one is cheap; nothing is set up before the first call.
type Client struct {
	cfg     Config
	host    string // for messages: without user, path and query
	secrets *redact.Redactor
	setup   func() endpoint
	forms   forms
}

var _ runner.Model = (*Client)(nil)

// endpoint is what the first call sets up.
type endpoint struct {
	chat openai.ChatCompletionService
	http *http.Client
	err  *runner.ModelError // the configuration cannot work
}

// New returns a client for the endpoint. A configuration that cannot work, such
// as a base URL that is none, is reported by the first call.
func New(cfg Config) *Client {
	c := &Client{cfg: cfg.withDefaults()}
	c.host = hostOf(c.cfg.BaseURL)
	c.secrets = redact.New([]string{c.cfg.APIKey})
	c.setup = sync.OnceValue(c.connect)
	return c
}

func (cfg Config) withDefaults() Config {
	cfg.BaseURL = strings.TrimRight(strings.TrimSpace(cfg.BaseURL), "/")
	if cfg.BaseURL == "" {
		cfg.BaseURL = DefaultBaseURL
	}
	cfg.APIKey = strings.TrimSpace(cfg.APIKey)
	if cfg.KeyName == "" {
		cfg.KeyName = "OPENAI_API_KEY"
	}
	if cfg.UserAgent == "" {
		cfg.UserAgent = "pawl"
	}
	if cfg.Prefixes == nil {
		cfg.Prefixes = []string{"openai", "script"}
	}
	cfg.HTTPTimeout = positive(cfg.HTTPTimeout, DefaultHTTPTimeout)
	cfg.RetryWait = positive(cfg.RetryWait, DefaultRetryWait)
	if cfg.Patience == 0 {
		cfg.Patience = DefaultPatience
	}
	if cfg.MaxBody <= 0 {
		cfg.MaxBody = DefaultMaxBody
	}
	return cfg
}

func positive(d, otherwise time.Duration) time.Duration {
	if d <= 0 {
		return otherwise
	}
	return d
}

func hostOf(base string) string {
	if u, err := url.Parse(base); err == nil && u.Host != "" {
		return u.Host
	}
	return "(no host)"
}

func (c *Client) connect() endpoint {
	e := endpoint{err: c.check()}
	e.http = &http.Client{
		Transport: &http.Transport{
			Proxy:                  c.cfg.Proxy,
			DialContext:            (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
			ForceAttemptHTTP2:      true,
			MaxIdleConnsPerHost:    64,
			WriteBufferSize:        64 << 10, // a usual request leaves in one piece
			ReadBufferSize:         16 << 10,
			IdleConnTimeout:        30 * time.Second, // below what servers keep, so that a kept connection is a live one
			TLSHandshakeTimeout:    15 * time.Second,
			MaxResponseHeaderBytes: 1 << 20,
		},
		Timeout: c.cfg.HTTPTimeout,
		// Following one would send the key and the prompt to another place.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	// A service, unlike a client of that package, takes nothing from the environment.
	e.chat = openai.NewChatCompletionService(c.options()...)
	return e
}

func (c *Client) check() *runner.ModelError {
	u, err := url.Parse(c.cfg.BaseURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return &runner.ModelError{
			Class: runner.BadRequest, Detail: "the model's base URL is not an http or https address",
			Hint: "give one such as " + DefaultBaseURL + " with --base-url",
		}
	}
	if strings.ContainsFunc(c.cfg.APIKey, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return &runner.ModelError{
			Class: runner.Auth, Detail: "the API key holds characters that no key has (a space, a line end, a control character)",
			Hint: "set " + c.cfg.KeyName + " to the key alone",
		}
	}
	return nil
}

// noise are headers that openai-go adds about the machine and itself.
var noise = []string{
	"X-Stainless-Lang", "X-Stainless-Package-Version", "X-Stainless-OS", "X-Stainless-Arch", "X-Stainless-Runtime",
	"X-Stainless-Runtime-Version", "X-Stainless-Retry-Count", "X-Stainless-Timeout",
}

func (c *Client) options() []option.RequestOption {
	options := []option.RequestOption{
		option.WithBaseURL(c.cfg.BaseURL + "/"), option.WithMaxRetries(0), option.WithHeader("User-Agent", c.cfg.UserAgent),
	}
	switch {
	case c.cfg.APIKey == "":
	case c.cfg.KeyHeader != "":
		options = append(options, option.WithHeader(c.cfg.KeyHeader, c.cfg.APIKey))
	default:
		options = append(options, option.WithAPIKey(c.cfg.APIKey))
	}
	for _, name := range noise {
		options = append(options, option.WithHeaderDel(name))
	}
	return options
}

// Complete implements runner.Model. When ctx ends first, errors.Is finds its
// error in the one returned, and only then.
func (c *Client) Complete(ctx context.Context, req *runner.ModelRequest) (*runner.ModelResponse, error) {
	e := c.setup()
	if e.err != nil {
		return nil, e.err
	}
	if req.Schema == nil {
		resp, _, failure := c.attempt(ctx, e, req, bySchema)
		return resp, asError(failure)
	}
	return c.completeInForm(ctx, e, req)
}

// asError keeps a nil of one type a nil of the other.
func asError(failure *runner.ModelError) error {
	if failure == nil {
		return nil
	}
	return failure
}

// completeInForm asks for an answer in a schema, in the best form that the
// endpoint takes for the model.
func (c *Client) completeInForm(ctx context.Context, e endpoint, req *runner.ModelRequest) (*runner.ModelResponse, error) {
	best := bySchema
	if c.cfg.NoSchema {
		best = byTool
	}
	for f := c.forms.of(req.Model, best); ; {
		resp, complaint, failure := c.attempt(ctx, e, req, f)
		if failure == nil {
			c.forms.keep(req.Model, f)
			f.take(resp)
			return resp, nil
		}
		next, again := f.after(failure, complaint, len(req.Tools) > 0)
		if !again {
			return nil, failure
		}
		f = next
	}
}

// attempt sends the request in one form. complaint is what the server said when
// it refused.
func (c *Client) attempt(ctx context.Context, e endpoint, req *runner.ModelRequest, f form) (resp *runner.ModelResponse, complaint string, failure *runner.ModelError) {
	call := c.newCall(ctx, e.http, req)
	body, err := c.encode(req, f)
	if err != nil {
		return nil, "", &runner.ModelError{Class: runner.BadRequest, Detail: call.line(err.Error()), Err: err}
	}
	call.body, call.form = body, f
	// The call watches ctx itself. Below it, a context that ended just after the
	// answer came would throw away what has been paid for.
	completion, err := e.chat.New(context.WithoutCancel(ctx), openai.ChatCompletionNewParams{},
		option.WithRequestBody("application/json", body), option.WithHTTPClient(call))
	if call.failure != nil {
		return nil, call.complaint, call.failure
	}
	if err != nil {
		return nil, "", call.malformed("the answer is not a chat completion", err)
	}
	if resp, err = translate(completion, call.model); err != nil {
		return nil, "", call.malformed(err.Error(), err)
	}
	return resp, "", nil
}

// Close drops idle connections. The client stays usable.
func (c *Client) Close() {
	if e := c.setup(); e.http != nil {
		e.http.CloseIdleConnections()
	}
}

// wireModel is the name the endpoint knows the model by.
func (c *Client) wireModel(name string) string {
	for _, prefix := range c.cfg.Prefixes {
		if rest, ok := strings.CutPrefix(name, prefix+"/"); ok {
			return rest
		}
	}
	return name
}
