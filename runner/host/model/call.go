package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/pawl-ci/pawl/runner"
)

// call is one request on its way, through all its attempts. It is the HTTP
// client that openai-go is given, and the only layer that tries again.
type call struct {
	client *Client
	http   *http.Client
	ctx    context.Context // the caller's
	req    *runner.ModelRequest
	model  string // as the endpoint knows it
	body   []byte // the request on the wire
	form   form   // of the answer, when there is a schema

	// sent: a request is with the provider and nothing came back that shows that
	// it did no work. The transport sets it from its own goroutine.
	sent     atomic.Bool
	patience time.Duration // left for waiting
	wait     time.Duration // before the next attempt
	waits    int           // how often it has waited
	asked    time.Duration // how long the server wanted us to wait when patience ran out

	failure   *runner.ModelError // set when Do returned an error
	complaint string             // what the server said when it refused
}

func (c *Client) newCall(ctx context.Context, via *http.Client, req *runner.ModelRequest) *call {
	return &call{client: c, http: via, ctx: ctx, req: req, model: c.wireModel(req.Model), patience: c.cfg.Patience}
}

// Do sends the request until there is an answer or no hope for one. The response
// it returns is complete and holds JSON.
func (c *call) Do(r *http.Request) (*http.Response, error) {
	body, failure := c.perform(r)
	if failure != nil {
		c.failure = failure
		return nil, failure
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: r,
	}, nil
}

func (c *call) perform(r *http.Request) ([]byte, *runner.ModelError) {
	c.headers(r.Header)
	trace := &httptrace.ClientTrace{WroteHeaders: func() { c.sent.Store(true) }}
	rr := &retryablehttp.Request{Request: r.WithContext(httptrace.WithClientTrace(c.ctx, trace))}
	if err := rr.SetBody(c.body); err != nil {
		return nil, c.broken(err)
	}
	retrying := retryablehttp.Client{
		HTTPClient: c.http, RetryMax: math.MaxInt32, CheckRetry: c.again, ErrorHandler: retryablehttp.PassthroughErrorHandler,
		Backoff:        func(_, _ time.Duration, _ int, _ *http.Response) time.Duration { return c.wait },
		RequestLogHook: func(retryablehttp.Logger, *http.Request, int) { c.sent.Store(false) },
	}
	resp, err := retrying.Do(rr)
	if err != nil {
		return nil, c.broken(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, c.status(resp)
	}
	return c.read(resp)
}

// headers adds what says which call this is.
func (c *call) headers(h http.Header) {
	if c.req.Key != "" {
		// Not h.Set: under its canonical name net/http takes the header as leave
		// to send the request again by itself when a kept connection breaks, after
		// the provider may have begun to work. On the wire names have no case.
		key := string(c.req.Key)
		if c.form != bySchema {
			key += "/" + names[c.form] // another body is another request
		}
		h["idempotency-key"] = []string{headerValue(key)}
	}
	if !c.client.cfg.TraceHeaders {
		return
	}
	t := c.req.Trace
	for name, value := range map[string]string{"Run": string(t.Run), "Node": t.Node, "Visit": positiveText(t.Visit), "Turn": positiveText(t.Turn)} {
		if value != "" {
			h.Set("X-Pawl-"+name, headerValue(value))
		}
	}
}

func positiveText(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// headerValue replaces what a header cannot carry.
func headerValue(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c < ' ' || c >= 0x7f {
			b[i] = '_'
		}
	}
	return string(b)
}

// read takes in the whole answer and makes sure that it is JSON.
func (c *call) read(resp *http.Response) ([]byte, *runner.ModelError) {
	limit := c.client.cfg.MaxBody
	var buf bytes.Buffer
	if n := resp.ContentLength; n > 0 && n <= limit {
		buf.Grow(int(n) + bytes.MinRead)
	}
	n, err := buf.ReadFrom(io.LimitReader(resp.Body, limit+1))
	switch {
	case n > limit:
		failure := c.malformed(fmt.Sprintf("the answer is longer than %d bytes", limit), nil)
		failure.Retryable = false
		return nil, failure
	case err != nil && (c.ctx.Err() != nil || timedOut(err)):
		return nil, c.broken(err)
	case err != nil:
		return nil, c.malformed("the answer broke off after "+count(n, "byte"), err)
	case !json.Valid(buf.Bytes()):
		return nil, c.malformed(fmt.Sprintf("the answer is not JSON: it begins %q", oneLine(buf.String(), 80)), nil)
	}
	return buf.Bytes(), nil
}

func count(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func timedOut(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}
