package grammar

// Declarations are the words that begin one, sorted.
var Declarations = []string{
	"agent", "compute", "human", "join", "judge", "mcp_server", "prompt", "router", "schema", "tool", "vars", "workflow",
}

// Clauses are the words that begin a clause of an edge, sorted.
var Clauses = []string{"as", "when", "with"}

// Types are the types of variables and fields.
var Types = []string{"string", "bool", "int", "float", "json", "string[]"}

// Literal shows a literal of a type.
func Literal(typ string) string {
	switch typ {
	case "string":
		return `"text"`
	case "bool":
		return "true"
	case "int":
		return "3"
	case "float":
		return "0.5"
	case "string[]":
		return `["one", "two"]`
	}
	return `{ "key": "value" }`
}

// With is the form of an edge's with clause.
var With = Property{Name: "with", Form: Constants}

// The closed sets.
var (
	awaitWords       = []Word{{Word: "wait_all"}, {Word: "best_effort"}}
	effortWords      = []Word{{Word: "low"}, {Word: "medium"}, {Word: "high"}, {Word: "extra_high"}, {Word: "xhigh", Means: "extra_high", Quiet: true}, {Word: "max", Means: "extra_high", Quiet: true}}
	sessionWords     = []Word{{Word: "fresh"}, {Word: "inherit"}, {Word: "fork"}, {Word: "artifacts_only"}, {Word: "inherit_if_available", Means: "inherit", Quiet: true}}
	routerWords      = []Word{{Word: "fan_out_all"}, {Word: "condition"}, {Word: "round_robin"}, {Word: "llm"}}
	transportWords   = []Word{{Word: "stdio"}, {Word: "http"}, {Word: "sse"}}
	interactionWords = []Word{{Word: "none"}, {Word: "human"}, {Word: "llm"}, {Word: "llm_or_human"}}
	networkWords     = []Word{{Word: "none"}, {Word: "allow"}}
	worktreeWords    = []Word{{Word: "tick"}, {Word: "none"}, {Word: "auto", Means: "tick", Quiet: true}}

	humanModeWords = []Word{
		{Word: "pause_until_answers"}, {Word: "auto_answer"}, {Word: "auto_or_pause"},
		{Word: "human", Means: "pause_until_answers", Quiet: true}, {Word: "llm", Means: "auto_answer", Quiet: true},
		{Word: "llm_or_human", Means: "auto_or_pause", Quiet: true},
	}
	humanInteractionWords = []Word{
		{Word: "human", Means: "pause_until_answers"}, {Word: "llm", Means: "auto_answer"},
		{Word: "llm_or_human", Means: "auto_or_pause"},
		{Word: "pause_until_answers", Quiet: true}, {Word: "auto_answer", Quiet: true}, {Word: "auto_or_pause", Quiet: true},
	}
)

// mcpBlock are the properties of an mcp block.
var mcpBlock = []Property{
	{Name: "autoload_project", Form: Bool},
	{Name: "disable", Form: NameList, Of: "MCP server"},
	{Name: "inherit", Form: Bool},
	{Name: "servers", Form: NameList, Of: "MCP server"},
}

// budgetBlock are the properties of a budget block.
var budgetBlock = []Property{
	{Name: "max_cost_usd", Form: Number, Positive: true},
	{Name: "max_duration", Form: Duration},
	{Name: "max_iterations", Form: Whole, Least: 1},
	{Name: "max_parallel_branches", Form: Whole, Least: 1},
	{Name: "max_tokens", Form: Whole, Least: 1},
}

// callProps are the properties of agents and judges.
var callProps = []Property{
	{Name: "await", Form: OneOf, Words: awaitWords},
	{Name: "backend", Form: Text},
	{Name: "conflict", Form: Name, Of: "agent, or fail, or ask"},
	{Name: "delegate", Means: "backend", Form: Text},
	{Name: "input", Form: Name, Of: "schema"},
	{Name: "interaction", Form: OneOf, Words: interactionWords},
	{Name: "interaction_model", Form: Text},
	{Name: "interaction_prompt", Form: Name, Of: "prompt"},
	{Name: "max_tokens", Form: Whole, Least: 1},
	{Name: "mcp", Form: Block, Props: mcpBlock},
	{Name: "model", Form: Text},
	{Name: "output", Form: Name, Of: "schema"},
	{Name: "publish", Form: Name, Of: "artifact"},
	{Name: "readonly", Form: Bool},
	{Name: "reasoning_effort", Form: OneOf, Words: effortWords, Code: "C027"},
	{Name: "retries", Form: Whole},
	{Name: "session", Form: OneOf, Words: sessionWords},
	{Name: "system", Form: Name, Of: "prompt"},
	{Name: "temperature", Form: Number},
	{Name: "timeout", Form: Duration},
	{Name: "tool_max_steps", Form: Whole},
	{Name: "tools", Form: ToolList},
	{Name: "user", Form: Name, Of: "prompt"},
}

