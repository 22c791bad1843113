package model

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"

	"github.com/pawl-ci/pawl/runner"
)

func TestList(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", says(200, `{"object":"list","data":[{"id":"qwen:7b","owned_by":"library"},{"id":"models/gemini","owned_by":"google"},{"id":"llama:1b"}]}`))
	mux.HandleFunc("GET /api/tags", says(200, `{"models":[{"name":"qwen:7b","size":4700000000,"details":{"parameter_size":"7.6B"}},{"name":"other","size":1}]}`))
	server := httptest.NewServer(mux)
	defer server.Close()
	got, err := newClient(t, server.URL+"/v1", func(c *Config) { c.Sizes = true }).List(t.Context())
	want := []Listed{{Name: "gemini", Owner: "google"}, {Name: "llama:1b"}, {Name: "qwen:7b", Owner: "library", Bytes: 4700000000, Parameters: 7.6}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	got, err = newClient(t, server.URL+"/v1").List(t.Context())
	if err != nil || len(got) != 3 || got[2].Bytes != 0 {
		t.Errorf("without sizes: %+v, %v", got, err)
	}
}

func TestListFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		class  runner.ModelErrorClass
	}{
		"key":      {says(401, `{"error":{"message":"bad key `+testKey+`"}}`), runner.Auth},
		"not JSON": {says(200, `<html>`), runner.Malformed},
		"down":     {says(503, ``), runner.Server},
	} {
		p := newPeer(t, c.answer)
		_, err := newClient(t, p.URL+"/v1").List(t.Context())
		var failure *runner.ModelError
		if !errors.As(err, &failure) || failure.Class != c.class || p.seen() != 1 {
			t.Errorf("%s: %v after %d requests", name, err, p.seen())
		}
	}
	var failure *runner.ModelError
	if _, err := New(Config{BaseURL: "nonsense"}).List(t.Context()); !errors.As(err, &failure) {
		t.Errorf("a bad address: %v", err)
	}
}

func TestParseParameters(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{"7.6B": 7.6, "360M": 0.36, "1T": 1000, " 13b ": 13, "": 0, "many": 0, "-1B": 0, "NaN": 0, "1e99B": 0} {
		if got := ParseParameters(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
