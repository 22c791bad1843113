package provider_test

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pawl-ci/pawl/runner/host/model/provider"
)

func lookup(env ...string) func(string) string {
	return func(name string) string {
		for _, kv := range env {
			if v, ok := strings.CutPrefix(kv, name+"="); ok {
				return v
			}
		}
		return ""
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	const openai, anthropic = "OPENAI_API_KEY=k1", "ANTHROPIC_API_KEY=k2"
	for _, c := range []struct {
		name, model string
		env         []string
		base        string
		want        provider.Endpoint
	}{
		{"plain", "gpt-5", []string{openai}, "", provider.Endpoint{Provider: "openai", Model: "gpt-5", BaseURL: "https://api.openai.com/v1", Key: "k1", KeyName: "OPENAI_API_KEY"}},
		{"named", "openai/gpt-5", []string{openai}, "", provider.Endpoint{Provider: "openai", Model: "gpt-5", BaseURL: "https://api.openai.com/v1", Key: "k1", KeyName: "OPENAI_API_KEY"}},
		{"claude by its name", "claude-sonnet-4-5", []string{openai, anthropic}, "", provider.Endpoint{Provider: "anthropic", Model: "claude-sonnet-4-5", BaseURL: "https://api.anthropic.com/v1", Key: "k2", KeyName: "ANTHROPIC_API_KEY", NoSchema: true}},
		{"claude elsewhere", "claude-sonnet-4-5", []string{openai, anthropic, "OPENAI_BASE_URL=http://proxy/v1"}, "", provider.Endpoint{Provider: "openai", Model: "claude-sonnet-4-5", BaseURL: "http://proxy/v1", Key: "k1", KeyName: "OPENAI_API_KEY"}},
		{"claude named, with a proxy for others", "anthropic/claude-sonnet-4-5", []string{openai, anthropic, "OPENAI_BASE_URL=http://proxy/v1"}, "", provider.Endpoint{Provider: "anthropic", Model: "claude-sonnet-4-5", BaseURL: "https://api.anthropic.com/v1", Key: "k2", KeyName: "ANTHROPIC_API_KEY", NoSchema: true}},
		{"a proxy that knows all names", "anthropic/claude-sonnet-4-5", []string{openai, "OPENAI_BASE_URL=http://proxy/v1"}, "", provider.Endpoint{Provider: "openai", Model: "anthropic/claude-sonnet-4-5", BaseURL: "http://proxy/v1", Key: "k1", KeyName: "OPENAI_API_KEY"}},
		{"a bare address", "anthropic/c", []string{anthropic, "ANTHROPIC_BASE_URL=https://gate.example/"}, "", provider.Endpoint{Provider: "anthropic", Model: "c", BaseURL: "https://gate.example/v1", Key: "k2", KeyName: "ANTHROPIC_API_KEY", NoSchema: true}},
		{"one server for all", "anthropic/c", []string{openai, anthropic}, "http://127.0.0.1:4000/v1/", provider.Endpoint{Model: "anthropic/c", BaseURL: "http://127.0.0.1:4000/v1", Key: "k1", KeyName: "OPENAI_API_KEY"}},
		{"one server for all, without a key", "openai/m", nil, "http://127.0.0.1:4000/v1", provider.Endpoint{Model: "m", BaseURL: "http://127.0.0.1:4000/v1", KeyName: "OPENAI_API_KEY"}},
		{"a local server needs no key", "llama", []string{"OPENAI_BASE_URL=http://127.0.0.1:8080/v1"}, "", provider.Endpoint{Provider: "openai", Model: "llama", BaseURL: "http://127.0.0.1:8080/v1", KeyName: "OPENAI_API_KEY"}},
		{"ollama", "ollama/qwen2.5-coder:7b", nil, "", provider.Endpoint{Provider: "ollama", Model: "qwen2.5-coder:7b", BaseURL: "http://127.0.0.1:11434/v1"}},
		{"ollama's own variable", "ollama/q", []string{"OLLAMA_HOST=0.0.0.0"}, "", provider.Endpoint{Provider: "ollama", Model: "q", BaseURL: "http://127.0.0.1:11434/v1"}},
		{"ollama elsewhere", "ollama/q", []string{"OLLAMA_BASE_URL=http://gpu:11434"}, "", provider.Endpoint{Provider: "ollama", Model: "q", BaseURL: "http://gpu:11434/v1"}},
		{"slashes of their own", "meta-llama/Llama-3", []string{openai}, "", provider.Endpoint{Provider: "openai", Model: "meta-llama/Llama-3", BaseURL: "https://api.openai.com/v1", Key: "k1", KeyName: "OPENAI_API_KEY"}},
		{"openrouter keeps the rest", "openrouter/anthropic/claude", []string{"OPENROUTER_API_KEY=r"}, "", provider.Endpoint{Provider: "openrouter", Model: "anthropic/claude", BaseURL: "https://openrouter.ai/api/v1", Key: "r", KeyName: "OPENROUTER_API_KEY"}},
		{"azure", "azure/my-gpt", []string{"AZURE_OPENAI_API_KEY=a", "AZURE_OPENAI_ENDPOINT=https://me.openai.azure.com/"}, "", provider.Endpoint{Provider: "azure", Model: "my-gpt", BaseURL: "https://me.openai.azure.com/openai/v1", Key: "a", KeyName: "AZURE_OPENAI_API_KEY", Header: "api-key"}},
		{"the second key", "gemini/gemini-2.5-pro", []string{"GOOGLE_API_KEY=g"}, "", provider.Endpoint{Provider: "gemini", Model: "gemini-2.5-pro", BaseURL: "https://generativelanguage.googleapis.com/v1beta/openai", Key: "g", KeyName: "GOOGLE_API_KEY"}},
	} {
		got, err := provider.Resolve(c.model, provider.Surroundings{Lookup: lookup(c.env...), BaseURL: c.base})
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v\nwant %+v", c.name, got, err, c.want)
		}
	}
}

func TestResolveSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		model string
		env   []string
		want  string
	}{
		{"gpt-5", nil, "model gpt-5 is served by OpenAI, and OPENAI_API_KEY is not set"},
		{"claude-x", nil, "model claude-x is served by Anthropic, and ANTHROPIC_API_KEY is not set"},
		{"anthropic/claude-x", []string{"OPENAI_API_KEY=k"}, "model anthropic/claude-x is served by Anthropic, and ANTHROPIC_API_KEY is not set"},
		{"gemini/g", []string{"GEMINI_API_KEY=  "}, "model gemini/g is served by Google Gemini, and GEMINI_API_KEY or GOOGLE_API_KEY is not set"},
		{"azure/d", []string{"AZURE_OPENAI_API_KEY=k"}, "model azure/d is served by Azure OpenAI, whose address is not known: AZURE_OPENAI_BASE_URL or AZURE_OPENAI_ENDPOINT is not set"},
		{"openai/m", []string{"OPENAI_BASE_URL=localhost:8080"}, `model openai/m: OPENAI_BASE_URL is "localhost:8080", which is no http or https address`},
	} {
		_, err := provider.Resolve(c.model, provider.Surroundings{Lookup: lookup(c.env...)})
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v\nwant %s", c.model, err, c.want)
		}
	}
}

// Every row of the table can be used as it stands.
func TestTheTableIsSound(t *testing.T) {
	t.Parallel()
	var names, variables []string
	for _, p := range provider.All() {
		if slices.Contains(names, p.Name) || p.Name != strings.ToLower(p.Name) || p.Title == "" || strings.ContainsAny(p.Name, "/ ") {
			t.Errorf("%+v: name or title", p)
		}
		names = append(names, p.Name)
		u, err := url.Parse(p.BaseURL)
		if err != nil || p.BaseURL != "" && u.Host == "" || strings.HasSuffix(p.BaseURL, "/") || p.Local != (u.Scheme == "http") {
			t.Errorf("%s: base URL %q", p.Name, p.BaseURL)
		}
		if len(p.Keys) == 0 && !p.Local || len(p.Bases) == 0 {
			t.Errorf("%s: no variable for its key or its address", p.Name)
		}
		for _, v := range append(slices.Clone(p.Keys), p.Bases...) {
			if slices.Contains(variables, v) {
				t.Errorf("%s: variable %s is another's", p.Name, v)
			}
			variables = append(variables, v)
		}
		if _, known := provider.ByName(p.Name); !known {
			t.Errorf("%s is not found by its name", p.Name)
		}
	}
}

// Whatever the name and the environment are, there is an endpoint with an
// address, or an error of one of the two kinds.
func TestResolveProperty(t *testing.T) {
	t.Parallel()
	var variables []string
	for _, p := range provider.All() {
		variables = append(append(variables, p.Keys...), p.Bases...)
	}
	rapid.Check(t, func(t *rapid.T) {
		var env []string
		for _, v := range rapid.SliceOf(rapid.SampledFrom(variables)).Draw(t, "set") {
			env = append(env, v+"="+rapid.SampledFrom([]string{"", "k", "host", "host:1", "http://h", "https://h/p/", "http://h/v1", "::", "ftp://x"}).Draw(t, "value"))
		}
		model := rapid.OneOf(rapid.String(), rapid.StringMatching(`(openai|anthropic|ollama|azure|x)/[a-z/]*`)).Draw(t, "model")
		e, err := provider.Resolve(model, provider.Surroundings{Lookup: lookup(env...)})
		if err != nil {
			var key *provider.MissingKey
			var address *provider.MissingAddress
			if !errors.As(err, &key) && !errors.As(err, &address) {
				t.Fatalf("%v", err)
			}
			return
		}
		if u, err := url.Parse(e.BaseURL); err != nil || u.Host == "" || strings.HasSuffix(e.BaseURL, "/") {
			t.Fatalf("base URL %q", e.BaseURL)
		}
	})
}
