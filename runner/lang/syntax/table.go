package syntax

import (
	"slices"

	"github.com/pawl-ci/pawl/runner/lang/diag"
)

// form is the form of value that a property wants.
type form uint8

const (
	aText     form = iota // "text", or one word
	aCommand              // "text", or text below
	aName                 // the name of something declared
	aNameList             // [name, name]
	aTool                 // a name, possibly dotted, or a text
	aToolList             // a list of them
	aTextList             // ["text", "text"]
	aWhole                // a whole number
	aNumber
	aBool
	aDuration
	aChoice
	aVerify    // auto, none, a command, a list of commands
	aBlock     // a block of properties
	anObject   // { key: "text" }, or a block of such lines
	aConstants // the same with JSON values
	aFormulas  // a block of key: "expression"
)

// spec says what a property is called, what it means and which values it takes.
type spec struct {
	name     string
	means    string // the property that it is another word for, or ""
	form     form
	of       string   // aName, aNameList: what is named
	choices  []choice // aChoice
	props    []spec   // aBlock
	least    int64    // aWhole, aNumber
	positive bool     // aNumber: 0 is too little
	code     diag.Code
}

// choice is a word of a closed set.
type choice struct {
	word  string
	means string // the canonical word, or "" for itself
	quiet bool   // understood, and not listed in hints
}

func (s *spec) key() string {
	if s.means != "" {
		return s.means
	}
	return s.name
}

// specOf returns the spec of the property that is spelt name, or nil.
func specOf(table []spec, name string) *spec {
	for i := range table {
		if table[i].name == name {
			return &table[i]
		}
	}
	return nil
}

// canonical lists the properties of a table without their other words, sorted.
func canonical(table []spec) []string {
	var list []string
	for i := range table {
		if table[i].means == "" {
			list = append(list, table[i].name)
		}
	}
	slices.Sort(list)
	return list
}

// The closed sets.
var (
	awaitWords       = []choice{{word: "wait_all"}, {word: "best_effort"}}
	effortWords      = []choice{{word: "low"}, {word: "medium"}, {word: "high"}, {word: "extra_high"}, {word: "xhigh", means: "extra_high", quiet: true}, {word: "max", means: "extra_high", quiet: true}}
	sessionWords     = []choice{{word: "fresh"}, {word: "inherit"}, {word: "fork"}, {word: "artifacts_only"}, {word: "inherit_if_available", means: "inherit", quiet: true}}
	routerWords      = []choice{{word: "fan_out_all"}, {word: "condition"}, {word: "round_robin"}, {word: "llm"}}
	transportWords   = []choice{{word: "stdio"}, {word: "http"}, {word: "sse"}}
	interactionWords = []choice{{word: "none"}, {word: "human"}, {word: "llm"}, {word: "llm_or_human"}}
	networkWords     = []choice{{word: "none"}, {word: "allow"}}
	worktreeWords    = []choice{{word: "tick"}, {word: "none"}, {word: "auto", means: "tick", quiet: true}}

	humanModeWords = []choice{
		{word: "pause_until_answers"}, {word: "auto_answer"}, {word: "auto_or_pause"},
		{word: "human", means: "pause_until_answers", quiet: true}, {word: "llm", means: "auto_answer", quiet: true},
		{word: "llm_or_human", means: "auto_or_pause", quiet: true},
	}
	humanInteractionWords = []choice{
		{word: "human", means: "pause_until_answers"}, {word: "llm", means: "auto_answer"},
		{word: "llm_or_human", means: "auto_or_pause"},
		{word: "pause_until_answers", quiet: true}, {word: "auto_answer", quiet: true}, {word: "auto_or_pause", quiet: true},
	}
)

// mcpProps are the properties of an mcp block.
var mcpProps = []spec{
	{name: "autoload_project", form: aBool},
	{name: "disable", form: aNameList, of: "MCP server"},
	{name: "inherit", form: aBool},
	{name: "servers", form: aNameList, of: "MCP server"},
}

// budgetProps are the properties of a budget block.
var budgetProps = []spec{
	{name: "max_cost_usd", form: aNumber, positive: true},
	{name: "max_duration", form: aDuration},
	{name: "max_iterations", form: aWhole, least: 1},
	{name: "max_parallel_branches", form: aWhole, least: 1},
	{name: "max_tokens", form: aWhole, least: 1},
}