// Node returns the properties of a kind of node, nil for a word that is none.
func Node(kind string) []Property {
	switch kind {
	case "agent", "judge":
		return callProps
	case "router":
		return routerProps
	case "join":
		return joinProps
	case "human":
		return humanProps
	case "tool":
		return toolProps
	case "compute":
		return computeProps
	}
	return nil
}

// routerProps are the properties of routers.
var routerProps = []Property{
	{Name: "backend", Form: Text},
	{Name: "delegate", Means: "backend", Form: Text},
	{Name: "mode", Form: OneOf, Words: routerWords},
	{Name: "model", Form: Text},
	{Name: "multi", Form: Bool},
	{Name: "reasoning_effort", Form: OneOf, Words: effortWords, Code: "C027"},
	{Name: "system", Form: Name, Of: "prompt"},
	{Name: "user", Form: Name, Of: "prompt"},
}

// joinProps are the properties of joins.
var joinProps = []Property{
	{Name: "conflict", Form: Name, Of: "agent, or fail, or ask"},
	{Name: "output", Form: Name, Of: "schema"},
	{Name: "publish", Form: Name, Of: "artifact"},
	{Name: "require", Form: NameList, Of: "node"},
	{Name: "strategy", Form: OneOf, Words: awaitWords},
}

// humanProps are the properties of human nodes.
var humanProps = []Property{
	{Name: "await", Form: OneOf, Words: awaitWords},
	{Name: "conflict", Form: Name, Of: "agent, or fail, or ask"},
	{Name: "input", Form: Name, Of: "schema"},
	{Name: "instructions", Form: Name, Of: "prompt"},
	{Name: "interaction", Means: "mode", Form: OneOf, Words: humanInteractionWords},
	{Name: "min_answers", Form: Whole},
	{Name: "mode", Form: OneOf, Words: humanModeWords},
	{Name: "model", Form: Text},
	{Name: "output", Form: Name, Of: "schema"},
	{Name: "publish", Form: Name, Of: "artifact"},
	{Name: "system", Form: Name, Of: "prompt"},
}

// toolProps are the properties of tools.
var toolProps = []Property{
	{Name: "await", Form: OneOf, Words: awaitWords},
	{Name: "command", Form: Command},
	{Name: "conflict", Form: Name, Of: "agent, or fail, or ask"},
	{Name: "input", Form: Name, Of: "schema"},
	{Name: "network", Form: OneOf, Words: networkWords},
	{Name: "output", Form: Name, Of: "schema"},
	{Name: "publish", Form: Name, Of: "artifact"},
	{Name: "readonly", Form: Bool},
	{Name: "retries", Form: Whole},
	{Name: "timeout", Form: Duration},
	{Name: "uses", Form: Tool},
	{Name: "with", Form: Constants},
}

// computeProps are the properties of compute nodes.
var computeProps = []Property{
	{Name: "await", Form: OneOf, Words: awaitWords},
	{Name: "conflict", Form: Name, Of: "agent, or fail, or ask"},
	{Name: "expr", Form: Formulas},
	{Name: "input", Form: Name, Of: "schema"},
	{Name: "output", Form: Name, Of: "schema"},
	{Name: "publish", Form: Name, Of: "artifact"},
}

// Server are the properties of MCP servers.
var Server = []Property{
	{Name: "args", Form: TextList},
	{Name: "command", Form: Text},
	{Name: "env", Form: Object},
	{Name: "transport", Form: OneOf, Words: transportWords},
	{Name: "url", Form: Text},
}

// Workflow are the properties of workflows, beside vars and edges.
var Workflow = []Property{
	{Name: "backend", Form: Text},
	{Name: "budget", Form: Block, Props: budgetBlock},
	{Name: "default_backend", Means: "backend", Form: Text},
	{Name: "delegate", Means: "backend", Form: Text},
	{Name: "entry", Form: Name, Of: "node"},
	{Name: "interaction", Form: OneOf, Words: interactionWords},
	{Name: "mcp", Form: Block, Props: mcpBlock},
	{Name: "verify", Form: Verify},
	{Name: "worktree", Form: OneOf, Words: worktreeWords},
}
