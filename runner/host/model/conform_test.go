package model

import (
	"testing"

	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/runnertest"
)

func asking() *runner.ModelRequest {
	req := structured()
	req.Schema, req.Messages = nil, ask("hi").Messages
	return req
}

func TestTheClientConforms(t *testing.T) {
	t.Parallel()
	runnertest.ConformModel(t, func(t *testing.T) (runner.Model, func() *runner.ModelRequest) {
		return newClient(t, newPeer(t, fine("hello")).URL+"/v1"), asking
	})
}

// A schema makes the client ask in forms; the contract is the same.
func TestTheClientConformsInEveryForm(t *testing.T) {
	t.Parallel()
	runnertest.ConformModel(t, func(t *testing.T) (runner.Model, func() *runner.ModelRequest) {
		return newClient(t, newPeer(t, refuses(noSchemas), fine(`{"ok":true}`)).URL+"/v1"), func() *runner.ModelRequest { return structured() }
	})
}

func TestTheRouterConforms(t *testing.T) {
	t.Parallel()
	runnertest.ConformModel(t, func(t *testing.T) (runner.Model, func() *runner.ModelRequest) {
		at := newPeer(t, fine("hello")).URL + "/v1"
		return NewRouter(func(string) (Config, error) { return Config{BaseURL: at}, nil }), asking
	})
}
