package lexicon_test

import (
	"testing"

	"github.com/pawl-ci/pawl/runner/lang/lexicon"
	"github.com/pawl-ci/pawl/runner/lang/syntax/grammar"
)

// Every declaration, every property of the grammar and every clause is explained.
func TestEveryWordIsExplained(t *testing.T) {
	t.Parallel()
	tables := map[string][]grammar.Property{"mcp_server": grammar.Server, "workflow": grammar.Workflow}
	for _, word := range grammar.Declarations {
		if lexicon.Declaration(word) == "" {
			t.Errorf("nothing says what %s declares", word)
		}
		if table := grammar.Node(word); table != nil {
			tables[word] = table
		}
	}
	for block, table := range tables {
		for i := range table {
			p := &table[i]
			if _, ok := lexicon.Property(block, p.Name); !ok {
				t.Errorf("nothing says what %s of %s means", p.Name, block)
			}
			for j := range p.Props {
				if _, ok := lexicon.Property(p.Name, p.Props[j].Name); !ok {
					t.Errorf("nothing says what %s of %s means", p.Props[j].Name, p.Name)
				}
			}
		}
	}
	for _, word := range grammar.Clauses {
		if lexicon.Clause(word) == "" {
			t.Errorf("nothing says what %s means", word)
		}
	}
}
