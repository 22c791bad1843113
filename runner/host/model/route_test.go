package model

import (
	"errors"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/runner"
)

func TestRouterSendsEachModelToItsServer(t *testing.T) {
	t.Parallel()
	a, b := newPeer(t, fine("from a")), newPeer(t, fine("from b"))
	unknown := errors.New("nobody serves it")
	router := NewRouter(func(name string) (Config, error) {
		switch {
		case strings.HasPrefix(name, "a/"):
			return Config{BaseURL: a.URL + "/v1", APIKey: "key-of-a", Prefixes: []string{"a"}}, nil
		case name == "b":
			return Config{BaseURL: b.URL + "/v1", APIKey: "key-of-b"}, nil
		}
		return Config{}, unknown
	})
	for name, want := range map[string]string{"a/m": "from a", "a/n": "from a", "b": "from b"} {
		resp, err := router.Complete(t.Context(), &runner.ModelRequest{Model: name, Messages: ask("x").Messages})
		if err != nil || resp.Text != want {
			t.Errorf("%s: %+v, %v", name, resp, err)
		}
	}
	if a.seen() != 2 || b.seen() != 1 || a.headers[0].Get("Authorization") != "Bearer key-of-a" || b.headers[0].Get("Authorization") != "Bearer key-of-b" {
		t.Errorf("a saw %v, b saw %v", a.headers, b.headers)
	}
	if len(router.clients) != 2 {
		t.Errorf("%d clients for two servers", len(router.clients))
	}
	var failure *runner.ModelError
	if _, err := router.Complete(t.Context(), &runner.ModelRequest{Model: "c"}); !errors.As(err, &failure) || !errors.Is(err, unknown) || failure.Retryable {
		t.Errorf("a model that nobody serves: %v", err)
	}
}
