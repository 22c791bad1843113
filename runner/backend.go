package runner

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
	"github.com/pawl-ci/pawl/runner/machine"
)

// prepareBackend hands a turn to an agent CLI, which works on the worktree with
// tools of its own. Nobody can say beforehand how much it will use. So it gets
// its branch's share of what the purse has left, or what the node allows of that,
// and is ended when it uses more.
func (e *engine) prepareBackend(c machine.CallModel) (*start, event.Body, error) {
	req, cut, err := e.request(c)
	if err != nil {
		return nil, nil, err
	}
	req.Backend, req.Readonly, req.MaxSteps = c.Call.Backend, c.Call.Readonly, c.Call.MaxSteps
	for _, t := range c.Call.Tools {
		req.BackendTools = append(req.BackendTools, t.Name)
	}
	price, priced := e.opts.Prices.Lookup(priceName(req))
	prompt := budget.EstimateTokens(req.size())
	reserve, err := e.share(c, req, prompt, price, priced)
	var over *budget.Overdraft
	if errors.As(err, &over) {
		return nil, overdrawn(over, c.Node.ID), nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("reserve budget for %s: %w", c.Node.ID, err)
	}
	writes := !c.Call.Readonly
	started := &event.ModelCallStarted{
		Key: c.Key, Turn: c.Turn, Attempt: c.Attempt, Model: req.Model, Reserved: reserve, Cut: cut, Backend: req.Backend, Writes: writes,
	}
	call := modelCall{engine: e, command: c, req: req, reserved: reserve, price: price, priced: priced, prompt: prompt}
	at := e.at(e.state.Tree(c.Token, writes))
	return &start{c.Token, c.Node, func(ctx context.Context) ([]event.Body, error) { return call.delegate(ctx, at, writes) }}, started, nil
}

// priceName is the model at whose price the program's tokens count.
func priceName(req *ModelRequest) string {
	if req.Model == "" && req.Backend == "codex" {
		return ir.CodexPrice
	}
	return req.Model
}

// share is what the program may use, and what is reserved for it. It bounds the
// request.
func (e *engine) share(c machine.CallModel, req *ModelRequest, prompt int64, price budget.Price, priced bool) (budget.Amount, error) {
	limits, left := e.state.Purse.Limits, e.state.Purse.Left()
	least := budget.Amount{Tokens: prompt + 1}
	if limits.MaxCost > 0 && priced {
		least.Cost = price.Worst(prompt, 1)
	}
	if err := e.state.Purse.Check(least); err != nil {
		return budget.Amount{}, err
	}
	walkers := int64(max(e.state.Walkers(), 1))
	own := c.Call.MaxTokens
	reserve := least
	if limits.MaxTokens > 0 || own > 0 {
		reserve.Tokens = max(left.Tokens/walkers, least.Tokens)
		if own > 0 {
			reserve.Tokens = max(min(reserve.Tokens, own), least.Tokens)
		}
		req.MaxTotal = reserve.Tokens
	}
	if limits.MaxCost > 0 {
		reserve.Cost = max(left.Cost/budget.Micros(walkers), least.Cost)
		req.MaxCost = reserve.Cost
		if dearest := price.Worst(0, 1_000_000); priced && dearest > 0 {
			affordable := max(int64(reserve.Cost)*1_000_000/int64(dearest), 1)
			if req.MaxTotal == 0 || affordable < req.MaxTotal {
				req.MaxTotal = affordable
			}
		}
	}
	return reserve, nil
}

// delegate runs the program and keeps what it made of the worktree.
func (m modelCall) delegate(ctx context.Context, at func(context.Context) (Place, error), writes bool) ([]event.Body, error) {
	place, err := at(ctx)
	if err != nil {
		return m.unknown(ctx, err)
	}
	if place.Backend == nil {
		return []event.Body{m.failed(&ModelError{Class: BadRequest, Detail: "backend " + m.req.Backend + " cannot be run here"}, 0)}, nil
	}
	bounded, cancel := m.bounded(ctx)
	defer cancel()
	began := m.engine.Clock.Now()
	resp, err := place.Backend.Complete(bounded, m.req)
	bodies, err := m.outcome(ctx, resp, err, m.engine.Clock.Now().Sub(began))
	finished, ok := bodies[0].(*event.ModelCallFinished)
	if err != nil || !ok || !writes {
		return bodies, err
	}
	if finished.Snapshot, err = place.snapshot(ctx); err != nil {
		return m.unknown(ctx, err)
	}
	return bodies, nil
}

// used is what a failed program used all the same, when it said so.
func (m modelCall) used(err *ModelError) *budget.Usage {
	if !err.UsageKnown {
		return nil
	}
	u := err.Usage
	u.Calls = max(u.Calls, 1)
	if m.priced {
		u.Cost = m.price.Cost(u)
	}
	return &u
}
