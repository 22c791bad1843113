package docs_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// grammarFile is the grammar that people read and these tests execute.
const grammarFile = "language.ebnf"

// shape is what an expression is made of.
type shape int

const (
	literal shape = iota
	class         // one character
	symbol        // the name of a production, or a word of the layout
	sequence
	choice
	repeat // least to most times; most < 0 is any number
	except // parts[0] but not parts[1]
)

// expression is one expression of the notation.
type expression struct {
	shape       shape
	text        string // literal, symbol
	ranges      []rune // class: pairs, both ends included
	outside     bool   // class
	parts       []*expression
	least, most int // repeat
}

// notation is a grammar, read.
type notation struct {
	productions map[string]*expression
	order       []string
}

// layout are the words that come from the layout of a file, not from its letters.
var layout = []string{"NEWLINE", "INDENT", "DEDENT", "BODY"}

// roots are the productions that nothing refers to.
var roots = []string{"file", "TEMPLATE"}

// lexical reports whether a production is a word of a line.
func lexical(name string) bool { return unicode.IsUpper(rune(name[0])) }

// reader reads the notation of the W3C.
type reader struct {
	src string
	pos int
}

func readGrammar(t testing.TB) *notation {
	t.Helper()
	r := &reader{src: readFile(t, grammarFile)}
	g := &notation{productions: make(map[string]*expression)}
	defer func() {
		if problem := recover(); problem != nil {
			t.Fatalf("%s:%d: %v", grammarFile, 1+strings.Count(r.src[:min(r.pos, len(r.src))], "\n"), problem)
		}
	}()
	for r.space(); r.pos < len(r.src); {
		name := r.name()
		r.expect("::=")
		if g.productions[name] != nil {
			panic(name + " is there twice")
		}
		g.productions[name] = r.choice()
		g.order = append(g.order, name)
	}
	return g
}

func (r *reader) space() {
	for r.pos < len(r.src) {
		switch {
		case strings.IndexByte(" \t\n", r.src[r.pos]) >= 0:
			r.pos++
		case strings.HasPrefix(r.src[r.pos:], "/*"):
			end := strings.Index(r.src[r.pos:], "*/")
			if end < 0 {
				panic("a comment has no end")
			}
			r.pos += end + 2
		default:
			return
		}
	}
}

func (r *reader) looking(sign string) bool { return strings.HasPrefix(r.src[r.pos:], sign) }

func (r *reader) expect(sign string) {
	if !r.looking(sign) {
		panic(sign + " is missing")
	}
	r.pos += len(sign)
	r.space()
}

func (r *reader) name() string {
	start := r.pos
	for r.pos < len(r.src) && (r.src[r.pos] == '_' || r.src[r.pos] >= 'A' && r.src[r.pos] <= 'Z' || r.src[r.pos] >= 'a' && r.src[r.pos] <= 'z') {
		r.pos++
	}
	if r.pos == start {
		panic("a name is missing")
	}
	name := r.src[start:r.pos]
	r.space()
	return name
}

func (r *reader) choice() *expression {
	e := &expression{shape: choice, parts: []*expression{r.sequence()}}
	for r.looking("|") {
		r.expect("|")
		e.parts = append(e.parts, r.sequence())
	}
	if len(e.parts) == 1 {
		return e.parts[0]
	}
	return e
}

func (r *reader) sequence() *expression {
	e := &expression{shape: sequence}
	for r.pos < len(r.src) && !r.looking("|") && !r.looking(")") && !r.beginsProduction() {
		e.parts = append(e.parts, r.except())
	}
	switch len(e.parts) {
	case 0:
		panic("an expression is missing")
	case 1:
		return e.parts[0]
	}
	return e
}

// beginsProduction looks ahead for name ::=.
func (r *reader) beginsProduction() bool {
	ahead := *r
	defer func() { _ = recover() }() // no name: no production
	ahead.name()
	return ahead.looking("::=")
}

func (r *reader) except() *expression {
	e := r.repeat()
	if r.looking("-") {
		r.expect("-")
		e = &expression{shape: except, parts: []*expression{e, r.repeat()}}
	}
	return e
}

func (r *reader) repeat() *expression {
	e := r.unit()
	for r.pos < len(r.src) {
		least, most := 0, -1
		switch r.src[r.pos] {
		case '?':
			most = 1
		case '*':
		case '+':
			least = 1
		default:
			return e
		}
		r.pos++
		r.space()
		e = &expression{shape: repeat, parts: []*expression{e}, least: least, most: most}
	}
	return e
}

func (r *reader) unit() *expression {
	switch c := r.src[r.pos]; c {
	case '(':
		r.expect("(")
		e := r.choice()
		r.expect(")")
		return e
	case '\'', '"':
		end := strings.IndexByte(r.src[r.pos+1:], c)
		text := r.src[r.pos+1 : r.pos+1+end]
		r.pos += end + 2
		r.space()
		return &expression{shape: literal, text: text}
	case '[':
		return r.class()
	}
	return &expression{shape: symbol, text: r.name()}
}

