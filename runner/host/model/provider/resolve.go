package provider

import (
	"fmt"
	"net/url"
	"strings"
)

// Endpoint is where a model answers.
type Endpoint struct {
	Provider string // a provider's name, or "" for a server the user named
	Model    string // the name that the server knows
	BaseURL  string // up to where the API begins, without a slash at the end
	Key      string // "" sends none
	KeyName  string // the variable that holds the key, or should
	Header   string // carries the key; "" is a bearer token
	NoSchema bool   // see [Provider]
}

// Surroundings are what decides, beside the model's name, where it answers.
type Surroundings struct {
	Lookup func(name string) string // the environment; "" for what is not set
	// BaseURL answers for every model when it is not empty, with the key of
	// OPENAI_API_KEY: the user has named one server for everything.
	BaseURL string
}

// MissingKey says that a model's provider wants a key and there is none.
type MissingKey struct {
	Model    string
	Provider string   // its title
	Names    []string // variables that would do
}

// Error implements error.
func (e *MissingKey) Error() string {
	return fmt.Sprintf("model %s is served by %s, and %s is not set", e.Model, e.Provider, strings.Join(e.Names, " or "))
}

// MissingAddress says that a provider has no address of its own and none is
// given, or none that works.
type MissingAddress struct {
	Model    string
	Provider string   // its title
	Names    []string // variables that would do
	Given    string   // what is no address, or ""
}

// Error implements error.
func (e *MissingAddress) Error() string {
	if e.Given != "" {
		return fmt.Sprintf("model %s: %s is %q, which is no http or https address", e.Model, strings.Join(e.Names, " or "), e.Given)
	}
	return fmt.Sprintf("model %s is served by %s, whose address is not known: %s is not set", e.Model, e.Provider, strings.Join(e.Names, " or "))
}

// Resolve says where the model of that name answers. "provider/model" names a
// provider, unless there is only a server of the user's own to ask; a name that only one provider's models begin with means that one,
// unless only OpenAI's key is set; everything else goes where OPENAI_BASE_URL says. The error is a
// *[MissingKey] or *[MissingAddress].
func Resolve(model string, s Surroundings) (Endpoint, error) {
	if s.BaseURL != "" {
		return Endpoint{Model: plainName(model), BaseURL: strings.TrimRight(s.BaseURL, "/"), Key: s.Lookup("OPENAI_API_KEY"), KeyName: "OPENAI_API_KEY"}, nil
	}
	p, name := choose(model, s.Lookup)
	return p.endpoint(model, name, s.Lookup)
}

// plainName drops the prefixes that servers other than the providers themselves
// do not know.
func plainName(model string) string {
	for _, prefix := range []string{"openai/", "script/"} {
		if rest, ok := strings.CutPrefix(model, prefix); ok {
			return rest
		}
	}
	return model
}

// choose finds who is meant, and by which name he knows the model.
func choose(model string, lookup func(string) string) (Provider, string) {
	openai := providers[0]
	base, _ := openai.base(lookup)
	own := base != openai.BaseURL // a server of the user's own, which may know all names
	if prefix, name, ok := strings.Cut(model, "/"); ok {
		p, known := ByName(prefix)
		_, key := first(p.Keys, lookup)
		if known && (!own || p.Local || key != "" || p.Name == openai.Name) {
			return p, name
		}
		return openai, model // a name with a slash of its own, as other servers have them
	}
	if own {
		return openai, model
	}
	_, general := first(openai.Keys, lookup)
	for _, p := range providers[1:] {
		if _, key := first(p.Keys, lookup); p.serves(model) && (key != "" || general == "") {
			return p, model
		}
	}
	return openai, model
}

func (p Provider) serves(model string) bool {
	for _, beginning := range p.Models {
		if strings.HasPrefix(model, beginning) {
			return true
		}
	}
	return false
}

func (p Provider) endpoint(asked, name string, lookup func(string) string) (Endpoint, error) {
	base, variable := p.base(lookup)
	if u, err := url.Parse(base); base != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return Endpoint{}, &MissingAddress{asked, p.Title, []string{variable}, base}
	}
	if base == "" {
		return Endpoint{}, &MissingAddress{Model: asked, Provider: p.Title, Names: p.Bases}
	}
	e := Endpoint{Provider: p.Name, Model: name, BaseURL: base, Header: p.Header, NoSchema: p.NoSchema}
	if len(p.Keys) == 0 {
		return e, nil
	}
	if e.KeyName, e.Key = first(p.Keys, lookup); e.Key == "" && base == p.BaseURL {
		return Endpoint{}, &MissingKey{asked, p.Title, p.Keys}
	}
	return e, nil
}

// base is where the provider answers, and the variable that says so.
func (p Provider) base(lookup func(string) string) (address, variable string) {
	variable, text := first(p.Bases, lookup)
	if text == "" {
		return p.BaseURL, ""
	}
	text = strings.TrimRight(strings.TrimSpace(text), "/")
	if p.Local && !strings.Contains(text, "://") {
		text = "http://" + localPort(text) // Ollama's own variable is a host and a port
	}
	if u, err := url.Parse(text); err == nil && u.Host != "" && strings.Trim(u.Path, "/") == "" {
		text += p.Path
	}
	return text, variable
}

// localPort completes a host that says no port with Ollama's, and takes "every
// address" for this machine's own.
func localPort(host string) string {
	name, port, found := strings.Cut(host, ":")
	if !found || port == "" {
		port = "11434"
	}
	if name == "" || name == "0.0.0.0" {
		name = "127.0.0.1"
	}
	return name + ":" + port
}

func first(names []string, lookup func(string) string) (name, value string) {
	for _, n := range names {
		if v := strings.TrimSpace(lookup(n)); v != "" {
			return n, v
		}
	}
	if len(names) > 0 {
		return names[0], ""
	}
	return "", ""
}
