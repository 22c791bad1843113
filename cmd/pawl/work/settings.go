package work

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"

	"golang.org/x/net/http/httpproxy"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/gates/local"
	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/host/model"
	"github.com/pawl-ci/pawl/runner/host/model/script"
	"github.com/pawl-ci/pawl/runner/lang/ir"
	"github.com/pawl-ci/pawl/runner/redact"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
)

const defaultBaseURL = "https://api.openai.com/v1"

// settings are what flags and environment come to.
type settings struct {
	model   string
	baseURL string
	apiKey  string
	prices  budget.Table
	answers *local.Answers
	redact  *redact.Redactor
	script  *script.Server // the scripted model, when one is asked for
	flags   *runFlags
	env     cli.Environment
	version string // of pawl
}

// settings resolves flags over environment over defaults.
func newSettings(ctx context.Context, a *cli.App, f *runFlags) (*settings, error) {
	answers, err := local.ParseAnswers(f.answers)
	if err != nil {
		return nil, cli.Usage(err, "")
	}
	s := &settings{
		model: f.model, baseURL: cmp.Or(f.baseURL, a.Env["OPENAI_BASE_URL"], defaultBaseURL),
		apiKey: a.Env["OPENAI_API_KEY"], prices: budget.Prices(), answers: answers, flags: f,
		redact: redact.New(redact.FromEnvironment(a.Env.Lines())), env: a.Env, version: a.Version,
	}
	if err := checkURL(s.baseURL); err != nil {
		return nil, err
	}
	if f.prices != "" {
		if err := s.readPrices(a.Path(f.prices)); err != nil {
			return nil, err
		}
	}
	if f.modelScript != "" {
		return s, s.startScript(ctx, a.Path(f.modelScript))
	}
	return s, nil
}

func checkURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return cli.Usage(fmt.Errorf("base URL %q: want http:// or https:// and a host", text), "for example "+defaultBaseURL)
	}
	return nil
}

func (s *settings) readPrices(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return cli.Usage(fmt.Errorf("read prices: %w", err), "")
	}
	table, err := budget.ParseTable(text)
	if err != nil {
		return cli.Usage(fmt.Errorf("%s: %w", path, err), "")
	}
	s.prices = s.prices.Merge(table)
	return nil
}

// startScript serves a scripted model on loopback for this process. Whatever
// model a workflow names is then the script, at the script's price.
func (s *settings) startScript(ctx context.Context, path string) error {
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
	s.prices = s.prices.Merge(table)
	return nil
}

func (s *settings) close() {
	if s.script != nil {
		_ = s.script.Close() // the process ends; nothing depends on it
	}
}

// needModel says before any money is spent that no model can be asked.
func (s *settings) needModel(w *ir.Workflow) error {
	if s.apiKey != "" || s.baseURL != defaultBaseURL {
		return nil
	}
	for _, n := range w.Nodes {
		if ir.CallOf(n.Op) != nil {
			return cli.Usage(fmt.Errorf("node %s asks a model, and OPENAI_API_KEY is not set", n.ID),
				"set OPENAI_API_KEY, or name another server with --base-url or OPENAI_BASE_URL, or use --model-script FILE")
		}
	}
	return nil
}

// client is the model port.
func (s *settings) client() runner.Model {
	return model.New(model.Config{
		BaseURL: s.baseURL, APIKey: s.apiKey, UserAgent: "pawl/" + s.version,
		HTTPTimeout: s.flags.modelTimeout, Patience: s.flags.modelPatience, TraceHeaders: onLoopback(s.baseURL), Proxy: proxyFrom(s.env),
	})
}

// proxyFrom honours HTTPS_PROXY and its kin, read from the environment that was
// given; loopback is never proxied.
func proxyFrom(env cli.Environment) func(*http.Request) (*url.URL, error) {
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
