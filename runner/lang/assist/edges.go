package assist

import (
	"slices"
	"strings"

	"github.com/pawl-ci/pawl/runner/lang/lexicon"
	"github.com/pawl-ci/pawl/runner/lang/symbols"
	"github.com/pawl-ci/pawl/runner/lang/syntax/ast"
	"github.com/pawl-ci/pawl/runner/lang/syntax/grammar"
)

// workflow completes a line of a workflow: a property, or an edge.
func (c *completion) workflow(chain []head, text string) {
	from, rest, arrow := strings.Cut(text, "->")
	switch {
	case arrow:
		c.edge(strings.TrimSpace(from), rest)
		return
	case text == c.word:
		c.keys(grammar.Workflow, "workflow")
		c.add(Candidate{Label: "vars", Kind: Property, Doc: lexicon.Declaration("vars"), Insert: "vars:", Snippet: "vars:\n  ${1:name}: ${2:string}"})
		all := c.d.Names.All(symbols.Node)
		for _, s := range all {
			n := c.d.nameCandidate(s, len(all))
			if !strings.HasPrefix(c.rest(), "->") {
				n.Insert = s.Name + " -> "
			}
			c.add(n)
		}
	case !strings.Contains(text, ":") && c.word == "":
		if c.d.Names.File.Node(strings.TrimSpace(text)) != nil {
			c.add(Candidate{Label: "->", Kind: Clause, Doc: lexicon.Clause("->"), Insert: "-> "})
		}
	default:
		c.properties(grammar.Workflow, "workflow", text, chain)
	}
}

// edge completes behind an arrow.
func (c *completion) edge(from, rest string) {
	tokens := edgeTokens(strings.TrimSuffix(rest, c.word))
	if quoted(c.before) {
		if len(tokens) > 1 && tokens[len(tokens)-2] == "when" {
			n := c.d.Names.File.Node(from)
			c.path(symbols.Scope{Inputs: inputs(n), Output: n, Expr: true}, rest)
		}
		return
	}
	if len(tokens) == 0 {
		c.targets()
		return
	}
	if open := slices.Index(tokens, "{"); open >= 0 && !slices.Contains(tokens, "}") {
		c.entries(from, tokens[0], tokens[open+1:])
		return
	}
	switch last := tokens[len(tokens)-1]; last {
	case "when":
		c.add(Candidate{Label: "not", Kind: Clause, Doc: lexicon.Clause("not"), Insert: "not "})
		c.flags(from)
	case "not":
		c.flags(from)
	case "as":
		c.loops()
	case "(", "with":
	default:
		c.clauses(tokens)
	}
}

func inputs(n *ast.Node) []*ast.Node {
	if n == nil {
		return nil
	}
	return []*ast.Node{n}
}

// edgeTokens cuts what follows an arrow into words, texts and brackets.
func edgeTokens(text string) []string {
	var list []string
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == ' ' || c == '\t':
			i++
		case wordByte(c):
			end := i
			for end < len(text) && wordByte(text[end]) {
				end++
			}
			list = append(list, text[i:end])
			i = end
		case c == '"':
			end := i + 1
			for end < len(text) && text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end+1, len(text))
			list = append(list, text[i:end])
			i = end
		default:
			list = append(list, text[i:i+1])
			i++
		}
	}
	return list
}

// targets lists where an edge may lead.
func (c *completion) targets() {
	c.names(symbols.Node, "", nil)
	for _, word := range []string{"done", "fail"} {
		c.add(Candidate{Label: word, Kind: Choice, Doc: lexicon.Clause(word)})
	}
}

// flags lists the fields that a condition may read.
func (c *completion) flags(from string) {
	n := c.d.Names.File.Node(from)
	if n == nil {
		return
	}
	for _, m := range c.d.Names.Outputs(n) {
		if m.Type == "" || m.Type == "json" || strings.HasPrefix(m.Type, "bool") {
			c.member(m, nil)
		}
	}
}

// loops lists the loops that there are.
func (c *completion) loops() {
	for _, s := range c.d.Names.All(symbols.Loop) {
		n := Candidate{Label: s.Name, Kind: Name, Symbol: symbols.Loop, Detail: c.d.detail(s)}
		if !strings.HasPrefix(c.rest(), "(") {
			n.Insert = s.Head.Text()[len("as "):]
		}
		if i := strings.Index(n.Insert, s.Name); i >= 0 {
			n.Insert = n.Insert[i:]
		}
		c.add(n)
	}
}

// clauses lists those that the edge has not.
func (c *completion) clauses(tokens []string) {
	text := map[string][2]string{
		"when": {"when ", ""}, "as": {"as ", "as ${1:loop}(${2:3})"}, "with": {"with { ", "with { $0 }"},
	}
	for _, word := range grammar.Clauses {
		if !slices.Contains(tokens[1:], word) {
			c.add(Candidate{Label: word, Kind: Clause, Doc: lexicon.Clause(word), Insert: text[word][0], Snippet: text[word][1]})
		}
	}
}

// entries completes inside with { } on one line.
func (c *completion) entries(from, to string, tokens []string) {
	if len(tokens) > 0 && tokens[len(tokens)-1] != "," {
		return
	}
	var given []head
	for i, word := range tokens {
		if i+1 < len(tokens) && tokens[i+1] == ":" {
			given = append(given, head{words: []string{word}})
		}
	}
	c.mapping(from, to, c.word, given)
}
