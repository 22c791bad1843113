package docs_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// documented is what a page says about one property.
type documented struct {
	names  []string // the first is the one to use
	values []string // of a closed set, else nil
}

var (
	propertyTable = regexp.MustCompile(`(?m)^<!-- properties: ([a-z_ ]+) -->\n((?:\|.*\n)+)`)
	inTicks       = regexp.MustCompile("`([^`]+)`")
)

// propertyTables reads the tables of language.md by the word of the declaration
// or block.
func propertyTables(t *testing.T) map[string]map[string]documented {
	t.Helper()
	all := make(map[string]map[string]documented)
	for _, m := range propertyTable.FindAllStringSubmatch(readFile(t, "language.md"), -1) {
		table := make(map[string]documented)
		for _, row := range strings.Split(strings.TrimSpace(m[2]), "\n")[2:] {
			cells := strings.Split(row, "|")
			d := documented{names: ticked(cells[1])}
			if strings.HasPrefix(strings.TrimSpace(cells[2]), "`") && !strings.Contains(cells[2], ",") {
				d.values = ticked(cells[2])
			}
			for _, name := range d.names {
				table[name] = d
			}
		}
		for _, word := range strings.Fields(m[1]) {
			all[word] = table
		}
	}
	return all
}

func ticked(cell string) []string {
	var list []string
	for _, m := range inTicks.FindAllStringSubmatch(cell, -1) {
		list = append(list, m[1])
	}
	return list
}

// propertiesOf are the properties of the grammar, by name, with the words of
// closed sets.
func propertiesOf(g *notation, production string) map[string][]string {
	props := make(map[string][]string)
	e := g.productions[production]
	for _, a := range e.parts {
		name := a.parts[0].text
		props[name] = nil
		for _, p := range a.parts[1:] {
			if p.shape != symbol || !lexical(p.text) {
				continue
			}
			if p.text == "BOOL" {
				props[name] = []string{"true", "false"}
			} else if set := g.productions[p.text+"_WORD"]; set != nil {
				for _, w := range set.parts {
					props[name] = append(props[name], w.text)
				}
			}
		}
	}
	return props
}

// blocks says which production holds the properties of which declaration.
var blocks = map[string]string{
	"agent": "call_property", "judge": "call_property", "router": "router_property", "join": "join_property", "human": "human_property",
	"tool": "tool_property", "compute": "compute_property", "mcp_server": "server_property", "mcp": "mcp_property",
	"workflow": "workflow_property", "budget": "budget_property",
}

// The reference has a table for every block of properties, and the tables say
// what the grammar says: every property, every word of every closed set, and no
// more.
func TestTablesSayWhatTheGrammarSays(t *testing.T) {
	t.Parallel()
	g, tables := readGrammar(t), propertyTables(t)
	for block, production := range blocks {
		table := tables[block]
		if table == nil {
			t.Errorf("language.md has no table for %s", block)
			continue
		}
		props := propertiesOf(g, production)
		for name, values := range props {
			d, ok := table[name]
			if !ok {
				t.Errorf("language.md says nothing about %s of %s", name, block)
			} else if !sameWords(d.values, values) {
				t.Errorf("%s of %s: language.md has the values %v, the grammar %v", name, block, d.values, values)
			}
		}
		for name := range table {
			if _, ok := props[name]; !ok {
				t.Errorf("language.md gives %s a property %s, which the grammar does not have", block, name)
			}
		}
	}
	if len(tables) != len(blocks) {
		t.Errorf("language.md has %d tables, want %d", len(tables), len(blocks))
	}
}

func sameWords(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// Every declaration has a heading of its own, and the table of types all types.
func TestEveryDeclarationIsExplained(t *testing.T) {
	t.Parallel()
	g := readGrammar(t)
	page := readFile(t, "language.md")
	for _, p := range append(g.productions["declaration"].parts, &expression{text: "workflow"}) {
		if !regexp.MustCompile(`(?m)^## (?:[a-z]+ and )?` + p.text + `\b`).MatchString(page) {
			t.Errorf("language.md has no heading for %s", p.text)
		}
	}
	g.productions["variable"].walk(func(e *expression) {
		if e.shape == literal && e.text != ":" && e.text != "=" && !strings.Contains(page, "| `"+e.text+"` |") {
			t.Errorf("language.md has no row for the type %s", e.text)
		}
	})
}
