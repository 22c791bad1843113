package lexicon

import (
	_ "embed"
	"strings"
	"sync"
)

// wordsFile says in a line or two what each word of the language means. It is
// made from the tables and the paragraphs of docs/language.md by go test ./docs -update.
// A line reads
//
//	BLOCK PROPERTY<tab>value<tab>default<tab>meaning
//	BLOCK -<tab><tab><tab>what the declaration is
//
//go:embed words.txt
var wordsFile string

// Meaning is what the reference says about a property, in Markdown.
type Meaning struct {
	Value   string // what it takes
	Default string // what holds without it
	Text    string
}

// meanings is the file, read when somebody asks.
var meanings = sync.OnceValue(func() map[string]Meaning {
	all := make(map[string]Meaning)
	for _, line := range strings.Split(wordsFile, "\n") {
		cells := strings.Split(line, "\t")
		if len(cells) == 4 {
			all[cells[0]] = Meaning{cells[1], cells[2], cells[3]}
		}
	}
	return all
})

// Property is what the reference says about a property of a declaration or block.
func Property(block, name string) (Meaning, bool) {
	m, known := meanings()[block+" "+name]
	return m, known
}

// Declaration says what a declaration is for, "" for a word that begins none.
func Declaration(word string) string { return meanings()[word+" -"].Text }

// Clause says what a word of an edge, a type or a reference means, "" for a word
// that is none.
func Clause(word string) string { return clauses[word] }

// clauses are what the reference says about edges, by the word of the clause.
var clauses = map[string]string{
	"when":    "`when FIELD`, `when not FIELD`, `when \"EXPRESSION\"`: the edge is taken when this holds. Out of a node the first edge in the file whose condition holds is taken; an edge without one is the fallback.",
	"as":      "`as NAME(N)` bounds a loop: the edge may be taken N times each time the loop is entered. Edges of one name share the count.",
	"with":    "`with { key: \"template\" }` makes the target's input. A single reference keeps its type; everything else is text. Inside it `input.` is the input of the node that the edge leaves.",
	"not":     "turns the condition round",
	"done":    "ends the run: it has succeeded, once the repository's own tests pass",
	"fail":    "ends the run: it has failed",
	"enum":    "`[enum: \"a\", \"b\"]` closes the set of texts of a string",
	"raw":     "leaves the quoting for the shell away",
	"->":      "`SOURCE -> TARGET`, then up to three clauses in any order: `when`, `as`, `with`",
	"builtin": "`builtin.verify` runs the repository's own tests; `builtin.NAME` calls one of pawl's own tools",
}
