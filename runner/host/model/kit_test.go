package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/host/model/script"
)

// testKey is what the tests send; no message may hold it.
const testKey = "k3y-of-the-tests"

// peer is a hand-made server. answers are given in turn, the last one again and
// again.
type peer struct {
	*httptest.Server
	mu      sync.Mutex
	answers []http.HandlerFunc
	bodies  [][]byte
	headers []http.Header
}

func newPeer(t *testing.T, answers ...http.HandlerFunc) *peer {
	t.Helper()
	p := &peer{answers: answers}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func (p *peer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	p.mu.Lock()
	answer := p.answers[min(len(p.bodies), len(p.answers)-1)]
	p.bodies = append(p.bodies, body)
	p.headers = append(p.headers, r.Header.Clone())
	p.mu.Unlock()
	answer(w, r)
}

func (p *peer) seen() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.bodies)
}

// says answers with a status and a body; headers come in pairs.
func says(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body) // the client may have gone
	}
}

// fine is a good answer that says text.
func fine(text string) http.HandlerFunc {
	return says(200, fmt.Sprintf(`{"id":"x","object":"chat.completion","created":1,"model":"m-1","choices":[{"index":0,`+
		`"message":{"role":"assistant","content":%q},"finish_reason":"stop"}],`+
		`"usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12}}`, text))
}

// newClient is a client with little patience for base, the URL up to /v1.
func newClient(t *testing.T, base string, change ...func(*Config)) *Client {
	t.Helper()
	cfg := Config{BaseURL: base, APIKey: testKey, HTTPTimeout: time.Minute, Patience: 200 * time.Millisecond, RetryWait: time.Millisecond}
	for _, c := range change {
		c(&cfg)
	}
	client := New(cfg)
	t.Cleanup(client.Close)
	return client
}

func ask(text string) *runner.ModelRequest {
	return &runner.ModelRequest{Model: "openai/m", Messages: []runner.Message{{Role: runner.User, Text: text}}}
}

// failure checks what holds for every error of a client and returns it.
func failure(t *testing.T, client *Client, resp *runner.ModelResponse, err error) *runner.ModelError {
	t.Helper()
	var e *runner.ModelError
	if !errors.As(err, &e) {
		t.Fatalf("response %+v, error %v (%T); want a ModelError", resp, err, err)
	}
	if e.Class == "" || e.Detail == "" {
		t.Errorf("error without class or detail: %#v", e)
	}
	texts := []string{e.Detail, e.Hint}
	for cause := e.Err; cause != nil; cause = errors.Unwrap(cause) {
		texts = append(texts, cause.Error())
	}
	for _, text := range texts {
		if strings.ContainsAny(text, "\n\r\t\x00\x1b") || len(text) > 700 {
			t.Errorf("not a line: %q", text)
		}
		if strings.Contains(text, testKey) {
			t.Errorf("the key is in %q", text)
		}
	}
	if !strings.HasPrefix(e.Detail, "model m at "+client.host+": ") {
		t.Errorf("detail %q does not name model and host", e.Detail)
	}
	return e
}

// serve starts the scripted model.
func serve(t *testing.T, text string) *script.Server {
	t.Helper()
	s, err := script.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	srv, err := script.Start(t.Context(), s, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	})
	return srv
}

func object(t *testing.T, raw []byte) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return m
}
