package check

import (
	"fmt"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/flow"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// limits: a limit on money can only be held for models whose price is known.
func (c *checker) limits() {
	if c.w.Limits.MaxCost == 0 {
		return
	}
	for _, n := range c.w.Nodes {
		call := ir.CallOf(n.Op)
		switch {
		case call == nil || c.opt.DefaultModel != "" || call.Backend == "claude_code": // it says what it costs
		case call.Backend != "" && call.Model == nil:
			if _, priced := c.opt.Prices.Lookup(ir.CodexPrice); !priced {
				c.list.Errorf("P170", n.Span, "give the price of "+ir.CodexPrice+" with --prices FILE, or name the model",
					"%s does not say what it costs, so max_cost_usd cannot be held", call.Backend)
			}
		default:
			c.priced(call.Model)
			c.priced(call.InteractionModel)
		}
	}
}

func (c *checker) priced(model *ir.Template) {
	if model == nil || len(model.Refs()) > 0 {
		return
	}
	name, err := model.Render(nil, nil)
	if err != nil {
		return
	}
	if _, priced := c.opt.Prices.Lookup(name); !priced {
		c.list.Errorf("P170", model.Span, "give its price with --prices FILE, or limit max_tokens instead of max_cost_usd",
			"model %s has no known price, so max_cost_usd cannot be held", name)
	}
}

// worst warns when what the file says itself, answers of max_tokens in loops of
// known bounds, is more than its budget allows. Estimates do not count here: a
// budget below them is how budgets are meant to be used.
func (c *checker) worst() {
	limits := c.w.Limits
	if limits.MaxTokens == 0 && limits.MaxCost == 0 || c.list.HasErrors() {
		return
	}
	worst := c.f.WorstCase(flow.CostOptions{DefaultModel: c.opt.DefaultModel, Prices: c.opt.Prices})
	if limits.MaxTokens > 0 && worst.Answers.Tokens > limits.MaxTokens {
		c.above(&worst, fmt.Sprintf("%d tokens are above max_tokens: %d", worst.Answers.Tokens, limits.MaxTokens))
	}
	if limits.MaxCost > 0 && worst.Answers.Cost > limits.MaxCost {
		c.above(&worst, fmt.Sprintf("answers for %s are above max_cost_usd: %s", worst.Answers.Cost, limits.MaxCost))
	}
}

func (c *checker) above(worst *flow.WorstCase, what string) {
	d := diag.Diagnostic{
		Code: "P173", Severity: diag.Warning, Span: c.w.Span, Message: "in the worst case " + what + ", prompts not counted",
		Hint: "lower the bounds of loops or max_tokens of nodes, or raise the budget; pawl validate --cost shows the figures",
	}
	var most *flow.NodeCost
	for i := range worst.Nodes {
		if n := &worst.Nodes[i]; most == nil || n.Answers.Tokens > most.Answers.Tokens {
			most = n
		}
	}
	if n := c.w.Node(most.Node); n != nil {
		d.Related = []diag.Related{{Span: n.Span, Message: fmt.Sprintf("the largest part: %d visits, %d tokens", most.Visits, most.Answers.Tokens)}}
	}
	c.list.Add(d)
}
