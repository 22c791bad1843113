package ir

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// ToolPolicy narrows which tools a model may call. Patterns are a tool's name, a
// namespace such as mcp.github.*, or * for every tool. The zero policy, and a nil
// one, permit everything.
type ToolPolicy struct {
	Allow []string // empty: every tool
	Deny  []string // wins over Allow
}

// Permits reports whether the policy lets a model call the tool of that name.
func (p *ToolPolicy) Permits(name string) bool {
	if p == nil {
		return true
	}
	match := func(pattern string) bool { return MatchTool(pattern, name) }
	return !slices.ContainsFunc(p.Deny, match) && (len(p.Allow) == 0 || slices.ContainsFunc(p.Allow, match))
}

// MatchTool reports whether a pattern of a [ToolPolicy] means the tool.
func MatchTool(pattern, name string) bool {
	if space, all := strings.CutSuffix(pattern, "*"); all {
		return strings.HasPrefix(name, space) && name != space
	}
	return pattern == name
}

func (p *ToolPolicy) write(w io.Writer) {
	if p == nil {
		return
	}
	fmt.Fprintf(w, "policy %q %q\n", p.Allow, p.Deny)
}
