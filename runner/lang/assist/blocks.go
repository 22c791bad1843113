package assist

import (
	"slices"
	"strings"

	"github.com/pawl-ci/pawl/runner/lang/lexicon"
	"github.com/pawl-ci/pawl/runner/lang/symbols"
	"github.com/pawl-ci/pawl/runner/lang/syntax/ast"
	"github.com/pawl-ci/pawl/runner/lang/syntax/grammar"
)

// inside completes below a property or an edge that goes over several lines, and
// reports whether the place is in one.
func (c *completion) inside(chain []head, text string) bool {
	if len(chain) < 2 {
		return false
	}
	outer := chain[1]
	if from, rest, edge := strings.Cut(outer.text, "->"); edge && chain[0].word(0) == "workflow" {
		c.mapping(strings.TrimSpace(from), firstWord(rest), text, c.d.siblings(c.line, c.indent()))
		return true
	}
	if outer.word(0) == "vars" {
		c.typed("vars", text)
		return true
	}
	spec := grammar.Find(propertiesOf(chain[0].word(0)), outer.word(0))
	if spec == nil {
		return true
	}
	switch spec.Form {
	case grammar.Block:
		c.properties(spec.Props, spec.Name, text, chain)
	case grammar.Formulas:
		c.formula(chain[0].word(1), text)
	case grammar.NameList, grammar.ToolList:
		c.values(spec, chain[0].word(0), c.listText(outer)+text, chain)
	}
	return true
}

func firstWord(text string) string {
	text = strings.TrimLeft(text, " \t")
	i := 0
	for i < len(text) && wordByte(text[i]) {
		i++
	}
	return text[:i]
}

// listText is a list from the line where it begins to the line before the place.
func (c *completion) listText(from head) string {
	var b strings.Builder
	for n := from.line; n < c.line; n++ {
		b.WriteString(c.d.head(n).text + " ")
	}
	_, list, _ := strings.Cut(b.String(), ":")
	return strings.TrimLeft(list, " ")
}

// mapping completes an entry of a with clause: the fields that the target wants.
func (c *completion) mapping(from, to, text string, given []head) {
	if strings.Contains(text, ":") || strings.TrimLeft(text, "{, ") != c.word {
		return
	}
	n := c.d.Names.File.Node(to)
	if n == nil {
		return
	}
	for _, m := range c.d.Names.Inputs(n) {
		if slices.ContainsFunc(given, func(h head) bool { return h.word(0) == m.Name }) {
			continue
		}
		c.member(m, func(n *Candidate) {
			if !strings.HasPrefix(c.rest(), ":") {
				n.Insert, n.Snippet = m.Name+": ", m.Name+`: "{{$1}}"`
			}
		})
	}
}

func (c *completion) member(m symbols.Member, change func(*Candidate)) {
	n := Candidate{Label: m.Name, Kind: Member, Detail: m.Type, Doc: m.Note}
	if change != nil {
		change(&n)
	}
	c.add(n)
}

// formula completes a line of a compute node's expressions.
func (c *completion) formula(node, text string) {
	n := c.d.Names.File.Node(node)
	if n == nil {
		return
	}
	scope := symbols.Scope{Inputs: []*ast.Node{n}, Expr: true}
	if quoted(c.before) {
		c.path(scope, text)
		return
	}
	if text != c.word || n.Props.Value("output") == nil {
		return
	}
	given := c.d.siblings(c.line, c.indent())
	for _, m := range c.d.Names.Outputs(n) {
		if !slices.ContainsFunc(given, func(h head) bool { return h.word(0) == m.Name }) {
			c.member(m, func(n *Candidate) { n.Insert, n.Snippet = m.Name+": ", m.Name+`: "$1"` })
		}
	}
}

// reference completes inside {{ }}.
func (c *completion) reference(chain []head, inner string) {
	inner = strings.TrimLeft(inner, " \t")
	if bare, isRaw := strings.CutPrefix(inner, "raw("); isRaw {
		inner = strings.TrimLeft(bare, " \t")
	} else if inner == c.word {
		c.add(Candidate{Label: "raw", Kind: Clause, Detail: "raw(…)", Doc: lexicon.Clause("raw"), Insert: "raw(", Snippet: "raw($1)"})
	}
	c.path(c.scope(chain), inner)
}

// path completes the last name of a path; text ends with it.
func (c *completion) path(scope symbols.Scope, text string) {
	i := len(text)
	for i > 0 && (wordByte(text[i-1]) || strings.IndexByte(".?-", text[i-1]) >= 0) {
		i--
	}
	names := strings.Split(strings.ReplaceAll(text[i:], "?.", "."), ".")
	for _, m := range c.d.Names.Members(scope, names[:len(names)-1]...) {
		c.member(m, nil)
	}
}

// scope is what a reference at the place reads as its input.
func (c *completion) scope(chain []head) symbols.Scope {
	if len(chain) == 0 {
		return symbols.Scope{}
	}
	name := chain[0].word(1)
	switch {
	case chain[0].word(0) == "prompt":
		return symbols.Scope{Inputs: c.d.Names.Users(name)}
	case chain[0].word(0) == "workflow":
		name = firstWord(c.before)
		if len(chain) > 1 {
			name = chain[1].word(0)
		}
	}
	if n := c.d.Names.File.Node(name); n != nil {
		return symbols.Scope{Inputs: []*ast.Node{n}}
	}
	return symbols.Scope{}
}
