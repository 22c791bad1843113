package main

import "strings"

// environment is the process environment, read once; nothing below cmd sees it.
type environment map[string]string

func newEnvironment(environ []string) environment {
	env := make(environment, len(environ))
	for _, line := range environ {
		if name, value, ok := strings.Cut(line, "="); ok {
			env[name] = value
		}
	}
	return env
}

// first is the value of the first name that is set and not empty.
func (e environment) first(names ...string) string {
	for _, n := range names {
		if e[n] != "" {
			return e[n]
		}
	}
	return ""
}

// truthy reports whether name is set to something that means yes.
func (e environment) truthy(name string) bool {
	switch strings.ToLower(e[name]) {
	case "", "0", "false", "no":
		return false
	}
	return true
}
