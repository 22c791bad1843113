package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
	"github.com/pawl-ci/pawl/runner/machine"
)

type effectFunc = func(context.Context) ([]event.Body, error)

// prepareTool runs a tool that a model asked for, if the node allows it.
func (e *engine) prepareTool(c machine.CallTool) (event.Body, effectFunc) {
	started := &event.ToolCallStarted{
		Key: c.Key, Turn: c.Turn, Index: c.Index, Attempt: c.Attempt, Name: c.Use.Name, Writes: c.Use.Writes,
	}
	call := ir.CallOf(c.Node.Op)
	at := e.at(e.state.Tree(c.Token, c.Use.Writes))
	response := c.Token.Conversation.Turns[c.Turn-1].Response
	return started, func(ctx context.Context) ([]event.Body, error) {
		args, err := e.arguments(response, c.Index)
		if err != nil {
			return unknown(ctx, c.Key, err)
		}
		place, err := at(ctx)
		if err != nil {
			return unknown(ctx, c.Key, err)
		}
		began := e.Clock.Now()
		result, err := e.callTool(ctx, place.Tools, c, call, args)
		if err != nil || ctx.Err() != nil {
			return unknown(ctx, c.Key, err)
		}
		finished := &event.ToolCallFinished{
			Key: c.Key, Error: result.Error, Summary: e.opts.Redact(result.Summary),
			Result: event.Inline(mustEncode(e.opts.Redact(result.Text))),
			Millis: e.Clock.Now().Sub(began).Milliseconds(),
		}
		if c.Use.Writes {
			if finished.Snapshot, err = place.snapshot(ctx); err != nil {
				return unknown(ctx, c.Key, err)
			}
		}
		return []event.Body{finished}, nil
	}
}

func (p *Place) snapshot(ctx context.Context) (string, error) {
	if p.Workspace == nil {
		return "", nil
	}
	return p.Workspace.Snapshot(ctx)
}

func (e *engine) arguments(response event.Payload, index int) (string, error) {
	if err := response.Load(e.Blobs.Get); err != nil {
		return "", err
	}
	var said answer
	if err := json.Unmarshal(response.Raw(), &said); err != nil {
		return "", fmt.Errorf("answer: %w", err)
	}
	if index >= len(said.ToolCalls) {
		return "", fmt.Errorf("the answer holds no tool call %d", index)
	}
	return said.ToolCalls[index].Args, nil
}

// callTool refuses what the node does not list: a model may ask for anything.
func (e *engine) callTool(ctx context.Context, tools Tools, c machine.CallTool, call *ir.Call, args string) (ToolResult, error) {
	name := c.Use.Name
	specs, err := e.toolSpecs(call)
	if err != nil {
		return ToolResult{}, err
	}
	allowed := make([]string, 0, len(specs))
	for _, s := range specs {
		if s.Name == name && name != machine.AskTool {
			return useTool(ctx, tools, c.Left, name, json.RawMessage(args))
		}
		allowed = append(allowed, s.Name)
	}
	if name == machine.AskTool && slices.Contains(allowed, name) { // one that could be read was forwarded
		return ToolResult{Text: `write the question into the argument "question"`, Error: true, Summary: "refused a question without text"}, nil
	}
	text := fmt.Sprintf("there is no tool %q here; you may use: %s", name, strings.Join(allowed, ", "))
	return ToolResult{Text: text, Error: true, Summary: "refused " + name}, nil
}

// useTool runs a tool within what is left of its node's time. A tool that had to
// be ended is a result, not a failure of the host: the machine decides about the
// node.
func useTool(ctx context.Context, tools Tools, left time.Duration, name string, args json.RawMessage) (ToolResult, error) {
	if left == 0 {
		return tools.Call(ctx, name, args)
	}
	bounded, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	result, err := tools.Call(bounded, name, args)
	if bounded.Err() == nil || ctx.Err() != nil {
		return result, err
	}
	return ToolResult{Text: name + " was ended: the time of this step is used up", Error: true, Summary: "ended " + name}, nil
}
