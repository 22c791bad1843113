package model

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pawl-ci/pawl/runner"
)

func TestStatuses(t *testing.T) {
	t.Parallel()
	api := func(message, code string) string {
		return `{"error":{"message":"` + message + `","type":"t","param":null,"code":"` + code + `"}}`
	}
	cases := []struct {
		name   string
		answer http.HandlerFunc
		want   runner.ModelError
		calls  int // 0: more than one
		detail string
		hint   string
	}{
		{"401", says(401, api("Incorrect API key provided: "+testKey, "invalid_api_key")), runner.ModelError{Class: runner.Auth, Status: 401}, 1,
			"401 Unauthorized: Incorrect API key provided: [redacted]", "OPENAI_API_KEY"},
		{"401 with a masked key", says(401, api("Incorrect: sk-proj-abc***wxyz.", "")), runner.ModelError{Class: runner.Auth, Status: 401}, 1,
			"Incorrect: [redacted]", "--base-url"},
		{"403", says(403, `{"error":"not for you"}`), runner.ModelError{Class: runner.Auth, Status: 403}, 1, "403 Forbidden: not for you", "OPENAI_API_KEY"},
		{"404", says(404, api("no such model", "model_not_found")), runner.ModelError{Class: runner.BadRequest, Status: 404}, 1, "no such model", "model's name"},
		{"404 page", says(404, "<html><body>x</body></html>"), runner.ModelError{Class: runner.BadRequest, Status: 404}, 1, "404 Not Found", "/v1"},
		{"400", says(400, api("bad\\nfield", "x")), runner.ModelError{Class: runner.BadRequest, Status: 400}, 1, "400 Bad Request: bad field", ""},
		{"400 too long", says(400, api("long", "context_length_exceeded")), runner.ModelError{Class: runner.BadRequest, Status: 400}, 1, "long", "larger context"},
		{"422 with a list", says(422, `{"detail":[{"loc":["body"],"msg":"field required"}]}`), runner.ModelError{Class: runner.BadRequest, Status: 422}, 1, "field required", ""},
		{"422 with a text", says(422, `{"detail":"no"}`), runner.ModelError{Class: runner.BadRequest, Status: 422}, 1, "Entity: no", ""},
		{"413 with a message", says(413, `{"message":"too big"}`), runner.ModelError{Class: runner.BadRequest, Status: 413}, 1, "too big", ""},
		{"418 plain", says(418, "short\x1b[31m and\n\nstout\u202e"), runner.ModelError{Class: runner.BadRequest, Status: 418}, 1, "418 I'm a teapot: short [31m and stout", ""},
		{"429", says(429, api("slow down", "rl")), runner.ModelError{Class: runner.RateLimit, Status: 429, Retryable: true}, 0, "slow down", "rate limit"},
		{"429 out of credit", says(429, api("no money", "insufficient_quota")), runner.ModelError{Class: runner.RateLimit, Status: 429}, 1, "no money", "no credit"},
		{"429 out of credit by type", says(429, `{"error":{"message":"no","type":"insufficient_quota"}}`), runner.ModelError{Class: runner.RateLimit, Status: 429}, 1, "no", "no credit"},
		{"500", says(500, ""), runner.ModelError{Class: runner.Server, Status: 500, Retryable: true}, 0, "500 Internal Server Error", ""},
		{"500 for good", says(500, "", "X-Should-Retry", "false"), runner.ModelError{Class: runner.Server, Status: 500, Retryable: true}, 1, "500", ""},
		{"501", says(501, ""), runner.ModelError{Class: runner.Server, Status: 501}, 1, "501 Not Implemented", ""},
		{"502", says(502, "<html>"), runner.ModelError{Class: runner.Server, Status: 502, Retryable: true}, 0, "502 Bad Gateway", ""},
		{"503", says(503, api("busy", "")), runner.ModelError{Class: runner.Server, Status: 503, Retryable: true}, 0, "busy", ""},
		{"504", says(504, ""), runner.ModelError{Class: runner.Server, Status: 504, Retryable: true, InDoubt: true}, 1, "504 Gateway Timeout", ""},
		{"524", says(524, ""), runner.ModelError{Class: runner.Server, Status: 524, Retryable: true, InDoubt: true}, 1, "524", ""},
		{"529", says(529, ""), runner.ModelError{Class: runner.Server, Status: 529, Retryable: true}, 0, "529", ""},
		{"huge error body", says(400, strings.Repeat("x", 1<<20)), runner.ModelError{Class: runner.BadRequest, Status: 400}, 1, "xxx", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPeer(t, c.answer)
			client := newClient(t, p.URL+"/v1", func(c *Config) { c.Patience = 20 * time.Millisecond })
			resp, err := client.Complete(t.Context(), ask("hi"))
			e := failure(t, client, resp, err)
			if e.Class != c.want.Class || e.Status != c.want.Status || e.Retryable != c.want.Retryable || e.InDoubt != c.want.InDoubt {
				t.Errorf("error %+v, want %+v", e, c.want)
			}
			if !strings.Contains(e.Detail, c.detail) || !strings.Contains(e.Hint, c.hint) {
				t.Errorf("detail %q, hint %q; want %q, %q", e.Detail, e.Hint, c.detail, c.hint)
			}
			if n := p.seen(); c.calls == 1 && n != 1 || c.calls == 0 && n < 2 {
				t.Errorf("%d requests, want %d (0: more than one)", n, c.calls)
			}
		})
	}
}

