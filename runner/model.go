package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
	"github.com/pawl-ci/pawl/runner/machine"
)

// prepareModel builds the request and reserves its worst case. When the purse
// refuses, the event stops the run instead.
func (e *engine) prepareModel(c machine.CallModel) (*start, event.Body, error) {
	if c.Call.Backend != "" && c.Side == nil {
		return e.prepareBackend(c)
	}
	req, cut, err := e.request(c)
	if err != nil {
		return nil, nil, err
	}
	price, priced := e.opts.Prices.Lookup(req.Model)
	if !priced && e.state.Purse.Limits.MaxCost > 0 {
		return nil, unpriced(req.Model), nil
	}
	prompt := budget.EstimateTokens(req.size())
	known := &price
	if !priced {
		known = nil
	}
	maxOut, reserve, err := e.state.Purse.Fit(prompt, c.Call.MaxTokens, known)
	var over *budget.Overdraft
	if errors.As(err, &over) {
		return nil, overdrawn(over, c.Node.ID), nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("reserve budget for %s: %w", c.Node.ID, err)
	}
	req.MaxOutput = e.cap(c.Call, maxOut)
	started := &event.ModelCallStarted{
		Key: c.Key, Turn: c.Turn, Attempt: c.Attempt, Model: req.Model, MaxOutput: maxOut, Reserved: reserve, Cut: cut,
	}
	if c.Side != nil {
		prompt := event.Inline(mustEncode(c.Side.Prompt))
		started.Question, started.Prompt = c.Side.Question, &prompt
	}
	call := modelCall{engine: e, command: c, req: req, reserved: reserve, price: price, priced: priced, prompt: prompt}
	return &start{c.Token, c.Node, call.do}, started, nil
}

// cap is the bound sent to the provider. Without any limit the provider's own
// default is left alone, because some models refuse a bound they do not like.
func (e *engine) cap(call *ir.Call, maxOut int64) int64 {
	l := e.state.Purse.Limits
	if call.MaxTokens == 0 && l.MaxTokens == 0 && l.MaxCost == 0 {
		return 0
	}
	return maxOut
}

func unpriced(model string) *event.RunStopped {
	return &event.RunStopped{
		Reason: event.StopBudget, Limit: "max_cost_usd",
		Detail: fmt.Sprintf("max_cost_usd: model %s has no known price, so its cost cannot be held", model),
		Hint:   "give its price with --prices FILE, or drop max_cost_usd and set max_tokens",
	}
}

func overdrawn(o *budget.Overdraft, node string) *event.RunStopped {
	return &event.RunStopped{
		Reason: event.StopBudget, Limit: o.Limit,
		Detail: fmt.Sprintf("%s, before the next call of %s", o.Error(), node),
		Hint:   "go on with a higher limit: pawl resume --" + flagOf(o.Limit) + " …",
	}
}

func flagOf(limit string) string {
	b := []byte(limit)
	for i := range b {
		if b[i] == '_' {
			b[i] = '-'
		}
	}
	return string(b)
}

// modelCall is one request on its way.
type modelCall struct {
	engine   *engine
	command  machine.CallModel
	req      *ModelRequest
	reserved budget.Amount
	price    budget.Price
	priced   bool
	prompt   int64 // estimated tokens
}

func (m modelCall) do(ctx context.Context) ([]event.Body, error) {
	call, cancel := m.bounded(ctx)
	defer cancel()
	began := m.engine.Clock.Now()
	resp, err := m.engine.Model.Complete(call, m.req)
	return m.outcome(ctx, resp, err, m.engine.Clock.Now().Sub(began))
}

// bounded is ctx with what is left of the node's time.
func (m modelCall) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if m.command.Left > 0 {
		return context.WithTimeout(ctx, m.command.Left)
	}
	return context.WithCancel(ctx)
}

// outcome is how the call ended, as events; there is always one.
func (m modelCall) outcome(ctx context.Context, resp *ModelResponse, err error, took time.Duration) ([]event.Body, error) {
	var failed *ModelError
	known := errors.As(err, &failed)
	switch {
	case err == nil:
		return []event.Body{m.finished(resp, took)}, nil
	case known && (ctx.Err() == nil || !failed.InDoubt):
		return []event.Body{m.failed(failed, took)}, nil
	}
	return m.unknown(ctx, err)
}

// unknown keeps the reservation as spent: the provider may have answered.
func (m modelCall) unknown(ctx context.Context, cause error) ([]event.Body, error) {
	bodies, err := unknown(ctx, m.command.Key, cause)
	bodies[0].(*event.EffectForfeited).Charged = m.reserved
	return bodies, err
}

// failed records a failure. What certainly was not answered the adapter has
// already tried again, with patience; only a call in doubt is the engine's to
// repeat, because it may be paid twice.
func (m modelCall) failed(err *ModelError, took time.Duration) *event.ModelCallFailed {
	body := &event.ModelCallFailed{
		Key: m.command.Key, Class: string(err.Class), Detail: m.engine.opts.Redact(err.Detail),
		Hint: err.Hint, Retry: err.Retryable && err.InDoubt, Millis: took.Milliseconds(),
	}
	if err.InDoubt {
		body.Charged, body.Used, body.Limit = m.reserved, m.used(err), err.Limit
	}
	return body
}

func (m modelCall) finished(resp *ModelResponse, took time.Duration) *event.ModelCallFinished {
	redact := m.engine.opts.Redact
	said := answer{Text: redact(resp.Text)}
	body := &event.ModelCallFinished{
		Key: m.command.Key, Model: resp.Model, Finish: resp.Finish, Form: resp.Form, Usage: m.usage(resp), Unpriced: !m.priced && resp.Cost == nil,
		Estimated: !resp.UsageKnown, Millis: took.Milliseconds(),
	}
	for _, call := range resp.ToolCalls {
		call.Args = redact(call.Args)
		said.ToolCalls = append(said.ToolCalls, call)
		writes := slices.ContainsFunc(m.req.Tools, func(t ToolSpec) bool { return t.Name == call.Name && t.Writes })
		body.Tools = append(body.Tools, event.ToolUse{ID: call.ID, Name: call.Name, Writes: writes, Question: questionIn(m.command.Call, call)})
	}
	if m.command.Side != nil {
		body.Tools, said.ToolCalls = nil, nil // whoever answers an agent has no tools
	}
	body.Response = event.Inline(mustEncode(said))
	if len(body.Tools) == 0 {
		body.Output, body.Problem = m.command.Reply.Read(said.Text, resp.Finish)
	}
	return body
}

// usage is what the purse settles: the provider's figures, or the reservation
// when there are none.
func (m modelCall) usage(resp *ModelResponse) budget.Usage {
	u := resp.Usage
	if !resp.UsageKnown {
		u = budget.Usage{Input: m.prompt, Output: max(m.reserved.Tokens-m.prompt, 0)}
	}
	u.Calls = max(u.Calls, 1)
	switch {
	case resp.Cost != nil:
		u.Cost = *resp.Cost
	case m.priced:
		u.Cost = m.price.Cost(u)
	}
	return u
}

// mustEncode encodes values of our own types, which cannot fail.
func mustEncode(v any) json.RawMessage {
	raw, err := ir.Encode(v)
	if err != nil {
		panic(fmt.Sprintf("runner: encode %T: %v", v, err))
	}
	return raw
}
