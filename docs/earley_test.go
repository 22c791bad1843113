package docs_test

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// rule is one production without choices and repeats.
type rule struct {
	head string
	body []*expression // literals and symbols
}

// recogniser is Earley's algorithm over the grammar.
type recogniser struct {
	g        *notation
	rules    map[string][]*rule
	nullable map[string]bool
	is       map[[2]string]bool // word and production: does it match
}

// recogniser turns the syntactic productions into plain rules.
func (g *notation) recogniser() *recogniser {
	r := &recogniser{g: g, rules: make(map[string][]*rule), nullable: make(map[string]bool), is: make(map[[2]string]bool)}
	for _, name := range g.order {
		if !lexical(name) {
			r.plain(name, g.productions[name])
		}
	}
	for changed := true; changed; {
		changed = false
		for head, rules := range r.rules {
			for _, rule := range rules {
				if !r.nullable[head] && !slices.ContainsFunc(rule.body, func(e *expression) bool { return e.shape != symbol || !r.nullable[e.text] }) {
					r.nullable[head], changed = true, true
				}
			}
		}
	}
	return r
}

// plain adds rules for name ::= e. A repeat becomes a left recursion, which
// Earley's algorithm follows in linear time.
func (r *recogniser) plain(name string, e *expression) {
	alternatives := []*expression{e}
	if e.shape == choice {
		alternatives = e.parts
	}
	for i, a := range alternatives {
		parts := []*expression{a}
		if a.shape == sequence {
			parts = a.parts
		}
		body := make([]*expression, len(parts))
		for j, p := range parts {
			body[j] = r.simple(fmt.Sprintf("%s/%d/%d", name, i, j), p)
		}
		r.rules[name] = append(r.rules[name], &rule{name, body})
	}
}

// simple returns a literal or a symbol that stands for e.
func (r *recogniser) simple(name string, e *expression) *expression {
	if e.shape == literal || e.shape == symbol {
		return e
	}
	self := &expression{shape: symbol, text: name}
	if e.shape != repeat {
		r.plain(name, e)
		return self
	}
	one := r.simple(name+"/one", e.parts[0])
	switch {
	case e.least == 1:
		r.rules[name] = []*rule{{name, []*expression{one}}, {name, []*expression{self, one}}}
	case e.most == 1:
		r.rules[name] = []*rule{{name, nil}, {name, []*expression{one}}}
	default:
		r.rules[name] = []*rule{{name, nil}, {name, []*expression{self, one}}}
	}
	return self
}

// item is a rule, how far it is recognised, and where it began.
type item struct {
	rule *rule
	dot  int
	from int
}

// column is what is possible behind one word.
type column struct {
	items []item
	seen  map[item]bool
	wants map[string][]item // items that wait for a production
}

func (c *column) add(it item) {
	if !c.seen[it] {
		c.seen[it] = true
		c.items = append(c.items, it)
	}
}

func newColumn() *column {
	return &column{seen: make(map[item]bool), wants: make(map[string][]item)}
}

// recognise reports whether the words are a sentence of the production, and if
// not, where and what could have stood there.
func (r *recogniser) recognise(root string, words []lexeme) error {
	columns := []*column{newColumn()}
	for _, rule := range r.rules[root] {
		columns[0].add(item{rule, 0, 0})
	}
	for at := 0; ; at++ {
		next := newColumn()
		r.complete(columns, at, words, next)
		if at == len(words) {
			break
		}
		if len(next.items) == 0 {
			return fmt.Errorf("line %d: %q where one of these is wanted: %s", words[at].line, words[at].text, r.wanted(columns[at]))
		}
		columns = append(columns, next)
	}
	last := columns[len(words)]
	if slices.ContainsFunc(last.items, func(it item) bool {
		return it.rule.head == root && it.from == 0 && it.dot == len(it.rule.body)
	}) {
		return nil
	}
	return fmt.Errorf("the end where one of these is wanted: %s", r.wanted(last))
}

// complete predicts, completes and scans everything in the column at.
func (r *recogniser) complete(columns []*column, at int, words []lexeme, next *column) {
	col := columns[at]
	for i := 0; i < len(col.items); i++ {
		it := col.items[i]
		if it.dot == len(it.rule.body) {
			for _, waiting := range columns[it.from].wants[it.rule.head] {
				col.add(item{waiting.rule, waiting.dot + 1, waiting.from})
			}
			continue
		}
		e := it.rule.body[it.dot]
		if e.shape == symbol && r.rules[e.text] != nil {
			if len(col.wants[e.text]) == 0 {
				for _, rule := range r.rules[e.text] {
					col.add(item{rule, 0, at})
				}
			}
			col.wants[e.text] = append(col.wants[e.text], it)
			if r.nullable[e.text] {
				col.add(item{it.rule, it.dot + 1, it.from})
			}
		} else if at < len(words) && r.matches(e, words[at]) {
			next.add(item{it.rule, it.dot + 1, it.from})
		}
	}
}

// matches reports whether a word is what a literal or a lexical production wants.
func (r *recogniser) matches(e *expression, w lexeme) bool {
	if w.layout || slices.Contains(layout, e.text) && e.shape == symbol {
		return w.layout && e.shape == symbol && e.text == w.text
	}
	if e.shape == literal {
		return e.text == w.text
	}
	key := [2]string{w.text, e.text}
	known, ok := r.is[key]
	if !ok {
		known = r.g.is(e.text, w.text)
		r.is[key] = known
	}
	return known
}

// wanted lists the words that could stand behind a column.
func (r *recogniser) wanted(c *column) string {
	set := make(map[string]bool)
	for _, it := range c.items {
		if it.dot < len(it.rule.body) {
			if e := it.rule.body[it.dot]; e.shape == literal || r.rules[e.text] == nil {
				set[e.text] = true
			}
		}
	}
	var list []string
	for w := range set {
		list = append(list, w)
	}
	sort.Strings(list)
	return strings.Join(list, " ")
}
