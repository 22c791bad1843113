package docs_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// wordsPath is what editors show beside a word of the language.
const wordsPath = "../runner/lang/lexicon/words.txt"

var (
	declarationText = regexp.MustCompile("(?m)^## ([a-z_ ]+)\n\n((?:[^\n|<`]|`[^`]).*\n(?:[^\n].*\n)*)")
	markdownLink    = regexp.MustCompile(`\[([^\]]+)\]\([^)]+\)`)
	tickedName      = regexp.MustCompile("`([a-z_]+)`")
)

// wordsOf makes the file of the reference: what a declaration is, from the first
// paragraph below its heading, and what a property means, from the tables.
func wordsOf(page string) string {
	var b strings.Builder
	clean := func(cell string) string { return strings.TrimSpace(markdownLink.ReplaceAllString(cell, "$1")) }
	for _, m := range declarationText.FindAllStringSubmatch(page, -1) {
		for _, word := range strings.Split(m[1], " and ") {
			b.WriteString(word + " -\t\t\t" + clean(strings.Join(strings.Fields(m[2]), " ")) + "\n")
		}
	}
	for _, m := range propertyTable.FindAllStringSubmatch(page, -1) {
		for _, row := range strings.Split(strings.TrimSpace(m[2]), "\n")[2:] {
			cells := strings.Split(row, "|")
			for _, name := range tickedName.FindAllStringSubmatch(cells[1], -1) {
				for _, block := range strings.Fields(m[1]) {
					b.WriteString(block + " " + name[1] + "\t" + clean(cells[2]) + "\t" + clean(cells[3]) + "\t" + clean(cells[4]) + "\n")
				}
			}
		}
	}
	return b.String()
}

// Editors say about a word what the reference says.
func TestWordsAreThoseOfTheReference(t *testing.T) {
	want := wordsOf(readFile(t, "language.md"))
	if *update {
		if err := os.WriteFile(wordsPath, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if readFile(t, wordsPath) != want {
		t.Errorf("%s is not what language.md says: go test ./docs -update", wordsPath)
	}
}