// class reads [a-z], [^"] and #xN inside them.
func (r *reader) class() *expression {
	e := &expression{shape: class}
	r.pos++
	if r.looking("^") {
		e.outside = true
		r.pos++
	}
	for !r.looking("]") {
		low := r.character()
		high := low
		if r.looking("-") && !r.looking("-]") {
			r.pos++
			high = r.character()
		}
		e.ranges = append(e.ranges, low, high)
	}
	r.pos++
	r.space()
	return e
}

func (r *reader) character() rune {
	if r.looking("#x") {
		end := r.pos + 2
		for strings.IndexByte("0123456789ABCDEFabcdef", r.src[end]) >= 0 {
			end++
		}
		n, err := strconv.ParseInt(r.src[r.pos+2:end], 16, 32)
		if err != nil {
			panic(err)
		}
		r.pos = end
		return rune(n)
	}
	c, size := utf8.DecodeRuneInString(r.src[r.pos:])
	r.pos += size
	return c
}

// walk visits an expression and everything in it.
func (e *expression) walk(visit func(*expression)) {
	visit(e)
	for _, p := range e.parts {
		p.walk(visit)
	}
}

// holds reports whether the class has the character.
func (e *expression) holds(c rune) bool {
	for i := 0; i < len(e.ranges); i += 2 {
		if c >= e.ranges[i] && c <= e.ranges[i+1] {
			return !e.outside
		}
	}
	return e.outside
}

// ends are the offsets at which a text that begins at start and matches e can
// end, sorted.
func (g *notation) ends(e *expression, text string, start int) []int {
	switch e.shape {
	case literal:
		if strings.HasPrefix(text[start:], e.text) {
			return []int{start + len(e.text)}
		}
	case class:
		if c, size := utf8.DecodeRuneInString(text[start:]); size > 0 && e.holds(c) {
			return []int{start + size}
		}
	case symbol:
		return g.ends(g.productions[e.text], text, start)
	case choice:
		var all []int
		for _, p := range e.parts {
			all = append(all, g.ends(p, text, start)...)
		}
		return sortedSet(all)
	case sequence:
		at := []int{start}
		for _, p := range e.parts {
			at = g.endsFrom(p, text, at)
		}
		return at
	case except:
		no := g.ends(e.parts[1], text, start)
		return slices.DeleteFunc(g.ends(e.parts[0], text, start), func(end int) bool { return slices.Contains(no, end) })
	case repeat:
		return g.repeated(e, text, start)
	}
	return nil
}

func (g *notation) endsFrom(e *expression, text string, starts []int) []int {
	var all []int
	for _, s := range starts {
		all = append(all, g.ends(e, text, s)...)
	}
	return sortedSet(all)
}

func (g *notation) repeated(e *expression, text string, start int) []int {
	at, all := []int{start}, []int(nil)
	for n := 0; len(at) > 0 && (e.most < 0 || n <= e.most); n++ {
		if n >= e.least {
			all = append(all, at...)
		}
		fresh := g.endsFrom(e.parts[0], text, at)
		at = slices.DeleteFunc(fresh, func(end int) bool { return end == start || slices.Contains(all, end) })
	}
	return sortedSet(all)
}

func sortedSet(list []int) []int {
	slices.Sort(list)
	return slices.Compact(list)
}

// is reports whether the whole text matches the production.
func (g *notation) is(name, text string) bool {
	return slices.Contains(g.ends(g.productions[name], text, 0), len(text))
}

// Nothing is missing, nothing is left over, and lexical productions know nothing
// of layout or syntax.
func TestGrammarIsClosed(t *testing.T) {
	t.Parallel()
	g := readGrammar(t)
	used := make(map[string]bool)
	for _, name := range g.order {
		g.productions[name].walk(func(e *expression) {
			if e.shape != symbol {
				if !lexical(name) && (e.shape == class || e.shape == except) {
					t.Errorf("%s: characters belong into words", name)
				}
				return
			}
			used[e.text] = true
			if slices.Contains(layout, e.text) && !lexical(name) {
				return
			}
			if g.productions[e.text] == nil {
				t.Errorf("%s: there is no production %s", name, e.text)
			} else if lexical(name) && !lexical(e.text) {
				t.Errorf("%s is a word and holds %s, which is none", name, e.text)
			}
		})
	}
	for _, name := range append(slices.Clone(g.order), layout...) {
		if !used[name] && !slices.Contains(roots, name) {
			t.Errorf("%s is not used", name)
		}
	}
	for _, name := range roots {
		if g.productions[name] == nil || used[name] {
			t.Errorf("%s is no root", name)
		}
	}
}

// String writes an expression for messages.
func (e *expression) String() string {
	if e.shape == literal || e.shape == symbol {
		return e.text
	}
	return fmt.Sprintf("%d%v", e.shape, e.parts)
}