func TestNoKey(t *testing.T) {
	t.Parallel()
	p := newPeer(t, says(401, ""))
	client := newClient(t, p.URL+"/v1", func(c *Config) { c.APIKey = "" })
	resp, err := client.Complete(t.Context(), ask("hi"))
	if e := failure(t, client, resp, err); !strings.Contains(e.Hint, "no key was sent") {
		t.Errorf("hint %q", e.Hint)
	}
	if _, sent := p.headers[0]["Authorization"]; sent {
		t.Error("an empty key was sent")
	}
}

func TestAPlaceholderIsNoSecret(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{"x": "extra", "12345678": "[redacted]"} {
		c := New(Config{APIKey: key})
		if got := c.redact("extra 12345678"); !strings.Contains(got, want) {
			t.Errorf("key %q: %q", key, got)
		}
	}
}

func TestRetriesUntilItAnswers(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"429": says(429, ""), "429 with seconds": says(429, "", "Retry-After", "0"), "500": says(500, "oops"), "502": says(502, ""),
		"503 with a past date":  says(503, "", "Retry-After", "Fri, 31 Dec 1999 23:59:59 GMT"),
		"429 with milliseconds": says(429, "", "Retry-After-Ms", "3"), "429 with nonsense": says(429, "", "Retry-After", "soon"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeer(t, answer, answer, fine("done"))
			client := newClient(t, p.URL+"/v1")
			req := ask("hi")
			req.Key = "1/fix/1/turn-1/1"
			resp, err := client.Complete(t.Context(), req)
			if err != nil || resp.Text != "done" {
				t.Fatalf("%+v, %v", resp, err)
			}
			if p.seen() != 3 || string(p.bodies[0]) != string(p.bodies[2]) {
				t.Errorf("%d requests, or not the same one", p.seen())
			}
			for _, h := range p.headers {
				if h.Get("Idempotency-Key") != "1/fix/1/turn-1/1" {
					t.Errorf("headers %v", h)
				}
			}
		})
	}
}

