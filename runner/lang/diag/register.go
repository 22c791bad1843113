package diag

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Rule is the register's entry for one code.
type Rule struct {
	Code   Code   `json:"code"`
	Family string `json:"family"` // the name of a [Family]
	Title  string `json:"title"`  // a noun phrase: "unknown node in edge"
	Why    string `json:"why"`    // one paragraph: what goes wrong without the rule
	Bad    string `json:"bad"`    // a complete .iter file that triggers the rule
	Good   string `json:"good"`   // the same file, mended
}

// Lookup returns the register's entry for code.
func Lookup(code Code) (Rule, bool) {
	rule, ok := register().byCode[code]
	return rule, ok
}

// Rules lists the whole register by code. The caller owns the list.
func Rules() []Rule { return slices.Clone(register().sorted) }

// Family is a group of rules that are about one thing.
type Family struct {
	Name  string // of its file in the register
	Title string
}

// families are in the order in which a reader meets what they are about.
var families = []Family{
	{"syntax", "How a file is written"},
	{"declarations", "What is declared"},
	{"names", "What a name stands for"},
	{"values", "What a value can be"},
	{"nodes", "What a node needs"},
	{"flow", "How the graph runs"},
	{"run", "What a run needs"},
	{"recipes", "What a recipe says"},
}

// Families lists the groups of rules in the order of reading. The caller owns the
// list.
func Families() []Family { return slices.Clone(families) }

// registerFiles hold the register as text, one file per family. An entry is
//
//	=== CODE title
//	why, on one or more lines
//	--- bad
//	a complete file
//	--- good
//	a complete file
//
//go:embed register/*.txt
var registerFiles embed.FS

// index is the register, read.
type index struct {
	byCode map[Code]Rule
	sorted []Rule
}

// register is read when the first diagnostic or question comes: a program that
// finds nothing wrong does not pay for it.
var register = sync.OnceValue(func() index {
	rules, err := readRegister()
	if err != nil {
		panic("diag: " + err.Error())
	}
	ix := index{make(map[Code]Rule, len(rules)), rules}
	for _, r := range rules {
		ix.byCode[r.Code] = r
	}
	return ix
})

// readRegister reads every file of the register and returns its rules by code.
func readRegister() ([]Rule, error) {
	entries, err := registerFiles.ReadDir("register")
	if err != nil {
		return nil, err
	}
	var rules []Rule
	for _, e := range entries {
		text, err := registerFiles.ReadFile("register/" + e.Name())
		if err != nil {
			return nil, err
		}
		for _, entry := range strings.Split("\n"+strings.ReplaceAll(string(text), "\r\n", "\n"), "\n=== ")[1:] {
			rule, err := readRule(entry)
			if err != nil {
				return nil, fmt.Errorf("register %s: %w", e.Name(), err)
			}
			rule.Family = strings.TrimSuffix(e.Name(), ".txt")
			rules = append(rules, rule)
		}
	}
	slices.SortFunc(rules, func(a, b Rule) int { return strings.Compare(string(a.Code), string(b.Code)) })
	for i := 1; i < len(rules); i++ {
		if rules[i].Code == rules[i-1].Code {
			return nil, fmt.Errorf("register: %s stands in it twice", rules[i].Code)
		}
	}
	return rules, nil
}

// readRule reads one entry, from its code to the end of its good example.
func readRule(entry string) (Rule, error) {
	head, body, _ := strings.Cut(entry, "\n")
	code, title, titled := strings.Cut(head, " ")
	why, examples, hasBad := strings.Cut(body, "\n--- bad\n")
	bad, good, hasGood := strings.Cut(examples, "\n--- good\n")
	if !titled || !hasBad || !hasGood {
		return Rule{}, fmt.Errorf("the entry %q lacks a title or an example", head)
	}
	return Rule{
		Code: Code(code), Title: title, Why: strings.Join(strings.Fields(why), " "),
		Bad: strings.TrimRight(bad, "\n") + "\n", Good: strings.TrimRight(good, "\n") + "\n",
	}, nil
}
