package docs_test

import (
	"slices"
	"testing"

	"github.com/pawl-ci/pawl/runner/lang/syntax/grammar"
)

// vocabulary are the parser's own tables by the word of the declaration or block.
func vocabulary() map[string][]grammar.Property {
	all := map[string][]grammar.Property{"mcp_server": grammar.Server, "workflow": grammar.Workflow}
	for _, word := range grammar.Declarations {
		if props := grammar.Node(word); props != nil {
			all[word] = props
		}
	}
	for _, table := range [][]grammar.Property{grammar.Workflow, grammar.Node("agent")} {
		for _, p := range table {
			if p.Form == grammar.Block {
				all[p.Name] = p.Props
			}
		}
	}
	return all
}

// The grammar that people read has every declaration, clause and type of the
// parser, and no other.
func TestGrammarHasTheParsersWords(t *testing.T) {
	t.Parallel()
	g := readGrammar(t)
	declarations := []string{"workflow"}
	for _, p := range g.productions["declaration"].parts {
		declarations = append(declarations, p.text)
	}
	if !sameWords(declarations, grammar.Declarations) {
		t.Errorf("the grammar declares %v, the parser %v", declarations, grammar.Declarations)
	}
	var clauses []string
	for _, p := range g.productions["clause"].parts {
		clauses = append(clauses, g.productions[p.text].parts[0].text)
	}
	if !sameWords(clauses, grammar.Clauses) {
		t.Errorf("the grammar has the clauses %v, the parser %v", clauses, grammar.Clauses)
	}
	var types []string
	g.productions["field"].walk(func(e *expression) {
		if e.shape == literal && e.text != ":" && e.text != "?" {
			types = append(types, e.text)
		}
	})
	if !sameWords(types, grammar.Types) {
		t.Errorf("the grammar has the types %v, the parser %v", types, grammar.Types)
	}
}

// It has every property with the form of its value and the words of its closed
// set, and no other. The reference is compared with it in turn.
func TestGrammarHasTheParsersProperties(t *testing.T) {
	t.Parallel()
	g, tables := readGrammar(t), vocabulary()
	for word, production := range blocks {
		table := tables[word]
		if len(table) == 0 {
			t.Errorf("the parser has no properties for %s", word)
		}
		values := propertiesOf(g, production)
		for i := range table {
			p := &table[i]
			closed, ok := values[p.Name]
			if !ok {
				t.Errorf("the grammar has no property %s of %s", p.Name, word)
				continue
			}
			if want := formOf(p); !mentions(g, production, p.Name, want) {
				t.Errorf("%s of %s takes %s in the parser, and not in the grammar", p.Name, word, want)
			}
			var words []string
			for _, w := range p.Words {
				words = append(words, w.Word)
			}
			if p.Form == grammar.OneOf && !sameWords(closed, words) {
				t.Errorf("%s of %s: the grammar has the words %v, the parser %v", p.Name, word, closed, words)
			}
		}
		for name := range values {
			if grammar.Find(table, name) == nil {
				t.Errorf("the grammar gives %s a property %s, which the parser does not know", word, name)
			}
		}
	}
	if len(tables) != len(blocks) {
		t.Errorf("the parser has %d tables, the grammar %d", len(tables), len(blocks))
	}
}

// formOf is the production that a value of the property's form is made by.
func formOf(p *grammar.Property) string {
	switch p.Form {
	case grammar.Whole:
		if p.Least > 0 {
			return "POSITIVE"
		}
	case grammar.Number:
		if p.Positive {
			return "COST"
		}
	case grammar.Block:
		return p.Name + "_property"
	}
	return map[grammar.Form]string{
		grammar.Text: "text", grammar.Command: "command", grammar.Name: "reference", grammar.NameList: "references",
		grammar.Tool: "tool_name", grammar.ToolList: "tools", grammar.TextList: "strings", grammar.Whole: "WHOLE", grammar.Number: "AMOUNT",
		grammar.Bool: "BOOL", grammar.Duration: "duration", grammar.OneOf: "", grammar.Verify: "verify_list",
		grammar.Object: "text_object", grammar.Constants: "mapping", grammar.Formulas: "formula",
	}[p.Form]
}

// mentions reports whether the alternative of a property names a production.
func mentions(g *notation, production, property, name string) bool {
	i := slices.IndexFunc(g.productions[production].parts, func(a *expression) bool { return a.parts[0].text == property })
	found := name == ""
	g.productions[production].parts[i].walk(func(e *expression) { found = found || e.shape == symbol && e.text == name })
	return found
}