func TestRetryAfterBeyondPatience(t *testing.T) {
	t.Parallel()
	for _, after := range []string{"120", time.Now().Add(2 * time.Minute).UTC().Format(http.TimeFormat), "1e300"} {
		p := newPeer(t, says(429, "", "Retry-After", after))
		client := newClient(t, p.URL+"/v1", func(c *Config) { c.Patience = time.Minute })
		resp, err := client.Complete(t.Context(), ask("hi"))
		e := failure(t, client, resp, err)
		if e.Class != runner.RateLimit || !e.Retryable || e.InDoubt || p.seen() != 1 {
			t.Errorf("%s: %+v after %d requests", after, e, p.seen())
		}
		if !strings.Contains(e.Hint, "the server asks to wait") || after == "120" && !strings.Contains(e.Hint, "wait 2m0s;") {
			t.Errorf("%s: hint %q", after, e.Hint)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		name, value string
		want        time.Duration
		ok          bool
	}{
		{"Retry-After", "", 0, false},
		{"Retry-After", "2", 2 * time.Second, true},
		{"Retry-After", " 1.5 ", 1500 * time.Millisecond, true},
		{"Retry-After", "-1", 0, false},
		{"Retry-After", "NaN", 0, false},
		{"Retry-After", "1e30", longest, true},
		{"Retry-After", "Fri, 02 Jan 2026 03:04:35 GMT", 30 * time.Second, true},
		{"Retry-After", "Friday, 02-Jan-26 03:04:35 GMT", 30 * time.Second, true},
		{"Retry-After", "Fri, 02 Jan 2026 03:04:00 GMT", 0, true},
		{"Retry-After", "tomorrow", 0, false},
		{"Retry-After-Ms", "250", 250 * time.Millisecond, true},
	} {
		got, ok := retryAfter(http.Header{c.name: {c.value}}, now)
		if got != c.want || ok != c.ok {
			t.Errorf("%s: %s = %v, %v; want %v, %v", c.name, c.value, got, ok, c.want, c.ok)
		}
	}
}

// Waiting honours what the server asks, never exceeds the patience in total, and
// ends.
func TestPatience(t *testing.T) {
	t.Parallel()
	client := New(Config{Patience: 10 * time.Second, RetryWait: 100 * time.Millisecond})
	for _, asked := range []time.Duration{0, time.Second, 3 * time.Second} {
		c := client.newCall(t.Context(), nil, ask("hi"))
		var total time.Duration
		for n := 0; c.patient(asked, c.patience); n++ {
			if c.wait < asked || c.wait < 100*time.Millisecond || n > 100 {
				t.Fatalf("asked for %v: wait %d is %v", asked, n, c.wait)
			}
			total += c.wait
		}
		if total > 10*time.Second || total < 10*time.Second*3/10 {
			t.Errorf("asked for %v: waited %v in total", asked, total)
		}
		if c.asked != asked {
			t.Errorf("asked for %v, remembered %v", asked, c.asked)
		}
	}
}

func TestServerIsDown(t *testing.T) {
	t.Parallel()
	p := newPeer(t, fine("x"))
	base := p.URL + "/v1"
	p.Close()
	client := newClient(t, base, func(c *Config) { c.Patience = 40 * time.Millisecond })
	resp, err := client.Complete(t.Context(), ask("hi"))
	e := failure(t, client, resp, err)
	if e.Class != runner.Unreachable || e.InDoubt || !e.Retryable || !strings.Contains(e.Detail, "connection refused") || !strings.Contains(e.Hint, "--base-url") {
		t.Errorf("%+v", e)
	}
}

// A server that is starting is waited for.
func TestServerComesUp(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	dialed := make(chan struct{})
	started := make(chan *httptest.Server, 1)
	go func() {
		<-dialed
		listener, err := net.Listen("tcp", addr)
		if err != nil {
			close(started)
			return
		}
		srv := &httptest.Server{Listener: listener, Config: &http.Server{Handler: fine("up")}}
		srv.Start()
		started <- srv
	}()
	client := newClient(t, "http://"+addr+"/v1", func(c *Config) {
		c.Patience = 20 * time.Second
		first := true
		c.Proxy = func(*http.Request) (*url.URL, error) { // called before each attempt: the second one means that the first has failed
			if !first {
				select {
				case <-dialed:
				default:
					close(dialed)
				}
			}
			first = false
			return nil, nil
		}
	})
	resp, err := client.Complete(t.Context(), ask("hi"))
	srv, ok := <-started
	if !ok {
		t.Skip("the port was taken by somebody else")
	}
	defer srv.Close()
	if err != nil || resp.Text != "up" {
		t.Fatalf("%+v, %v", resp, err)
	}
}

func TestNoSuchHost(t *testing.T) {
	t.Parallel()
	err := &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "x.invalid", IsNotFound: true}}
	if dialing(err) {
		t.Error("a name that does not exist is waited for")
	}
	err.Err = &net.DNSError{Err: "server misbehaving", Name: "x", IsTemporary: true}
	if !dialing(err) {
		t.Error("a name server that is busy is not waited for")
	}
	if got := reason(&url.Error{Op: "Post", URL: "http://x.invalid", Err: err}); got != "no such host or no name server: server misbehaving" {
		t.Errorf("reason %q", got)
	}
}

