package model

import (
	"errors"
	"fmt"

	"github.com/openai/openai-go"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/runner"
)

// refused is the finish reason of an answer in which the model declines; the
// API itself calls that "stop".
const refused = "refusal"

// translate puts an answer into the engine's words.
func translate(c *openai.ChatCompletion, asked string) (*runner.ModelResponse, error) {
	if c == nil || len(c.Choices) == 0 {
		return nil, errors.New("the answer has no choice in it" + inside(c))
	}
	choice := &c.Choices[0]
	resp := &runner.ModelResponse{Model: c.Model, Text: choice.Message.Content, Finish: choice.FinishReason}
	if resp.Model == "" {
		resp.Model = asked
	}
	if choice.Message.Refusal != "" && resp.Text == "" {
		resp.Text, resp.Finish = choice.Message.Refusal, refused
	}
	resp.ToolCalls = toolCalls(choice.Message.ToolCalls)
	resp.Usage, resp.UsageKnown = usage(&c.Usage)
	return resp, nil
}

// inside names the error that some servers send with status 200.
func inside(c *openai.ChatCompletion) string {
	if c == nil {
		return ""
	}
	if e := errorText([]byte(c.RawJSON())); e.message != "" {
		return ": " + e.message
	}
	return ""
}

// toolCalls keeps the calls' order and makes sure that each has an id of its
// own: some servers send none, or the same one for all.
func toolCalls(calls []openai.ChatCompletionMessageToolCall) []runner.ToolCall {
	var out []runner.ToolCall
	seen := map[string]bool{}
	for i, c := range calls {
		id := c.ID
		for n := i; id == "" || seen[id]; n++ {
			id = fmt.Sprintf("call_%d", n)
		}
		seen[id] = true
		out = append(out, runner.ToolCall{ID: id, Name: c.Function.Name, Args: c.Function.Arguments})
	}
	return out
}

// mostTokens is more than any call can consume; a larger figure is not one.
const mostTokens = 1 << 40

// usage reads the provider's figures. They are unknown when they are absent,
// negative, absurd or all zero: what was consumed is never nothing.
//
// Some providers leave the reasoning tokens out of completion_tokens, but all
// count them in total_tokens or say them apart. The larger reading is taken, so
// that no answer is cheaper in the books than on the bill.
func usage(u *openai.CompletionUsage) (budget.Usage, bool) {
	in, out, total := u.PromptTokens, u.CompletionTokens, u.TotalTokens
	cached, reasoning := u.PromptTokensDetails.CachedTokens, u.CompletionTokensDetails.ReasoningTokens
	for _, n := range []int64{in, out, total, cached, reasoning} {
		if n < 0 || n > mostTokens {
			return budget.Usage{Calls: 1}, false
		}
	}
	out = max(out, total-in)
	if reasoning > out {
		out += reasoning
	}
	if in+out == 0 {
		return budget.Usage{Calls: 1}, false
	}
	return budget.Usage{Calls: 1, Input: in, Cached: min(cached, in), Output: out, Reasoning: reasoning}, true
}
