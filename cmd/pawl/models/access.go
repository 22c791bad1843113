package models

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/net/http/httpproxy"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/host/model"
	"github.com/pawl-ci/pawl/runner/host/model/provider"
	"github.com/pawl-ci/pawl/runner/host/model/script"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// Flags are those that say who answers. The zero value asks whoever the models'
// names and the environment mean.
type Flags struct {
	Model    string        // in the place of every node's, or ""
	BaseURL  string        // of one server for every model, or ""
	Script   string        // file of a scripted model that answers instead, or ""
	Prices   string        // file of a price table, or ""
	Timeout  time.Duration // of one call
	Patience time.Duration // in all, while a server is down, busy or failing
}

// Defaults are the flags that nobody has given.
func Defaults() Flags { return Flags{Timeout: 10 * time.Minute, Patience: time.Minute} }

// Bind adds the flags to a command.
func (f *Flags) Bind(flags *pflag.FlagSet) {
	otherwise := Defaults()
	flags.StringVar(&f.Model, "model", "", "use this model for every node")
	flags.StringVar(&f.BaseURL, "base-url", "", "`URL` of one OpenAI-compatible API that answers for every model")
	flags.StringVar(&f.Script, "model-script", "", "let the scripted model of `FILE` answer instead of a real one")
	flags.StringVar(&f.Prices, "prices", "", "price table `FILE` (JSON) that wins over the built-in one")
	flags.DurationVar(&f.Timeout, "model-timeout", otherwise.Timeout, "how long one model call may take")
	flags.DurationVar(&f.Patience, "model-patience", otherwise.Patience, "how long to wait in all while a server is down, busy or failing")
}

// Access is who answers model calls, and what that costs.
type Access struct {
	Model  string       // in the place of every node's, or ""
	Prices budget.Table // what calls cost

	flags   Flags
	baseURL string         // answers for every model, when somebody said so
	apiKey  string         // replaces OPENAI_API_KEY for it
	script  *script.Server // the scripted model, when one is asked for
	env     cli.Environment
	version string // of pawl
}

// Open resolves flags over environment over defaults. A scripted model is served
// until Close.
func Open(ctx context.Context, a *cli.App, f Flags) (*Access, error) {
	s := &Access{Model: f.Model, Prices: budget.Prices(), flags: f, baseURL: f.BaseURL, env: a.Env, version: a.Version}
	if err := checkURL(cmp.Or(s.baseURL, a.Env["OPENAI_BASE_URL"])); err != nil {
		return nil, err
	}
	if f.Prices != "" {
		if err := s.readPrices(a.Path(f.Prices)); err != nil {
			return nil, err
		}
	}
	if f.Script != "" {
		return s, s.startScript(ctx, a.Path(f.Script))
	}
	return s, nil
}

func checkURL(text string) error {
	u, err := url.Parse(text)
	if text == "" {
		return nil
	}
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return cli.Usage(fmt.Errorf("base URL %q: want http:// or https:// and a host", text), "for example https://api.openai.com/v1")
	}
	return nil
}

func (s *Access) readPrices(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return cli.Usage(fmt.Errorf("read prices: %w", err), "")
	}
	table, err := budget.ParseTable(text)
	if err != nil {
		return cli.Usage(fmt.Errorf("%s: %w", path, err), "")
	}
	s.Prices = s.Prices.Merge(table)
	return nil
}

// startScript serves a scripted model on loopback for this process. Whatever
// model a workflow names is then the script, at the script's price.
func (s *Access) startScript(ctx context.Context, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return cli.Usage(fmt.Errorf("read model script: %w", err), "")
	}
	parsed, err := script.Parse(path, text)
	if err != nil {
		return cli.Usage(err, "")
	}
	if s.script, err = script.Start(ctx, parsed, "127.0.0.1:0"); err != nil {
		return cli.Host(fmt.Errorf("start the scripted model: %w", err), "")
	}
	s.baseURL, s.apiKey = s.script.BaseURL(), "none"
	price := budget.Price{}
	if parsed.Price != nil {
		price = *parsed.Price
	}
	table, err := budget.NewTable(budget.Entry{Match: "*", Price: price, Source: path})
	if err != nil {
		return cli.Usage(fmt.Errorf("%s: %w", path, err), "")
	}
	s.Prices = s.Prices.Merge(table)
	return nil
}

// Close ends a scripted model.
func (s *Access) Close() {
	if s.script != nil {
		_ = s.script.Close() // the process ends; nothing depends on it
	}
}

// Need says before any money is spent that a model of the workflow cannot be
// asked.
func (s *Access) Need(w *ir.Workflow) error {
	for _, n := range w.Nodes {
		call := ir.CallOf(n.Op)
		if call == nil || call.Backend != "" {
			continue
		}
		name := s.Model
		if name == "" && call.Model != nil {
			if len(call.Model.Refs()) > 0 {
				continue // it depends on a variable
			}
			name, _ = call.Model.Render(nil, nil) // without a reference there is nothing to fail
		}
		if _, err := s.endpoint(name); err != nil {
			return cli.Usage(fmt.Errorf("node %s: %w", n.ID, err),
				"set it, or name another server with --base-url or OPENAI_BASE_URL, or use --model-script FILE")
		}
	}
	return nil
}

// endpoint is where a model answers.
func (s *Access) endpoint(name string) (provider.Endpoint, error) {
	lookup := func(variable string) string {
		if variable == "OPENAI_API_KEY" && s.apiKey != "" {
			return s.apiKey
		}
		return s.env[variable]
	}
	return provider.Resolve(name, provider.Surroundings{Lookup: lookup, BaseURL: s.baseURL})
}

// Client is the model port.
func (s *Access) Client() runner.Model {
	return model.NewRouter(func(name string) (model.Config, error) {
		at, err := s.endpoint(name)
		if err != nil {
			return model.Config{}, err
		}
		return s.config(at), nil
	})
}

// config is how an endpoint is talked to.
func (s *Access) config(at provider.Endpoint) model.Config {
	cfg := model.Config{
		BaseURL: at.BaseURL, APIKey: at.Key, KeyName: at.KeyName, KeyHeader: at.Header, NoSchema: at.NoSchema, UserAgent: "pawl/" + s.version,
		HTTPTimeout: s.flags.Timeout, Patience: s.flags.Patience, TraceHeaders: onLoopback(at.BaseURL), Proxy: Proxy(s.env),
	}
	if at.Provider != "" && at.Provider != "openai" {
		cfg.Prefixes = []string{at.Provider}
	}
	return cfg
}

// Proxy honours HTTPS_PROXY and its kin, read from the environment that was
// given; loopback is never proxied.
func Proxy(env cli.Environment) func(*http.Request) (*url.URL, error) {
	cfg := httpproxy.Config{
		HTTPProxy: env.First("HTTP_PROXY", "http_proxy"), HTTPSProxy: env.First("HTTPS_PROXY", "https_proxy"),
		NoProxy: env.First("NO_PROXY", "no_proxy"),
	}
	choose := cfg.ProxyFunc()
	return func(r *http.Request) (*url.URL, error) { return choose(r.URL) }
}

// onLoopback: only a server on this machine is told which node asks; a scripted
// model matches on it.
func onLoopback(text string) bool {
	u, err := url.Parse(text)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}
