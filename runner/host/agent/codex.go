package agent

import (
	"encoding/json"

	"github.com/pawl-ci/pawl/runner"
)

// codex is Codex without a person: `codex exec --json`, one JSON object a line.
type codex struct{}

func (codex) program() string { return "codex" }

func (codex) provider() (address, header string) { return "https://api.openai.com", "Authorization" }

func (codex) login() []string { return []string{".codex"} }

func (codex) environment(state string, p *proxy) []string {
	if p == nil {
		return nil
	}
	return []string{"CODEX_HOME=" + state, "OPENAI_BASE_URL=" + p.address() + "/v1", "OPENAI_API_KEY=" + p.word, "CODEX_API_KEY=" + p.word}
}

func (codex) arguments(req *runner.ModelRequest, session string) []string {
	args := []string{"exec", "--json", "--skip-git-repo-check"}
	if req.Model != "" {
		args = append(args, "--model", plainModel(req.Model))
	}
	mode := "workspace-write"
	if req.Readonly {
		mode = "read-only"
	}
	args = append(args, "--sandbox", mode)
	if req.Effort != "" {
		args = append(args, "-c", `model_reasoning_effort="`+codexEffort(req.Effort)+`"`)
	}
	if text := system(req); text != "" {
		raw, _ := json.Marshal(text) // a string always can be
		args = append(args, "-c", "developer_instructions="+string(raw))
	}
	if session != "" {
		args = append(args, "resume", session)
	}
	return append(args, "-") // the prompt comes on standard input
}

func codexEffort(word string) string {
	if word == "extra_high" {
		return "xhigh"
	}
	return word
}

// codexLine is what a line may hold.
type codexLine struct {
	Type     string `json:"type"`
	ThreadID string `json:"thread_id"`
	Message  string `json:"message"`
	Item     struct {
		Type     string `json:"type"`
		ItemType string `json:"item_type"` // of older versions
		Text     string `json:"text"`
	} `json:"item"`
	Usage *struct {
		Input  int64 `json:"input_tokens"`
		Cached int64 `json:"cached_input_tokens"`
		Output int64 `json:"output_tokens"`
	} `json:"usage"`
	Error struct {
		Message string `json:"message"`
	} `json:"error"`
}

func (codex) read(text []byte, s *story) {
	var l codexLine
	if json.Unmarshal(text, &l) != nil {
		return
	}
	switch l.Type {
	case "thread.started":
		s.session = l.ThreadID
	case "item.completed":
		if l.Item.Type == "agent_message" || l.Item.ItemType == "assistant_message" {
			s.text = l.Item.Text
		}
	case "turn.completed":
		s.ended, s.problem = true, ""
		if u := l.Usage; u != nil {
			s.known = true
			s.usage.Calls++
			s.usage.Input += u.Input
			s.usage.Cached += u.Cached
			s.usage.Output += u.Output
		}
	case "turn.failed":
		s.ended, s.problem = true, l.Error.Message
	case "error": // it may try again by itself
		s.problem = l.Message
	}
}