func TestUnusableAnswers(t *testing.T) {
	t.Parallel()
	cut := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", "500")
		_, _ = io.WriteString(w, `{"id":"x","choices":[{"mess`) // what was written is the point
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	slam := func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }
	endless := func(w http.ResponseWriter, r *http.Request) {
		for chunk := []byte(strings.Repeat(" ", 1<<16)); ; {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		detail string
		retry  bool
	}{
		{"cut off", cut, "the answer broke off after 27 bytes", true},
		{"slammed", slam, "the connection broke before the answer came: EOF", true},
		{"not JSON", says(200, "<html>\n<body>hello</body>"), `the answer is not JSON: it begins "<html> <body>hello</body>"`, true},
		{"nothing", says(200, ""), `the answer is not JSON: it begins ""`, true},
		{"no content", says(204, ""), "not JSON", true},
		{"a number", says(200, "5"), "answer", true},
		{"null", says(200, "null"), "the answer has no choice in it", true},
		{"a list", says(200, "[]"), "answer", true},
		{"no choices", says(200, `{"id":"x","choices":[]}`), "the answer has no choice in it", true},
		{"an error with status 200", says(200, `{"error":{"message":"upstream is gone","code":502}}`), "the answer has no choice in it: upstream is gone", true},
		{"endless", endless, "the answer is longer than 100000 bytes", false},
		{"a stream", says(200, "data: {}\n\ndata: [DONE]\n\n", "Content-Type", "text/event-stream"), "the answer is not JSON", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPeer(t, c.answer)
			client := newClient(t, p.URL+"/v1", func(c *Config) { c.MaxBody = 100_000 })
			resp, err := client.Complete(t.Context(), ask("hi"))
			e := failure(t, client, resp, err)
			if e.Class != runner.Malformed || !e.InDoubt || e.Retryable != c.retry || !strings.Contains(e.Detail, c.detail) {
				t.Errorf("%+v, want %q", e, c.detail)
			}
			if p.seen() != 1 {
				t.Errorf("%d requests: the provider may have worked on each", p.seen())
			}
		})
	}
}

