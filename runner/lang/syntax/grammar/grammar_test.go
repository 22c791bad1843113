package grammar

import (
	"slices"
	"strings"
	"testing"
)

// tables are all tables, by what they belong to.
func tables() map[string][]Property {
	all := map[string][]Property{"mcp_server": Server, "workflow": Workflow}
	for _, word := range Declarations {
		if props := Node(word); props != nil {
			all[word] = props
		}
	}
	for what, table := range all {
		for _, p := range table {
			if p.Form == Block {
				all[what+" "+p.Name] = p.Props
			}
		}
	}
	return all
}

// Tables are sorted, name everything once, and every other word leads to a
// property or a word that exists.
func TestTables(t *testing.T) {
	t.Parallel()
	for what, table := range tables() {
		if !slices.IsSortedFunc(table, func(a, b Property) int { return strings.Compare(a.Name, b.Name) }) {
			t.Errorf("%s: the properties are not sorted", what)
		}
		for i := range table {
			p := &table[i]
			if Find(table, p.Name) != p {
				t.Errorf("%s: %s stands in it twice", what, p.Name)
			}
			if target := Find(table, p.Key()); target == nil || target.Means != "" || target.Form != p.Form {
				t.Errorf("%s: %s means %s, which is no property of the same form", what, p.Name, p.Means)
			}
			if (p.Form == OneOf) != (p.Words != nil) || (p.Form == Block) != (p.Props != nil) || (p.Form == Name || p.Form == NameList) != (p.Of != "") {
				t.Errorf("%s: %s lacks what its form needs, or has what it does not", what, p.Name)
			}
			words(t, what, p)
		}
	}
	if Find(Workflow, "nothing") != nil || Node("workflow") != nil {
		t.Error("something is found that is not there")
	}
}

func words(t *testing.T, what string, p *Property) {
	t.Helper()
	for i, w := range p.Words {
		canonical, known := p.Canonical(w.Word)
		if again, ok := p.Canonical(canonical); !known || !ok && p.Means == "" || ok && again != canonical {
			t.Errorf("%s: %s: %s means %s, which means something else", what, p.Name, w.Word, canonical)
		}
		if slices.IndexFunc(p.Words, func(x Word) bool { return x.Word == w.Word }) != i {
			t.Errorf("%s: %s: %s stands there twice", what, p.Name, w.Word)
		}
	}
	if p.Form != OneOf {
		return
	}
	if _, known := p.Canonical("nothing"); known || len(p.Listed()) < 2 {
		t.Errorf("%s: %s lists %v", what, p.Name, p.Listed())
	}
}

// Every property can say what it wants and show how it is written.
func TestHelp(t *testing.T) {
	t.Parallel()
	for what, table := range tables() {
		for i := range table {
			if p := &table[i]; p.Wants() == "" || !strings.Contains(p.Example(), p.Name) && p.Form != Block && p.Form != Formulas {
				t.Errorf("%s: %s wants %q, for example %q", what, p.Name, p.Wants(), p.Example())
			}
		}
	}
	for _, typ := range Types {
		if Literal(typ) == "" {
			t.Errorf("%s has no literal", typ)
		}
	}
	if !slices.IsSorted(Declarations) || !slices.IsSorted(Clauses) {
		t.Error("a list of words is not sorted")
	}
}

// The other words of the language keep their meaning.
func TestSynonyms(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ kind, property, word, key, means string }{
		{"agent", "delegate", "", "backend", ""},
		{"router", "delegate", "", "backend", ""},
		{"agent", "reasoning_effort", "xhigh", "reasoning_effort", "extra_high"},
		{"judge", "reasoning_effort", "max", "reasoning_effort", "extra_high"},
		{"agent", "session", "inherit_if_available", "session", "inherit"},
		{"human", "interaction", "human", "mode", "pause_until_answers"},
		{"human", "interaction", "llm", "mode", "auto_answer"},
		{"human", "interaction", "llm_or_human", "mode", "auto_or_pause"},
		{"human", "mode", "llm", "mode", "auto_answer"},
		{"agent", "interaction", "llm", "interaction", "llm"},
	} {
		p := Find(Node(test.kind), test.property)
		if p == nil || p.Key() != test.key {
			t.Errorf("%s: %s is %+v", test.kind, test.property, p)
			continue
		}
		if means, known := p.Canonical(test.word); test.word != "" && (!known || means != test.means) {
			t.Errorf("%s: %s: %s means %q", test.kind, test.property, test.word, means)
		}
	}
	if tick, _ := Find(Workflow, "worktree").Canonical("auto"); tick != "tick" || Find(Workflow, "default_backend").Key() != "backend" {
		t.Error("a workflow's other word is lost")
	}
	if want := []string{"backend", "budget", "entry", "interaction", "mcp", "verify", "worktree"}; !slices.Equal(Names(Workflow), want) {
		t.Errorf("a workflow has %v", Names(Workflow))
	}
}
