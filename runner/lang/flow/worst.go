package flow

import (
	"errors"
	"slices"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// CostOptions are what a worst case depends on beside the workflow.
type CostOptions struct {
	DefaultModel string         // of nodes that name none; "" when there is none
	Prices       budget.Table   // what models cost
	Vars         map[string]any // values; of those that are not in it the default counts
}

// WorstCase is the most that one run can do, before any budget stops it: every
// loop goes round as often as its bound allows, every fan-out takes all of its
// edges. No figure wraps: the largest int64 stands for all that lie above it.
type WorstCase struct {
	Nodes    []NodeCost    `json:"nodes"`              // nodes that a run can reach, in file order
	Total    budget.Usage  `json:"total"`              // the sum over Nodes
	Answers  budget.Amount `json:"answers"`            // what the file says itself: see NodeCost.Answers
	Unpriced []string      `json:"unpriced,omitempty"` // models without a known price, sorted: Cost leaves them out
	Open     bool          `json:"open,omitempty"`     // some node's turns have no bound: see NodeCost.Open
}

// NodeCost is a node's part of a worst case.
type NodeCost struct {
	Node   string `json:"node"`
	Op     string `json:"op"`
	Model  string `json:"model,omitempty"` // "" of nodes that ask none, and where it is not known before the run
	Visits int64  `json:"visits"`

	// Usage is for all visits together: model calls, tokens in and out, and money
	// in micro-dollars. Calls count one answer, one repair of it, and as many turns
	// with tools as tool_max_steps allows; calls that are made again because a
	// server failed are not in it. Input is an estimate from the length of the
	// prompts: a reference counts as the longest answer of the node it reads, a
	// result of a tool as the most of it that is kept.
	budget.Usage

	// Answers is what one answer a visit costs where max_tokens is written: no
	// estimate, and less than any real worst case.
	Answers budget.Amount `json:"answers"`

	// Open is set when the node may use tools and tool_max_steps does not bound how
	// often: Calls then counts a single turn with tools.
	Open bool `json:"open,omitempty"`
}

// What a worst case assumes where the file says nothing.
const (
	repairTurns  = 1    // a model is told once what was wrong with its answer
	toolResult   = 4096 // tokens: as much of a tool's output as a model is shown
	perQuestion  = 256  // tokens of instructions and schema around a prompt
	openEndTurns = 1    // counted of tool turns that have no bound
)

// WorstCase computes the most that a run can cost. It costs time in proportion to
// nodes, edges and references.
func (f *Flow) WorstCase(opt CostOptions) WorstCase {
	e := &estimate{f: f, opt: opt, visits: f.visits(), published: make(map[string]int64)}
	e.flows()
	worst := WorstCase{Nodes: []NodeCost{}}
	unpriced := make(map[string]bool)
	for _, n := range f.w.Nodes {
		if _, end := n.Op.(*ir.End); end || e.visits[n.Index] == 0 {
			continue
		}
		c := e.node(n, unpriced)
		worst.Nodes = append(worst.Nodes, c)
		worst.Total = worst.Total.Add(c.Usage)
		worst.Answers = worst.Answers.Add(c.Answers)
		worst.Open = worst.Open || c.Open
	}
	for name := range unpriced {
		worst.Unpriced = append(worst.Unpriced, name)
	}
	slices.Sort(worst.Unpriced)
	return worst
}

// estimate is one computation of a worst case.
type estimate struct {
	f         *Flow
	opt       CostOptions
	visits    []int64
	input     []int64 // by node index: tokens that flow in, at most
	published map[string]int64
}

// node is what n costs in all of its visits.
func (e *estimate) node(n *ir.Node, unpriced map[string]bool) NodeCost {
	c := NodeCost{Node: n.ID, Op: n.Op.Word(), Visits: e.visits[n.Index]}
	call := ir.CallOf(n.Op)
	if call == nil {
		return c
	}
	turns, open := turnsOf(call)
	out, in := answer(call), e.prompt(n, call)
	// Each turn sends the conversation so far: what it began with, and for each
	// turn before it an answer and what its tool brought.
	again := times(plus(out, toolResult), turns*(turns-1)/2)
	c.Open, c.Model = open, e.model(call)
	c.Calls, c.Output = times(c.Visits, turns), times(c.Visits, times(turns, out))
	c.Input = times(c.Visits, plus(times(in, turns), again))
	price, priced := e.opt.Prices.Lookup(c.Model)
	if priced {
		c.Cost = price.Worst(c.Input, c.Output)
	} else if c.Model != "" {
		unpriced[c.Model] = true
	}
	if call.MaxTokens > 0 {
		c.Answers.Tokens = times(c.Visits, call.MaxTokens)
		if priced {
			c.Answers.Cost = price.Worst(0, c.Answers.Tokens)
		}
	}
	return c
}

// turnsOf is how many turns a visit takes at most, and whether that is no bound.
func turnsOf(call *ir.Call) (turns int64, open bool) {
	turns = 1 + repairTurns
	if len(call.Tools) == 0 && call.Backend == "" && call.Interaction == ir.NoInteraction {
		return turns, false
	}
	if call.MaxSteps > 0 {
		return turns + int64(min(call.MaxSteps, 1<<20)), false
	}
	return turns + openEndTurns, true
}

// answer is how many tokens one turn may answer with.
func answer(call *ir.Call) int64 {
	if call.MaxTokens > 0 {
		return call.MaxTokens
	}
	return budget.DefaultOutput
}

// model is the name of the model, as far as it is known before the run.
func (e *estimate) model(call *ir.Call) string {
	if call.Model == nil {
		return e.opt.DefaultModel
	}
	name, err := call.Model.Render(known{e}, nil)
	if err != nil {
		return ""
	}
	return name
}

// prompt is how many tokens the node's first turn sends.
func (e *estimate) prompt(n *ir.Node, call *ir.Call) int64 {
	tokens := plus(e.text(n, call.System), perQuestion)
	if call.User == nil {
		return plus(tokens, e.input[n.Index])
	}
	return plus(tokens, e.text(n, call.User))
}

// text is how many tokens a template becomes at n.
func (e *estimate) text(n *ir.Node, t *ir.Template) int64 {
	if t == nil {
		return 0
	}
	length, tokens := 0, int64(0)
	for i := range t.Parts {
		p := &t.Parts[i]
		if p.Ref == nil {
			length += len(p.Text)
			continue
		}
		tokens = plus(tokens, e.reference(n, p.Ref))
	}
	return plus(tokens, budget.EstimateTokens(length))
}

// reference is how many tokens a reference brings in at n. What only the run knows
// counts nothing.
func (e *estimate) reference(n *ir.Node, ref *ir.Ref) int64 {
	switch ref.Root {
	case ir.RootVars:
		if v, err := (known{e}).Lookup(ref); err == nil {
			text, _ := ir.Render(v)
			return budget.EstimateTokens(len(text))
		}
	case ir.RootInput:
		return e.input[n.Index]
	case ir.RootArtifacts:
		if len(ref.Path) > 0 {
			return e.published[ref.Path[0]]
		}
	case ir.RootOutputs:
		if len(ref.Path) == 0 {
			return 0
		}
		if source := e.f.w.Node(ref.Path[0]); source != nil {
			tokens := e.output(source)
			if len(ref.Path) > 1 && ref.Path[1] == "history" {
				return times(tokens, e.visits[source.Index])
			}
			return tokens
		}
	}
	return 0
}

// output is how many tokens a node's output may have.
func (e *estimate) output(n *ir.Node) int64 {
	switch op := n.Op.(type) {
	case *ir.Call:
		return answer(op)
	case *ir.Exec:
		return toolResult
	case *ir.Route, *ir.Join:
		return e.input[n.Index]
	case *ir.Ask:
		return perQuestion
	}
	return 0
}

// flows computes what flows into each node, in the order of the graph: what an
// edge that goes back brings is taken from the nodes it reads.
func (e *estimate) flows() {
	e.input = make([]int64, len(e.f.w.Nodes))
	for _, n := range e.f.w.Nodes {
		if n.Publish != "" {
			e.published[n.Publish] = max(e.published[n.Publish], e.output(n))
		}
	}
	for _, i := range e.f.g.Order() {
		n := e.f.w.Nodes[i]
		_, sum := n.Op.(*ir.Join)
		for _, edge := range e.f.into[i] {
			tokens := e.edge(edge)
			if sum {
				e.input[n.Index] = plus(e.input[n.Index], tokens)
			} else {
				e.input[n.Index] = max(e.input[n.Index], tokens)
			}
		}
	}
}

// edge is how many tokens flow along an edge.
func (e *estimate) edge(edge *ir.Edge) int64 {
	if len(edge.With) == 0 {
		return e.output(edge.From)
	}
	tokens := int64(0)
	for _, b := range edge.With {
		tokens = plus(tokens, e.text(edge.From, b.Value))
	}
	return tokens
}

// known resolves what is known before a run: variables.
type known struct{ e *estimate }

// Lookup implements Scope.
func (k known) Lookup(ref *ir.Ref) (any, error) {
	if ref.Root == ir.RootVars && len(ref.Path) == 1 {
		if v, given := k.e.opt.Vars[ref.Path[0]]; given {
			return v, nil
		}
		if v := k.e.f.w.Var(ref.Path[0]); v != nil && v.HasDef {
			return v.Default, nil
		}
	}
	return nil, errUnknown
}

// errUnknown says that only the run will know.
var errUnknown = errors.New("only the run will know")
