package assist

import (
	"slices"
	"strings"

	"github.com/pawl-ci/pawl/runner/lang/lexicon"
	"github.com/pawl-ci/pawl/runner/lang/symbols"
	"github.com/pawl-ci/pawl/runner/lang/syntax/ast"
	"github.com/pawl-ci/pawl/runner/lang/syntax/grammar"
)

// propertiesOf are the properties of a declaration, nil for one without.
func propertiesOf(word string) []grammar.Property {
	switch word {
	case "mcp_server":
		return grammar.Server
	case "workflow":
		return grammar.Workflow
	}
	return grammar.Node(word)
}

// top completes at the left margin: a declaration's word, or the name of
// something that is used and not declared.
func (c *completion) top(text string) {
	if text == c.word {
		for _, word := range grammar.Declarations {
			c.add(declarationCandidate(word))
		}
		return
	}
	kind := map[string]symbols.Kind{"prompt": symbols.Prompt, "schema": symbols.Schema, "mcp_server": symbols.Server}
	word, _, _ := strings.Cut(text, " ")
	if grammar.Node(word) != nil {
		kind[word] = symbols.Node
	}
	if kind[word] == 0 || strings.TrimLeft(text[len(word):], " ") != c.word {
		return
	}
	for _, name := range undeclared(c.d.Names, kind[word]) {
		n := Candidate{Label: name, Kind: Name, Symbol: kind[word], Detail: "used, and not declared yet"}
		if !strings.HasPrefix(c.rest(), ":") {
			n.Insert = name + ":"
		}
		c.add(n)
	}
}

// undeclared are the names of a kind that are used and not declared.
func undeclared(ix *symbols.Index, kind symbols.Kind) []string {
	var names []string
	for _, u := range ix.Unknown(kind) {
		if u.Name != "done" && u.Name != "fail" && !slices.Contains(names, u.Name) {
			names = append(names, u.Name)
		}
	}
	return names
}

func declarationCandidate(word string) Candidate {
	n := Candidate{Label: word, Kind: Declaration, Doc: lexicon.Declaration(word), Insert: word + " ", Snippet: word + " ${1:name}:\n  $0"}
	if word == "vars" {
		n.Insert, n.Snippet = "vars:", "vars:\n  ${1:name}: ${2:string}"
	}
	return n
}

// typed completes a line of a vars block or a schema.
func (c *completion) typed(block, text string) {
	_, behind, colon := strings.Cut(text, ":")
	behind = strings.TrimLeft(behind, " ")
	switch {
	case !colon:
	case behind == c.word:
		for _, word := range grammar.Types {
			c.add(Candidate{Label: word, Kind: Choice, Detail: "for example " + grammar.Literal(word)})
		}
	case block == "schema" && strings.TrimLeft(strings.TrimPrefix(behind, "string"), " ") == "["+c.word:
		c.add(Candidate{Label: "enum", Kind: Clause, Doc: lexicon.Clause("enum"), Insert: `enum: `, Snippet: `enum: "$1"`})
	case block == "vars" && strings.HasSuffix(strings.TrimRight(strings.TrimSuffix(behind, c.word), " "), "="):
		if strings.HasPrefix(behind, "bool") {
			c.words("true", "false")
		}
	}
}

func (c *completion) words(list ...string) {
	for _, word := range list {
		c.add(Candidate{Label: word, Kind: Choice})
	}
}

// properties completes a line of a block of properties: a key, or the value of
// one.
func (c *completion) properties(table []grammar.Property, block, text string, chain []head) {
	if text == c.word {
		c.keys(table, block)
		return
	}
	key, behind, colon := strings.Cut(text, ":")
	spec := grammar.Find(table, strings.TrimRight(key, " "))
	if colon && spec != nil {
		c.value(spec, block, strings.TrimLeft(behind, " "), chain)
	}
}

// keys lists the properties that the block may have and has not.
func (c *completion) keys(table []grammar.Property, block string) {
	used := make(map[string]bool)
	for _, s := range c.d.siblings(c.line, c.indent()) {
		if spec := grammar.Find(table, s.word(0)); spec != nil {
			used[spec.Key()] = true
		}
	}
	for i := range table {
		spec := &table[i]
		if used[spec.Key()] || spec.Means != "" && (c.word == "" || !strings.HasPrefix(spec.Name, c.word)) {
			continue
		}
		n := Candidate{Label: spec.Name, Kind: Property, Detail: wants(spec), Doc: c.d.propertyDoc(block, spec)}
		if !strings.HasPrefix(c.rest(), ":") {
			n.Insert, n.Snippet = keyText(spec)
		}
		c.add(n)
	}
}

// wants says in a few words what a property takes.
func wants(spec *grammar.Property) string {
	if words := strings.Join(spec.Listed(), " | "); spec.Form == grammar.OneOf {
		return words
	}
	return spec.Wants()
}

