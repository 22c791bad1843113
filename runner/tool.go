package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

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
	call := c.Node.Op.(*ir.Call)
	response := c.Token.Conversation.Turns[c.Turn-1].Response
	return started, func(ctx context.Context) ([]event.Body, error) {
		args, err := e.arguments(response, c.Index)
		if err != nil {
			return unknown(ctx, c.Key, err)
		}
		began := e.Clock.Now()
		result, err := e.callTool(ctx, call, c.Use.Name, args)
		if err != nil || ctx.Err() != nil {
			return unknown(ctx, c.Key, err)
		}
		finished := &event.ToolCallFinished{
			Key: c.Key, Error: result.Error, Summary: e.opts.Redact(result.Summary),
			Result: event.Inline(mustEncode(e.opts.Redact(result.Text))),
			Millis: e.Clock.Now().Sub(began).Milliseconds(),
		}
		if c.Use.Writes {
			if finished.Snapshot, err = e.snapshot(ctx); err != nil {
				return unknown(ctx, c.Key, err)
			}
		}
		return []event.Body{finished}, nil
	}
}

func (e *engine) snapshot(ctx context.Context) (string, error) {
	if e.Workspace == nil {
		return "", nil
	}
	return e.Workspace.Snapshot(ctx)
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
func (e *engine) callTool(ctx context.Context, call *ir.Call, name, args string) (ToolResult, error) {
	specs, err := e.toolSpecs(call)
	if err != nil {
		return ToolResult{}, err
	}
	allowed := make([]string, 0, len(specs))
	for _, s := range specs {
		if s.Name == name {
			return e.Tools.Call(ctx, name, json.RawMessage(args))
		}
		allowed = append(allowed, s.Name)
	}
	text := fmt.Sprintf("there is no tool %q here; you may use: %s", name, strings.Join(allowed, ", "))
	return ToolResult{Text: text, Error: true, Summary: "refused " + name}, nil
}
