package agent

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/runner"
)

// claude is Claude Code without a person: `claude -p`, one JSON object a line.
type claude struct{}

func (claude) program() string { return "claude" }

func (claude) provider() (address, header string) { return "https://api.anthropic.com", "x-api-key" }

func (claude) login() []string { return []string{".claude", ".claude.json", ".config/claude"} }

func (claude) environment(state string, p *proxy) []string {
	env := []string{"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1"}
	if p != nil {
		env = append(env, "CLAUDE_CONFIG_DIR="+state, "ANTHROPIC_BASE_URL="+p.address(), "ANTHROPIC_API_KEY="+p.word)
	}
	return env
}

// claudeTools are the program's names of pawl's tools.
var claudeTools = map[string][]string{
	"read_file": {"Read"}, "list_files": {"Glob", "LS"}, "search": {"Grep"}, "write_file": {"Write"}, "edit_file": {"Edit", "MultiEdit"},
	"apply_patch": {"Edit", "MultiEdit"}, "run_command": {"Bash"}, "git_diff": {"Bash(git diff:*)"},
}

// writers are the program's tools that change something.
var writers = []string{"Write", "Edit", "MultiEdit", "NotebookEdit", "Bash"}

func (claude) arguments(req *runner.ModelRequest, session string) []string {
	args := []string{"-p", "--output-format", "stream-json", "--verbose"}
	if req.Model != "" {
		args = append(args, "--model", plainModel(req.Model))
	}
	if text := system(req); text != "" {
		args = append(args, "--append-system-prompt", text)
	}
	if session != "" {
		args = append(args, "--resume", session)
	}
	if req.MaxSteps > 0 {
		args = append(args, "--max-turns", strconv.Itoa(req.MaxSteps))
	}
	if req.MaxCost > 0 {
		args = append(args, "--max-budget-usd", strings.TrimPrefix(req.MaxCost.String(), "$"))
	}
	if req.Readonly {
		return append(args, "--permission-mode", "plan", "--disallowedTools", strings.Join(writers, ","))
	}
	args = append(args, "--permission-mode", "acceptEdits")
	allowed := []string{"Read", "Glob", "Grep", "LS", "Write", "Edit", "MultiEdit", "Bash"}
	if len(req.BackendTools) > 0 {
		allowed = toolsOf(req.BackendTools)
	}
	return append(args, "--allowedTools", strings.Join(allowed, ","))
}

// toolsOf are the program's names of tools; what pawl does not know is the
// program's own.
func toolsOf(names []string) []string {
	var out []string
	for _, name := range names {
		theirs, known := claudeTools[name]
		if !known {
			theirs = []string{name}
		}
		for _, t := range theirs {
			if !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	return out
}

// claudeLine is what a line may hold.
type claudeLine struct {
	Type      string       `json:"type"`
	Subtype   string       `json:"subtype"`
	SessionID string       `json:"session_id"`
	Model     string       `json:"model"`
	IsError   bool         `json:"is_error"`
	Result    string       `json:"result"`
	Cost      json.Number  `json:"total_cost_usd"`
	Usage     *claudeUsage `json:"usage"`
	Message   struct {
		ID    string       `json:"id"`
		Usage *claudeUsage `json:"usage"`
	} `json:"message"`
}

type claudeUsage struct {
	Input   int64 `json:"input_tokens"`
	Created int64 `json:"cache_creation_input_tokens"`
	Read    int64 `json:"cache_read_input_tokens"`
	Output  int64 `json:"output_tokens"`
}

func (u *claudeUsage) in(into *budget.Usage) {
	into.Input += u.Input + u.Created + u.Read
	into.Cached += u.Read
	into.Output += u.Output
}

// read adds up the turns while they come; the figures of the end are the
// program's own sum and replace them.
func (claude) read(text []byte, s *story) {
	var l claudeLine
	if json.Unmarshal(text, &l) != nil {
		return
	}
	if l.SessionID != "" {
		s.session = l.SessionID
	}
	switch l.Type {
	case "system":
		s.model = l.Model
	case "assistant":
		if l.Message.Usage != nil {
			s.usage.Calls++
			l.Message.Usage.in(&s.usage)
			s.known = true
		}
	case "result":
		s.result(&l)
	}
}

func (s *story) result(l *claudeLine) {
	s.ended, s.text = true, l.Result
	if l.Usage != nil {
		s.usage = budget.Usage{Calls: max(s.usage.Calls, 1)}
		l.Usage.in(&s.usage)
		s.known = true
	}
	if cost, err := budget.ParseMicros(l.Cost.String()); err == nil {
		s.cost = &cost
	}
	if l.IsError || l.Subtype != "" && l.Subtype != "success" {
		s.problem = strings.ReplaceAll(l.Subtype, "_", " ")
		if l.Result != "" {
			s.problem = l.Result
		}
	}
}
