package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-ci/pawl/report/words"
	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/host/tool/excerpt"
)

// Caps of what a server may put before a model, in bytes.
const (
	maxDescription = 2 << 10
	maxSchema      = 16 << 10
	maxResult      = 32 << 10
	maxSummary     = 120
)

// describe is a tool as a model is told of it.
func describe(server string, t *mcp.Tool) runner.ToolSpec {
	about, _ := words.Clean(t.Description)
	return runner.ToolSpec{
		Name: callable(server, t.Name), Proper: "mcp." + server + "." + t.Name, Description: words.Clip(strings.TrimSpace(about), maxDescription), Parameters: parameters(t.InputSchema),
		// What a server says of itself can only take rights away.
		Writes: t.Annotations == nil || !t.Annotations.ReadOnlyHint,
	}
}

// longestName is what providers take for the name of a tool.
const longestName = 64

// callable is the tool's name in the form that providers take. A name that had to
// be changed carries a piece of its digest, so that no two become one.
func callable(server, tool string) string {
	name := "mcp__" + server + "__" + tool
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
	if plain == name && len(name) <= longestName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	tail := "_" + hex.EncodeToString(sum[:4])
	return plain[:min(len(plain), longestName-len(tail))] + tail
}

// anything is the schema of a tool that does not say what it wants.
var anything = json.RawMessage(`{"type":"object"}`)

// parameters brings a schema into the form that providers take: an object, without
// what says which draft it is.
func parameters(schema any) json.RawMessage {
	object, ok := schema.(map[string]any)
	if !ok {
		return anything
	}
	if kind, given := object["type"]; given && kind != "object" {
		return anything
	}
	plain := clean(object).(map[string]any)
	plain["type"] = "object"
	delete(plain, "$schema")
	delete(plain, "$id")
	raw, err := json.Marshal(plain) // sorts the keys: the same tool is the same bytes
	if err != nil || len(raw) > maxSchema {
		return anything
	}
	return raw
}

// clean takes what cannot be seen out of all text in a value.
func clean(v any) any {
	switch v := v.(type) {
	case string:
		text, _ := words.Clean(v)
		return text
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = clean(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = clean(e)
		}
		return out
	}
	return v
}

// read is a result as a model gets to see it.
func read(name string, r *mcp.CallToolResult) runner.ToolResult {
	var parts []string
	for _, c := range r.Content {
		parts = append(parts, textOf(c))
	}
	if len(parts) == 0 && r.StructuredContent != nil {
		if raw, err := json.Marshal(r.StructuredContent); err == nil {
			parts = append(parts, string(raw))
		}
	}
	text := excerpt.Of(strings.Join(parts, "\n"), maxResult)
	if r.IsError {
		return failed(name, text)
	}
	return runner.ToolResult{Text: text, Summary: words.Clip(words.OneLine(name+": "+firstLine(text)), maxSummary)}
}

// textOf is one piece of a result; what is no text is named and left out.
func textOf(c mcp.Content) string {
	switch c := c.(type) {
	case *mcp.TextContent:
		return c.Text
	case *mcp.ImageContent:
		return fmt.Sprintf("[an image of %d bytes (%s) was left out]", len(c.Data), c.MIMEType)
	case *mcp.AudioContent:
		return fmt.Sprintf("[a sound of %d bytes (%s) was left out]", len(c.Data), c.MIMEType)
	case *mcp.ResourceLink:
		return fmt.Sprintf("[resource %s: %s]", c.Name, c.URI)
	case *mcp.EmbeddedResource:
		if c.Resource == nil {
			return "[an empty resource]"
		}
		if c.Resource.Text != "" {
			return c.Resource.Text
		}
		return fmt.Sprintf("[resource %s of %d bytes (%s) was left out]", c.Resource.URI, len(c.Resource.Blob), c.Resource.MIMEType)
	}
	return "[something that is no text was left out]"
}

func failed(name, text string) runner.ToolResult {
	return runner.ToolResult{Text: text, Error: true, Summary: words.Clip(words.OneLine(name+": "+firstLine(text)), maxSummary)}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
