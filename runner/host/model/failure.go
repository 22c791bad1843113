package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/redact"
)

// line makes a message of one line that names the model and the host. It holds
// no key, whatever the server has put into its answer.
func (c *call) line(what string) string {
	return fmt.Sprintf("model %s at %s: %s", oneLine(c.model, 100), c.client.host, oneLine(c.client.redact(what), 500))
}

// keyLike matches what looks like a key, masked or not, as providers echo it.
var keyLike = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bsk-[A-Za-z0-9_*.-]{6,}`) })

// redact takes the key out of text, in whatever form it was echoed. A key of a
// few letters is none: local servers are given "x" because a client wants
// something.
func (c *Client) redact(text string) string {
	return keyLike().ReplaceAllString(c.secrets.String(text), redact.Mark)
}

// oneLine folds white space, control and invisible characters into single spaces and cuts
// the text after about n bytes.
func oneLine(text string, n int) string {
	text = text[:min(len(text), 8*n)]
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "�"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
	}), " ")
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}

// malformed is an answer that cannot be used: it was made, so it was charged.
func (c *call) malformed(what string, cause error) *runner.ModelError {
	return &runner.ModelError{
		Class: runner.Malformed, Status: http.StatusOK, Detail: c.line(what), Retryable: true, InDoubt: true, Err: cause,
	}
}

// broken is an attempt that ended without an answer.
func (c *call) broken(cause error) *runner.ModelError {
	sent := c.sent.Load()
	if ended := c.ctx.Err(); ended != nil {
		return &runner.ModelError{
			Class: runner.NoAnswer, Detail: c.line("interrupted before the answer came: " + ended.Error()),
			Retryable: errors.Is(ended, context.DeadlineExceeded), InDoubt: sent, Err: ended,
		}
	}
	// The cause is kept as text only: a timeout of ours must not look like the
	// end of the caller's context.
	why := errors.New(oneLine(c.client.redact(reason(cause)), 300))
	if timedOut(cause) && (sent || !dialing(cause)) {
		return &runner.ModelError{
			Class: runner.NoAnswer, Detail: c.line("no answer within " + c.client.cfg.HTTPTimeout.String()),
			Retryable: true, InDoubt: sent, Err: why,
		}
	}
	if sent {
		return &runner.ModelError{
			Class: runner.Malformed, Detail: c.line("the connection broke before the answer came: " + why.Error()),
			Retryable: true, InDoubt: true, Err: why,
		}
	}
	return &runner.ModelError{
		Class: runner.Unreachable, Detail: c.line("no connection: " + why.Error()), Retryable: true, Err: why,
		Hint: "check --base-url, and that the server is running",
	}
}

// reason leaves out of a network error what the line says already: method, URL
// and the layers of dialing.
func reason(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return "no such host or no name server: " + dns.Err
	}
	return err.Error()
}

// status is an HTTP answer other than success.
func (c *call) status(resp *http.Response) *runner.ModelError {
	said := errorText(bodyOf(resp))
	c.complaint = said.message
	e := &runner.ModelError{Class: runner.BadRequest, Status: resp.StatusCode}
	what := strings.TrimSpace(fmt.Sprintf("%d %s", resp.StatusCode, http.StatusText(resp.StatusCode)))
	if said.message != "" {
		what += ": " + said.message
	}
	switch s := resp.StatusCode; {
	case s < 400:
		what += ", to " + resp.Header.Get("Location")
		e.Hint = "a redirect is not followed, because the key would follow it; give the final address with --base-url"
	case s == http.StatusUnauthorized || s == http.StatusForbidden:
		e.Class, e.Hint = runner.Auth, c.authHint()
	case s == http.StatusNotFound:
		e.Hint = "check the model's name, and that --base-url ends where the API begins, usually in /v1"
	case s == http.StatusTooManyRequests:
		e.Class = runner.RateLimit
		e.Retryable, e.Hint = c.rateHint(resp)
	case s >= 500:
		e.Class, e.InDoubt = runner.Server, inDoubt(s)
		e.Retryable = s != http.StatusNotImplemented && s != http.StatusHTTPVersionNotSupported
		e.Hint = c.waitHint()
	case said.code == "context_length_exceeded":
		e.Hint = "the conversation is longer than the model can read; use a model with a larger context"
	}
	e.Detail = c.line(what)
	return e
}

func (c *call) authHint() string {
	if c.client.cfg.APIKey == "" {
		return "no key was sent: set " + c.client.cfg.KeyName
	}
	return "check that " + c.client.cfg.KeyName + " is valid for the server of --base-url and may use this model"
}

func (c *call) rateHint(resp *http.Response) (retryable bool, hint string) {
	if outOfCredit(resp) {
		return false, "the account has no credit left, or its spending limit is reached; waiting does not help"
	}
	if hint := c.waitHint(); hint != "" {
		return true, hint
	}
	return true, "the account's rate limit is reached; run fewer branches at once, or try later"
}

// waitHint says how long the server wanted us to wait when that was too long.
func (c *call) waitHint() string {
	if c.asked == 0 {
		return ""
	}
	return fmt.Sprintf("the server asks to wait %s; resume the run after that", c.asked.Round(time.Second))
}

// said is what an error body says.
type said struct{ message, code string }

// errorText reads the shapes in which servers put their errors: the API's own
// object, an object with one text in it, or plain text.
func errorText(body []byte) said {
	var outer struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(body, &outer) != nil {
		return said{message: plain(body)}
	}
	var inner struct {
		Message string          `json:"message"`
		Code    json.RawMessage `json:"code"`
		Type    string          `json:"type"`
	}
	var text, code string
	if json.Unmarshal(outer.Error, &text) == nil && text != "" {
		return said{message: text}
	}
	if json.Unmarshal(outer.Error, &inner) == nil && inner.Message != "" {
		if json.Unmarshal(inner.Code, &code) != nil || code == "" {
			code = inner.Type
		}
		return said{inner.Message, code}
	}
	if outer.Message != "" {
		return said{message: outer.Message}
	}
	if json.Unmarshal(outer.Detail, &text) == nil {
		return said{message: text}
	}
	return said{message: string(outer.Detail)}
}

// plain is a body that is not JSON; a page for browsers says nothing in a line.
func plain(body []byte) string {
	text := strings.TrimSpace(string(body))
	if strings.HasPrefix(text, "<") {
		return ""
	}
	return text
}
