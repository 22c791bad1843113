package docs_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// generator makes random sentences of the grammar.
type generator struct {
	g       *notation
	random  *rand.Rand
	used    map[string]bool // names, which are given once
	out     strings.Builder
	indent  int   // of the block that is being written
	column  int   // where the present line begins
	opened  []int // where the lines began that opened the brackets
	fresh   bool
	wordend bool // the last character could be continued by a letter
	values  int  // nesting of values
}

// newRandom is a source that gives the same numbers every time.
func newRandom(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// file is a random file.
func (g *notation) file(seed uint64) string {
	w := &generator{g: g, random: newRandom(seed), used: make(map[string]bool), fresh: true}
	w.write(g.productions["file"])
	text := w.out.String()
	if w.random.IntN(8) == 0 {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

func (w *generator) write(e *expression) {
	switch e.shape {
	case literal:
		w.word(e.text)
	case symbol:
		w.symbol(e.text)
	case choice:
		w.write(e.parts[w.random.IntN(len(e.parts))])
	case sequence:
		for _, p := range e.parts {
			w.write(p)
		}
	case repeat:
		w.repeat(e)
	}
}

func (w *generator) symbol(name string) {
	switch {
	case name == "NEWLINE":
		w.newline()
	case name == "INDENT":
		w.indent += 1 + w.random.IntN(4)
	case name == "DEDENT": // the block that closes was opened by symbols of the same production
	case name == "BODY":
		w.body()
	case lexical(name):
		w.word(w.sample(name))
	case name == "constant" || name == "vars":
		w.values++
		defer func() { w.values-- }()
		fallthrough
	default:
		indent := w.indent
		w.write(w.g.productions[name])
		w.indent = indent
	}
}

// repeat writes e between its least and its most times. Of properties and
// clauses each is taken once, in any order: the grammar's head says so.
func (w *generator) repeat(e *expression) {
	once := e.parts[0]
	if once.shape == symbol && (strings.HasSuffix(once.text, "_property") || once.text == "clause") {
		alternatives := slices.Clone(w.g.productions[once.text].parts)
		w.random.Shuffle(len(alternatives), func(i, j int) { alternatives[i], alternatives[j] = alternatives[j], alternatives[i] })
		for _, a := range alternatives[:e.least+w.random.IntN(len(alternatives)-e.least+1)] {
			indent := w.indent
			w.write(a)
			w.indent = indent
		}
		return
	}
	most := e.least + 3
	if w.values > 4 {
		most = e.least
	}
	if e.most >= 0 {
		most = e.most
	}
	for range e.least + w.random.IntN(most-e.least+1) {
		w.write(once)
	}
}

// newline ends a line, sometimes with a comment, a blank line or a trailing blank.
func (w *generator) newline() {
	if w.random.IntN(6) == 0 {
		w.out.WriteString(" ## a comment: \"with\" { everything [ in it")
	}
	w.out.WriteString([]string{"\n", "\n", "\n", " \n", "\n\n", "\n      ## a line of its own\n"}[w.random.IntN(6)])
	w.fresh = true
}

func (w *generator) word(text string) {
	switch {
	case w.fresh:
		w.column = w.indent
		if n := len(w.opened); n > 0 {
			w.column = w.opened[n-1] + 1 + w.random.IntN(6)
		}
		w.out.WriteString(strings.Repeat(" ", w.column))
	case w.wordend && bears(text[0]) || w.random.IntN(2) == 0:
		w.out.WriteString(strings.Repeat(" ", 1+w.random.IntN(2)))
	}
	switch text {
	case "[", "{", "(":
		w.opened = append(w.opened, w.column)
	case "]", "}", ")":
		w.opened = w.opened[:len(w.opened)-1]
	}
	w.out.WriteString(text)
	w.fresh, w.wordend = false, bears(text[len(text)-1])
}

// bears reports whether two words must not touch where this character stands.
func bears(c byte) bool {
	return c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// body writes lines of any text, deeper than the line above.
func (w *generator) body() {
	deeper := 1 + w.random.IntN(4)
	for i := range 1 + w.random.IntN(4) {
		text := w.sample("STRING")
		if i == 0 {
			text = "first" + text
		}
		w.out.WriteString(strings.Repeat(" ", w.indent+deeper+w.random.IntN(3)) + text + "\n")
	}
	w.fresh = true
}

// keywords stand where a name could be taken for one.
var keywords = []string{"not", "done", "fail", "true", "false", "null", "enum", "vars"}

// names are the productions whose words are given once.
var names = []string{"NAME", "QUOTED_NAME", "NODE", "FIELD", "IDENTIFIER", "PLAIN", "STRING", "TEXT"}

// mostOfAnything is the largest number that a property takes.
const mostOfAnything = 1e9

// sample makes a word of a lexical production: a name that is not used yet, a
// number that is not too large.
func (w *generator) sample(name string) string {
	for {
		var b strings.Builder
		w.letters(&b, w.g.productions[name])
		text := b.String()
		if !w.g.is(name, text) {
			continue
		}
		if n, err := strconv.ParseFloat(text, 64); err == nil && (n > mostOfAnything || n < -mostOfAnything) {
			continue
		}
		if d, err := time.ParseDuration(strings.Trim(text, `"`)); strings.HasSuffix(name, "DURATION") && (err != nil || d <= 0) {
			continue // less than a nanosecond
		}
		if given := strings.Trim(text, `"`); slices.Contains(names, name) {
			if w.used[given] || slices.Contains(keywords, given) {
				continue
			}
			w.used[given] = true
		}
		return text
	}
}

// strange are characters that readers of text stumble over.
var strange = []rune(" aZ09_-.,:;=#$&'`()[]{}<>|/~^%@!?*+\"\\äß漢🙂\u00a0\u2028\ufeff\ufffd\t")

func (w *generator) letters(b *strings.Builder, e *expression) {
	switch e.shape {
	case literal:
		b.WriteString(e.text)
	case symbol:
		w.letters(b, w.g.productions[e.text])
	case choice:
		w.letters(b, e.parts[w.random.IntN(len(e.parts))])
	case sequence:
		for _, p := range e.parts {
			w.letters(b, p)
		}
	case except:
		w.letters(b, e.parts[0]) // what is excepted is thrown away by sample
	case repeat:
		most := e.least + 5
		if e.most >= 0 {
			most = e.most
		}
		for range e.least + w.random.IntN(most-e.least+1) {
			w.letters(b, e.parts[0])
		}
	case class:
		b.WriteRune(w.letter(e))
	}
}

func (w *generator) letter(e *expression) rune {
	for {
		c := strange[w.random.IntN(len(strange))]
		if !e.outside {
			i := 2 * w.random.IntN(len(e.ranges)/2)
			c = e.ranges[i] + rune(w.random.IntN(int(e.ranges[i+1]-e.ranges[i])+1))
		}
		if e.holds(c) {
			return c
		}
	}
}