// callProps are the properties of agents and judges.
var callProps = []spec{
	{name: "await", form: aChoice, choices: awaitWords},
	{name: "backend", form: aText},
	{name: "conflict", form: aName, of: "agent, or fail, or ask"},
	{name: "delegate", means: "backend", form: aText},
	{name: "input", form: aName, of: "schema"},
	{name: "interaction", form: aChoice, choices: interactionWords},
	{name: "interaction_model", form: aText},
	{name: "interaction_prompt", form: aName, of: "prompt"},
	{name: "max_tokens", form: aWhole, least: 1},
	{name: "mcp", form: aBlock, props: mcpProps},
	{name: "model", form: aText},
	{name: "output", form: aName, of: "schema"},
	{name: "publish", form: aName, of: "artifact"},
	{name: "readonly", form: aBool},
	{name: "reasoning_effort", form: aChoice, choices: effortWords, code: "C027"},
	{name: "retries", form: aWhole},
	{name: "session", form: aChoice, choices: sessionWords},
	{name: "system", form: aName, of: "prompt"},
	{name: "temperature", form: aNumber},
	{name: "timeout", form: aDuration},
	{name: "tool_max_steps", form: aWhole},
	{name: "tools", form: aToolList},
	{name: "user", form: aName, of: "prompt"},
}

// propsOf returns the properties of a kind of node, nil for a word that is none.
func propsOf(kind NodeKind) []spec {
	switch kind {
	case Agent, Judge:
		return callProps
	case Router:
		return routerProps
	case Join:
		return joinProps
	case Human:
		return humanProps
	case Tool:
		return toolProps
	case Compute:
		return computeProps
	}
	return nil
}

// routerProps are the properties of routers.
var routerProps = []spec{
	{name: "backend", form: aText},
	{name: "delegate", means: "backend", form: aText},
	{name: "mode", form: aChoice, choices: routerWords},
	{name: "model", form: aText},
	{name: "multi", form: aBool},
	{name: "reasoning_effort", form: aChoice, choices: effortWords, code: "C027"},
	{name: "system", form: aName, of: "prompt"},
	{name: "user", form: aName, of: "prompt"},
}

// joinProps are the properties of joins.
var joinProps = []spec{
	{name: "conflict", form: aName, of: "agent, or fail, or ask"},
	{name: "output", form: aName, of: "schema"},
	{name: "publish", form: aName, of: "artifact"},
	{name: "require", form: aNameList, of: "node"},
	{name: "strategy", form: aChoice, choices: awaitWords},
}

// humanProps are the properties of human nodes.
var humanProps = []spec{
	{name: "await", form: aChoice, choices: awaitWords},
	{name: "conflict", form: aName, of: "agent, or fail, or ask"},
	{name: "input", form: aName, of: "schema"},
	{name: "instructions", form: aName, of: "prompt"},
	{name: "interaction", means: "mode", form: aChoice, choices: humanInteractionWords},
	{name: "min_answers", form: aWhole},
	{name: "mode", form: aChoice, choices: humanModeWords},
	{name: "model", form: aText},
	{name: "output", form: aName, of: "schema"},
	{name: "publish", form: aName, of: "artifact"},
	{name: "system", form: aName, of: "prompt"},
}

// toolProps are the properties of tools.
var toolProps = []spec{
	{name: "await", form: aChoice, choices: awaitWords},
	{name: "command", form: aCommand},
	{name: "conflict", form: aName, of: "agent, or fail, or ask"},
	{name: "input", form: aName, of: "schema"},
	{name: "network", form: aChoice, choices: networkWords},
	{name: "output", form: aName, of: "schema"},
	{name: "publish", form: aName, of: "artifact"},
	{name: "readonly", form: aBool},
	{name: "retries", form: aWhole},
	{name: "timeout", form: aDuration},
	{name: "uses", form: aTool},
	{name: "with", form: aConstants},
}

// computeProps are the properties of compute nodes.
var computeProps = []spec{
	{name: "await", form: aChoice, choices: awaitWords},
	{name: "conflict", form: aName, of: "agent, or fail, or ask"},
	{name: "expr", form: aFormulas},
	{name: "input", form: aName, of: "schema"},
	{name: "output", form: aName, of: "schema"},
	{name: "publish", form: aName, of: "artifact"},
}

// serverProps are the properties of MCP servers.
var serverProps = []spec{
	{name: "args", form: aTextList},
	{name: "command", form: aText},
	{name: "env", form: anObject},
	{name: "transport", form: aChoice, choices: transportWords},
	{name: "url", form: aText},
}

// workflowProps are the properties of workflows, beside vars and edges.
var workflowProps = []spec{
	{name: "backend", form: aText},
	{name: "budget", form: aBlock, props: budgetProps},
	{name: "default_backend", means: "backend", form: aText},
	{name: "delegate", means: "backend", form: aText},
	{name: "entry", form: aName, of: "node"},
	{name: "interaction", form: aChoice, choices: interactionWords},
	{name: "mcp", form: aBlock, props: mcpProps},
	{name: "verify", form: aVerify},
	{name: "worktree", form: aChoice, choices: worktreeWords},
}
