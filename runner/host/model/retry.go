package model

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxErrorBody bounds how much of an error's body is read.
const maxErrorBody = 64 << 10

// again decides after each attempt whether there is another one. It says yes
// only when the provider has certainly not worked, and while patience lasts.
func (c *call) again(ctx context.Context, resp *http.Response, err error) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if resp == nil {
		return c.disconnected(err), nil
	}
	if resp.StatusCode < 400 {
		return false, nil
	}
	keepErrorBody(resp)
	if !inDoubt(resp.StatusCode) {
		c.sent.Store(false)
	}
	if !transient(resp) {
		return false, nil
	}
	asked, _ := retryAfter(resp.Header, time.Now())
	return c.patient(asked, c.patience), nil
}

// disconnected handles an attempt that found nobody to talk to.
func (c *call) disconnected(err error) bool {
	if !dialing(err) {
		return false
	}
	// Somebody who mistyped a port should not wait as long as somebody whose
	// provider is busy.
	return c.patient(0, c.patience-c.client.cfg.Patience*3/4)
}

func dialing(err error) bool {
	var op *net.OpError
	var dns *net.DNSError
	if errors.As(err, &dns) && dns.IsNotFound {
		return false // no such host: it will not come into being
	}
	return errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect")
}

// patient plans the next wait: as long as the server asked for, at least as long
// as our own rhythm says, with jitter so that many clients do not come back in
// step. It reports false when there is not that much left.
func (c *call) patient(asked, left time.Duration) bool {
	wait := c.client.cfg.RetryWait << min(c.waits, 4)
	wait = max(wait, asked)
	if wait > left {
		c.asked = asked
		return false
	}
	wait = min(wait+rand.N(wait/4+1), left)
	c.wait, c.patience, c.waits = wait, c.patience-wait, c.waits+1
	return true
}

// transient reports whether the same request may be answered later, with nothing
// charged for this attempt.
func transient(resp *http.Response) bool {
	if resp.Header.Get("X-Should-Retry") == "false" {
		return false
	}
	switch resp.StatusCode {
	case http.StatusTooManyRequests:
		return !outOfCredit(resp)
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, statusOverloaded:
		return true
	}
	return false
}

// Statuses without a name in net/http.
const (
	statusOverloaded     = 529 // too many requests at the provider, whoever sent them
	statusGatewayTimeout = 524 // as 504, from a widely used proxy
)

// inDoubt: a gateway gave up waiting for a provider that has the request.
func inDoubt(status int) bool {
	return status == http.StatusGatewayTimeout || status == statusGatewayTimeout
}

// outOfCredit tells a 429 that no waiting helps against.
func outOfCredit(resp *http.Response) bool {
	code := errorText(bodyOf(resp)).code
	return code == "insufficient_quota" || code == "billing_hard_limit_reached"
}

// retryAfter reads how long the server asks to wait: milliseconds, seconds or a
// date. A date in the past, or a wait of nothing, is 0 and ok.
func retryAfter(h http.Header, now time.Time) (wait time.Duration, ok bool) {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return span(ms, time.Millisecond)
	}
	text := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		return span(seconds, time.Second)
	}
	if date, err := http.ParseTime(text); err == nil {
		return max(date.Sub(now), 0), true
	}
	return 0, false
}

// longest is a wait nobody has patience for; larger figures are read as this.
const longest = 24 * time.Hour

func span(n float64, unit time.Duration) (time.Duration, bool) {
	if !(n >= 0) { // negative, or not a number
		return 0, false
	}
	if n > float64(longest/unit) {
		return longest, true
	}
	return time.Duration(n * float64(unit)), true
}

// savedBody is an error's body, read once and kept.
type savedBody struct {
	io.Reader
	content []byte
}

// Close implements io.Closer.
func (savedBody) Close() error { return nil }

func keepErrorBody(resp *http.Response) {
	content, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // a broken error body is an error body
	_ = resp.Body.Close()
	resp.Body = savedBody{bytes.NewReader(content), content}
}

func bodyOf(resp *http.Response) []byte {
	saved, _ := resp.Body.(savedBody)
	return saved.content
}