// net/http repeats a request on its own when a kept connection breaks and the
// request carries an idempotency key. Here that would pay twice.
func TestNoHiddenRepeatOnAKeptConnection(t *testing.T) {
	t.Parallel()
	p := newPeer(t, fine("first"), func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, fine("third"))
	client := newClient(t, p.URL+"/v1")
	req := ask("hi")
	req.Key = "key"
	if _, err := client.Complete(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	resp, err := client.Complete(t.Context(), req)
	if e := failure(t, client, resp, err); !e.InDoubt || p.seen() != 2 {
		t.Errorf("%+v after %d requests", e, p.seen())
	}
}

func TestNeverAnswering(t *testing.T) {
	t.Parallel()
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	slow := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"id":`) // the rest never comes
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
	for name, answer := range map[string]http.HandlerFunc{"hang": hang, "hang in the body": slow} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeer(t, answer)
			client := newClient(t, p.URL+"/v1", func(c *Config) { c.HTTPTimeout = 250 * time.Millisecond })
			resp, err := client.Complete(t.Context(), ask("hi"))
			e := failure(t, client, resp, err)
			if e.Class != runner.NoAnswer || !e.InDoubt || !e.Retryable || p.seen() != 1 || !strings.Contains(e.Detail, "no answer within 250ms") {
				t.Errorf("%+v after %d requests", e, p.seen())
			}
			if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
				t.Error("our own timeout looks like the end of the caller's context")
			}
		})
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	type start func(context.Context) (context.Context, context.CancelFunc)
	for name, c := range map[string]struct {
		answer func(cancel func()) http.HandlerFunc
		ctx    start
		want   error
		doubt  bool
		seen   int
	}{
		"in flight": {
			func(cancel func()) http.HandlerFunc {
				return func(w http.ResponseWriter, r *http.Request) { cancel(); hang(w, r) }
			}, context.WithCancel, context.Canceled, true, 1,
		},
		"deadline": {
			func(func()) http.HandlerFunc { return hang },
			func(ctx context.Context) (context.Context, context.CancelFunc) {
				return context.WithTimeout(ctx, 50*time.Millisecond)
			}, context.DeadlineExceeded, true, 1,
		},
		"before": {
			func(func()) http.HandlerFunc { return hang },
			func(ctx context.Context) (context.Context, context.CancelFunc) {
				ctx, cancel := context.WithCancel(ctx)
				cancel()
				return ctx, cancel
			}, context.Canceled, false, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := c.ctx(t.Context())
			defer cancel()
			p := newPeer(t, c.answer(cancel))
			client := newClient(t, p.URL+"/v1", func(c *Config) { c.Patience = time.Hour })
			resp, err := client.Complete(ctx, ask("hi"))
			e := failure(t, client, resp, err)
			if !errors.Is(err, c.want) || e.Class != runner.NoAnswer || e.InDoubt != c.doubt || p.seen() != c.seen {
				t.Errorf("%+v (cause %v) after %d requests", e, e.Err, p.seen())
			}
			if e.Retryable != (c.want == context.DeadlineExceeded) {
				t.Errorf("retryable %v", e.Retryable)
			}
		})
	}
}

// An answer that is there when the end comes is kept: it has been paid for.
func TestCancelledJustAfterTheAnswer(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	// The transport says this when the last byte has come, before it hands it on.
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{PutIdleConn: func(error) { cancel() }})
	p := newPeer(t, fine("paid for"))
	resp, err := newClient(t, p.URL+"/v1").Complete(ctx, ask("hi"))
	if err != nil || resp.Text != "paid for" || ctx.Err() == nil {
		t.Errorf("%+v, %v (context: %v)", resp, err, ctx.Err())
	}
}

// A failure that waiting does not mend is not waited for: no attempt was made
// that could have cost anything, either.
func TestNoTLS(t *testing.T) {
	t.Parallel()
	p := newPeer(t, fine("x"))
	client := newClient(t, strings.Replace(p.URL, "http://", "https://", 1)+"/v1", func(c *Config) { c.Patience = time.Hour })
	resp, err := client.Complete(t.Context(), ask("hi"))
	if e := failure(t, client, resp, err); e.Class != runner.Unreachable || e.InDoubt || !strings.Contains(e.Detail, "HTTPS client") || p.seen() != 0 {
		t.Errorf("%+v", e)
	}
}

// A call that is cancelled while it waits after a 429 has cost nothing.
func TestCancelledBetweenAttempts(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	c := New(Config{}).newCall(ctx, nil, ask("hi"))
	for status, doubt := range map[int]bool{429: false, 503: false, 504: true} {
		c.sent.Store(true)
		resp := httptest.NewRecorder()
		resp.WriteHeader(status)
		if again, err := c.again(ctx, resp.Result(), nil); again == doubt || err != nil {
			t.Fatalf("%d: again %v, %v", status, again, err)
		}
		if c.sent.Load() != doubt {
			t.Errorf("%d: in doubt %v", status, c.sent.Load())
		}
	}
	c.sent.Store(false)
	cancel()
	if e := c.broken(ctx.Err()); e.InDoubt || !errors.Is(e, context.Canceled) || e.Retryable {
		t.Errorf("%+v", e)
	}
	if again, err := c.again(ctx, nil, nil); again || !errors.Is(err, context.Canceled) {
		t.Errorf("another attempt after the end: %v, %v", again, err)
	}
}

// The key goes to the host it was given for and nowhere else.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	other := newPeer(t, fine("stolen"))
	for _, status := range []int{301, 302, 303, 307, 308} {
		p := newPeer(t, says(status, "", "Location", other.URL+"/v1/chat/completions"))
		client := newClient(t, p.URL+"/v1")
		resp, err := client.Complete(t.Context(), ask("hi"))
		e := failure(t, client, resp, err)
		if e.Class != runner.BadRequest || e.Status != status || !strings.Contains(e.Detail, other.URL) || !strings.Contains(e.Hint, "--base-url") {
			t.Errorf("%+v", e)
		}
	}
	if other.seen() != 0 {
		t.Errorf("the other host saw %d requests", other.seen())
	}
}

func TestBadConfig(t *testing.T) {
	t.Parallel()
	for base, key := range map[string]string{
		"localhost:8080": "", "ftp://x/v1": "", "http://": "", "::": "", "/v1": "",
		"http://127.0.0.1:1/a": "two words", "http://127.0.0.1:1/b": "a\nb", "http://127.0.0.1:1/c": "é",
	} {
		client := New(Config{BaseURL: base, APIKey: key})
		_, err := client.Complete(t.Context(), ask("hi"))
		var e *runner.ModelError
		if !errors.As(err, &e) || e.InDoubt || e.Retryable || e.Hint == "" || key != "" && strings.Contains(e.Detail+e.Hint, key) {
			t.Errorf("%q with key %q: %+v", base, key, err)
		}
		client.Close()
	}
}

func TestBadRequests(t *testing.T) {
	t.Parallel()
	p := newPeer(t, fine("x"))
	client := newClient(t, p.URL+"/v1")
	for _, req := range []*runner.ModelRequest{
		{Model: "", Messages: ask("hi").Messages},
		{Model: "m", Messages: []runner.Message{{Role: "narrator", Text: "x"}}},
	} {
		_, err := client.Complete(t.Context(), req)
		var e *runner.ModelError
		if !errors.As(err, &e) || e.Class != runner.BadRequest || e.InDoubt {
			t.Errorf("%v", err)
		}
	}
	if p.seen() != 0 {
		t.Error("a request that cannot be meant was sent")
	}
}

func TestOneLine(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "", " a\r\n\tb\x00c ": "a b c", "ééééé": "éé…", "a\u200bb\u202ec": "a b c", "\xff": "�",
	} {
		if got := oneLine(in, 5); got != want {
			t.Errorf("oneLine(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzErrorText(f *testing.F) {
	for _, seed := range []string{`{"error":{"message":"m","code":5}}`, `{"error":"x"}`, `{"detail":[1]}`, `{"error":null}`, "<html>", "plain", `[]`} {
		f.Add([]byte(seed))
	}
	client := New(Config{APIKey: testKey})
	f.Fuzz(func(t *testing.T, body []byte) {
		c := client.newCall(context.Background(), nil, ask("hi"))
		line := c.line(errorText(body).message)
		if strings.Contains(line, testKey) || strings.ContainsAny(line, "\n\r\x1b") || len(line) > 700 {
			t.Fatalf("line %q", line)
		}
	})
}
