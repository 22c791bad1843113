package cli

import (
	"maps"
	"slices"
	"strings"
)

// Environment is the process environment, read once; nothing below cmd sees it.
type Environment map[string]string

// NewEnvironment reads lines of the form NAME=value; the last one of a name
// counts.
func NewEnvironment(environ []string) Environment {
	env := make(Environment, len(environ))
	for _, line := range environ {
		if name, value, ok := strings.Cut(line, "="); ok {
			env[name] = value
		}
	}
	return env
}

// First is the value of the first name that is set and not empty, or "".
func (e Environment) First(names ...string) string {
	for _, n := range names {
		if e[n] != "" {
			return e[n]
		}
	}
	return ""
}

// Truthy reports whether name is set to something that means yes.
func (e Environment) Truthy(name string) bool {
	switch strings.ToLower(e[name]) {
	case "", "0", "false", "no":
		return false
	}
	return true
}

// Lines is the environment as NAME=value, sorted.
func (e Environment) Lines() []string {
	out := make([]string, 0, len(e))
	for _, name := range slices.Sorted(maps.Keys(e)) {
		out = append(out, name+"="+e[name])
	}
	return out
}
