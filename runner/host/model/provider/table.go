package provider

// Provider is somebody who serves models by the OpenAI chat completions API.
type Provider struct {
	Name    string   // before the slash of a model's name
	Title   string   // as the provider writes it
	BaseURL string   // where the API begins; "" when the user must say
	Keys    []string // variables that hold the key, in order; none: no key is needed
	Bases   []string // variables that replace BaseURL, in order
	// Path is appended to a replacement that is a bare address: users write
	// OLLAMA_BASE_URL without the part that begins the API.
	Path   string
	Local  bool   // runs on the user's own machine: needs no key
	Header string // carries the key when it is not a bearer token
	// Models are beginnings of names that users write without a provider.
	Models []string
	// NoSchema: the API takes response_format and does nothing with it, so that an
	// answer is given its form by a tool instead.
	NoSchema bool
}

// providers in the order in which they are listed. Facts are from the providers'
// own documentation, read in November 2026.
var providers = []Provider{
	{Name: "openai", Title: "OpenAI", BaseURL: "https://api.openai.com/v1", Keys: []string{"OPENAI_API_KEY"},
		Bases: []string{"OPENAI_BASE_URL", "OPENAI_API_BASE"}, Models: []string{"gpt-", "chatgpt-", "o1", "o3", "o4", "codex-"}},
	{Name: "anthropic", Title: "Anthropic", BaseURL: "https://api.anthropic.com/v1", Keys: []string{"ANTHROPIC_API_KEY"},
		Bases: []string{"ANTHROPIC_BASE_URL"}, Path: "/v1", Models: []string{"claude-"}, NoSchema: true},
	{Name: "gemini", Title: "Google Gemini", BaseURL: "https://generativelanguage.googleapis.com/v1beta/openai",
		Keys: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, Bases: []string{"GEMINI_BASE_URL"}, Models: []string{"gemini-"}},
	{Name: "azure", Title: "Azure OpenAI", Keys: []string{"AZURE_OPENAI_API_KEY"}, Bases: []string{"AZURE_OPENAI_BASE_URL", "AZURE_OPENAI_ENDPOINT"},
		Path: "/openai/v1", Header: "api-key"},
	{Name: "openrouter", Title: "OpenRouter", BaseURL: "https://openrouter.ai/api/v1", Keys: []string{"OPENROUTER_API_KEY"}, Bases: []string{"OPENROUTER_BASE_URL"}},
	{Name: "mistral", Title: "Mistral", BaseURL: "https://api.mistral.ai/v1", Keys: []string{"MISTRAL_API_KEY"}, Bases: []string{"MISTRAL_BASE_URL"},
		Models: []string{"mistral-large", "mistral-medium", "mistral-small", "codestral-", "devstral-", "magistral-"}},
	{Name: "deepseek", Title: "DeepSeek", BaseURL: "https://api.deepseek.com/v1", Keys: []string{"DEEPSEEK_API_KEY"}, Bases: []string{"DEEPSEEK_BASE_URL"},
		Models: []string{"deepseek-chat", "deepseek-reasoner"}},
	{Name: "groq", Title: "Groq", BaseURL: "https://api.groq.com/openai/v1", Keys: []string{"GROQ_API_KEY"}, Bases: []string{"GROQ_BASE_URL"}},
	{Name: "xai", Title: "xAI", BaseURL: "https://api.x.ai/v1", Keys: []string{"XAI_API_KEY"}, Bases: []string{"XAI_BASE_URL"}, Models: []string{"grok-"}},
	{Name: "together", Title: "Together", BaseURL: "https://api.together.xyz/v1", Keys: []string{"TOGETHER_API_KEY"}, Bases: []string{"TOGETHER_BASE_URL"}},
	{Name: "ollama", Title: "Ollama", BaseURL: "http://127.0.0.1:11434/v1", Bases: []string{"OLLAMA_BASE_URL", "OLLAMA_HOST"}, Path: "/v1", Local: true},
	{Name: "lmstudio", Title: "LM Studio", BaseURL: "http://127.0.0.1:1234/v1", Bases: []string{"LMSTUDIO_BASE_URL"}, Path: "/v1", Local: true},
}

// All lists the providers. The result is the caller's.
func All() []Provider { return append([]Provider(nil), providers...) }

// ByName finds a provider by the name before the slash.
func ByName(name string) (Provider, bool) {
	for _, p := range providers {
		if p.Name == name {
			return p, true
		}
	}
	return Provider{}, false
}
