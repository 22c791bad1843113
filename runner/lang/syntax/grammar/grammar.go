package grammar

import (
	"slices"
	"strconv"
	"strings"
)

// Form is the form of value that a property wants.
type Form uint8

// The forms.
const (
	Text     Form = iota // "text", or one word
	Command              // "text", or text below
	Name                 // the name of something declared
	NameList             // [name, name]
	Tool                 // a name, possibly dotted, or a text
	ToolList             // a list of them
	TextList             // ["text", "text"]
	Whole                // a whole number
	Number
	Bool
	Duration
	OneOf
	Verify    // auto, none, a command, a list of commands
	Block     // a block of properties
	Object    // { key: "text" }, or a block of such lines
	Constants // the same with JSON values
	Formulas  // a block of key: "expression"
)

// Property says what a property is called, what it means and which values it
// takes.
type Property struct {
	Name     string
	Means    string // the property that it is another word for, or ""
	Form     Form
	Of       string     // Name, NameList: what is named
	Words    []Word     // OneOf
	Props    []Property // Block
	Least    int64      // Whole, Number: the smallest value
	Positive bool       // Number: 0 is too little
	Code     string     // OneOf: the diagnostic for another word, or "" for the usual one
}

// Word is a word of a closed set.
type Word struct {
	Word  string
	Means string // the canonical word, or "" for itself
	Quiet bool   // understood, and not listed in hints
}

// Key is the name under which the property's value is kept.
func (p *Property) Key() string {
	if p.Means != "" {
		return p.Means
	}
	return p.Name
}

// Canonical returns what word means in the property's closed set.
func (p *Property) Canonical(word string) (string, bool) {
	for _, w := range p.Words {
		if w.Word == word {
			if w.Means != "" {
				word = w.Means
			}
			return word, true
		}
	}
	return "", false
}

// Listed are the words of the property's closed set that hints list.
func (p *Property) Listed() []string {
	var list []string
	for _, w := range p.Words {
		if !w.Quiet {
			list = append(list, w.Word)
		}
	}
	return list
}

// Find returns the property of a table that is spelt name, or nil.
func Find(table []Property, name string) *Property {
	for i := range table {
		if table[i].Name == name {
			return &table[i]
		}
	}
	return nil
}

// Names lists the properties of a table without their other words, sorted.
func Names(table []Property) []string {
	var list []string
	for i := range table {
		if table[i].Means == "" {
			list = append(list, table[i].Name)
		}
	}
	slices.Sort(list)
	return list
}

// forms say what each form wants in words, and show a value.
var forms = [...]struct{ wants, example string }{
	Text:      {"a text", `"…"`},
	Command:   {"a text", `"make test"`},
	Name:      {"", "NAME"},
	NameList:  {"", "[NAME, NAME]"},
	Tool:      {"the name of a tool", "builtin.verify"},
	ToolList:  {"a list of tools", "[read_file, mcp.server.tool]"},
	TextList:  {"a list of texts", `["one", "two"]`},
	Whole:     {"a whole number", ""},
	Number:    {"a number", "0.5"},
	Bool:      {"true or false", "true"},
	Duration:  {"a duration", `"90s", "30m" or "1h30m"`},
	OneOf:     {"a word", ""},
	Verify:    {"auto, none, a command or a list of commands", `["make test"]`},
	Block:     {"a block of properties below it", ""},
	Object:    {"entries: a key and a value each", `{ key: "value" }`},
	Constants: {"entries: a key and a value each", `{ key: "value" }`},
	Formulas:  {"entries: a key and a value each", ""},
}

// Wants says in words what the property takes.
func (p *Property) Wants() string {
	switch p.Form {
	case Name:
		if strings.IndexByte("aeiou", p.Of[0]) >= 0 {
			return "an " + p.Of + " by its name"
		}
		return "a " + p.Of + " by its name"
	case NameList:
		return "a list of " + p.Of + "s by their names"
	}
	return forms[p.Form].wants
}

// Example is a hint that shows how the property could be written.
func (p *Property) Example() string {
	example := forms[p.Form].example
	switch {
	case p.Of == "prompt":
		return "declare the text as prompt NAME: and write " + p.Name + ": NAME"
	case p.Form == Block:
		return "begin a new line and indent the properties: " + p.Props[0].Name + ": …"
	case p.Form == Formulas:
		return `begin a new line and indent the entries: total: "1 + 1"`
	case p.Form == Whole:
		example = strconv.FormatInt(max(p.Least, 3), 10)
	case p.Form == OneOf:
		example = p.Words[0].Word
	case p.Form == Command:
		example += ", or nothing there and the commands indented below"
	}
	return "for example " + p.Name + ": " + example
}