// keyText is a key with its colon, and with the place of its value.
func keyText(spec *grammar.Property) (plain, snippet string) {
	switch spec.Form {
	case grammar.Block, grammar.Formulas:
		return spec.Name + ":", spec.Name + ":\n  $0"
	case grammar.Text, grammar.Command, grammar.Duration:
		return spec.Name + ": ", spec.Name + `: "$1"`
	case grammar.NameList, grammar.ToolList:
		return spec.Name + ": ", spec.Name + ": [$1]"
	case grammar.TextList:
		return spec.Name + ": ", spec.Name + `: ["$1"]`
	}
	return spec.Name + ": ", ""
}

// value completes what stands behind a key.
func (c *completion) value(spec *grammar.Property, block, text string, chain []head) {
	list := spec.Form == grammar.NameList || spec.Form == grammar.ToolList
	opened := strings.HasPrefix(text, "[")
	if quoted(c.before) && spec.Form != grammar.OneOf || list && opened && strings.Contains(text, "]") {
		return
	}
	if !list && text != c.word && strings.TrimPrefix(text, `"`) != c.word && spec.Form != grammar.Tool {
		return
	}
	mark := len(c.list)
	c.values(spec, block, text, chain)
	if list && !opened {
		for i := mark; i < len(c.list); i++ {
			c.list[i].Insert = "[" + c.list[i].Insert + "]"
		}
	}
}

// values lists what a property may have as its value, or as a member of it.
func (c *completion) values(spec *grammar.Property, block, text string, chain []head) {
	switch spec.Form {
	case grammar.OneOf:
		for _, word := range spec.Listed() {
			c.add(Candidate{Label: word, Kind: Choice, Doc: c.d.propertyDoc(block, spec)})
		}
	case grammar.Bool:
		c.words("true", "false")
	case grammar.Verify:
		c.words("auto", "none")
	case grammar.Name, grammar.NameList:
		c.named(spec, text)
	case grammar.Tool:
		c.builtins(text)
	case grammar.ToolList:
		c.tools(text)
	case grammar.Text:
		if spec.Key() == "backend" {
			c.words("claude_code", "codex")
		}
	}
}

// named lists what a property may name; text holds what a list has already.
func (c *completion) named(spec *grammar.Property, text string) {
	kind := map[string]symbols.Kind{"schema": symbols.Schema, "prompt": symbols.Prompt, "node": symbols.Node, "MCP server": symbols.Server}[spec.Of]
	if kind == 0 && strings.HasPrefix(spec.Of, "agent") {
		c.words("fail", "ask")
		c.names(symbols.Node, text, func(s *symbols.Symbol) bool { return s.Node.Kind == ast.Agent })
		return
	}
	if kind != 0 {
		c.names(kind, text, nil)
	}
}

// names lists what is declared, and what text does not hold already.
func (c *completion) names(kind symbols.Kind, text string, fits func(*symbols.Symbol) bool) {
	taken := membersOf(strings.TrimSuffix(text, c.word))
	all := c.d.Names.All(kind)
	for _, s := range all {
		if !taken[s.Name] && (fits == nil || fits(s)) && c.d.Names.Find(kind, s.Name) == s {
			c.add(c.d.nameCandidate(s, len(all)))
		}
	}
}

// mostDescribed is how many names are described; nobody reads on in longer lists.
const mostDescribed = 64

// nameCandidate is a name among so many.
func (d *Document) nameCandidate(s *symbols.Symbol, among int) Candidate {
	n := Candidate{Label: s.Name, Kind: Name, Symbol: s.Kind, Detail: d.detail(s)}
	if among <= mostDescribed {
		n.Doc = d.describe(s)
	}
	return n
}

// membersOf are the words of a list as far as it is written.
func membersOf(text string) map[string]bool {
	taken := make(map[string]bool)
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("[], \t\n\r\"", r) }) {
		taken[word] = true
	}
	return taken
}

// tools lists what agents may call, by pawl's own names and those of the
// declared servers.
func (c *completion) tools(text string) {
	taken := membersOf(strings.TrimSuffix(text, c.word))
	if i := strings.LastIndexAny(text, "[, "); strings.HasPrefix(text[i+1:], "mcp.") {
		if strings.Count(text[i+1:], ".") == 1 {
			c.names(symbols.Server, "", nil)
		}
		return
	}
	for _, name := range c.d.Tools {
		if !taken[name] {
			c.add(Candidate{Label: name, Kind: Name, Detail: "tool"})
		}
	}
	for _, s := range c.d.Names.All(symbols.Server) {
		c.add(Candidate{Label: "mcp." + s.Name + ".", Kind: Name, Symbol: symbols.Server, Detail: "a tool of this MCP server"})
	}
}

// builtins lists the tools that a tool node may use.
func (c *completion) builtins(text string) {
	own := append([]string{"verify"}, c.d.Tools...)
	dotted := strings.TrimSuffix(text, c.word) == "builtin."
	if !dotted && text != c.word {
		return
	}
	for _, name := range own {
		n := Candidate{Label: "builtin." + name, Kind: Name, Detail: "tool", Doc: lexicon.Clause("builtin")}
		if dotted {
			n.Label = name
		}
		c.add(n)
	}
}
