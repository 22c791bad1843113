package model

import (
	"context"
	"sync"

	"github.com/pawl-ci/pawl/runner"
)

// Router is a runner.Model that sends each request to where its model answers.
// It may be used from many goroutines.
type Router struct {
	resolve func(model string) (Config, error)

	mu      sync.Mutex
	clients map[address]*Client
}

var _ runner.Model = (*Router)(nil)

// address tells endpoints apart.
type address struct{ base, key string }

// NewRouter returns a router over the endpoints that resolve names. An error of
// resolve is the answer to requests for that model; it must not hold a key.
func NewRouter(resolve func(model string) (Config, error)) *Router {
	return &Router{resolve: resolve, clients: make(map[address]*Client)}
}

// Complete implements runner.Model, as [Client.Complete] does.
func (r *Router) Complete(ctx context.Context, req *runner.ModelRequest) (*runner.ModelResponse, error) {
	cfg, err := r.resolve(req.Model)
	if err != nil {
		return nil, &runner.ModelError{Class: runner.Auth, Detail: err.Error(), Err: err}
	}
	return r.client(cfg).Complete(ctx, req)
}

// client is the one client of an endpoint: connections and what was learnt about
// its models are shared.
func (r *Router) client(cfg Config) *Client {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := address{cfg.BaseURL, cfg.APIKey}
	if r.clients[at] == nil {
		r.clients[at] = New(cfg)
	}
	return r.clients[at]
}
