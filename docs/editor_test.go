package docs_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// colouring is a TextMate grammar, as far as these tests read it.
type colouring struct {
	Include    string                `json:"include"`
	Match      string                `json:"match"`
	Begin      string                `json:"begin"`
	End        string                `json:"end"`
	While      string                `json:"while"`
	Patterns   []colouring           `json:"patterns"`
	Repository map[string]*colouring `json:"repository"`
}

const colouringFile = "editor/iter.tmLanguage.json"

func readColouring(t *testing.T) *colouring {
	t.Helper()
	c := &colouring{}
	if err := json.Unmarshal([]byte(readFile(t, colouringFile)), c); err != nil {
		t.Fatalf("%s: %v", colouringFile, err)
	}
	return c
}

// walk visits every rule.
func (c *colouring) walk(visit func(*colouring)) {
	visit(c)
	for i := range c.Patterns {
		c.Patterns[i].walk(visit)
	}
	for _, rule := range c.Repository {
		rule.walk(visit)
	}
}

// Every rule that is named is there, every rule that is there is named, and what
// begins has an end.
func TestTextMateRulesHoldTogether(t *testing.T) {
	t.Parallel()
	c := readColouring(t)
	named := make(map[string]bool)
	c.walk(func(rule *colouring) {
		if rule.Begin != "" && (rule.End == "") == (rule.While == "") {
			t.Errorf("a rule that begins with %s has not exactly one of end and while", rule.Begin)
		}
		name, local := strings.CutPrefix(rule.Include, "#")
		if local && c.Repository[name] == nil {
			t.Errorf("#%s is included and not there", name)
		}
		named[name] = true
	})
	for name := range c.Repository {
		if !named[name] {
			t.Errorf("#%s is there and not included", name)
		}
	}
}

// colouredAs says which rules colour the properties of which block.
var colouredAs = map[string]string{
	"agent": "call", "judge": "call", "router": "router", "join": "join", "human": "human", "tool": "tool",
	"compute": "compute", "mcp_server": "server", "mcp": "mcp", "workflow": "workflow", "budget": "budget",
}

// propertyWords are the alternatives of a rule's first group.
var propertyWords = regexp.MustCompile(`^\^\\s\*\(([a-z_|]+)\)`)

// The TextMate grammar has the properties of every block and the words of their
// closed sets, and no others.
func TestTextMateHasEveryProperty(t *testing.T) {
	t.Parallel()
	g, c := readGrammar(t), readColouring(t)
	for block, production := range blocks {
		rules := c.Repository[colouredAs[block]+"-property"]
		if rules == nil {
			t.Fatalf("%s has no rule for the properties of %s", colouringFile, block)
		}
		props := propertiesOf(g, production)
		for name, values := range props {
			for _, value := range append([]string{""}, values...) {
				if key, word := rules.property(t, name+": "+value); key != name || word != value {
					t.Errorf("%s: %s is coloured as property %q with word %q", block, name+": "+value, key, word)
				}
			}
			if _, word := rules.property(t, name+": x"+name); word != "" {
				t.Errorf("%s: x%s is coloured as a word of %s", block, name, name)
			}
		}
		for _, rule := range rules.Patterns {
			for _, name := range strings.Split(propertyWords.FindStringSubmatch(rule.Match)[1], "|") {
				if _, ok := props[name]; !ok {
					t.Errorf("%s colours a property %s of %s, which the language does not have", colouringFile, name, block)
				}
			}
		}
	}
}

// property is what the first rule that fits makes of a line.
func (c *colouring) property(t *testing.T, line string) (key, word string) {
	t.Helper()
	for _, rule := range c.Patterns {
		m := regexp.MustCompile(rule.Match).FindStringSubmatch("  " + line)
		if m != nil {
			return m[1], append(m, "", "", "")[4]
		}
	}
	return "", ""
}

var wholeWord = regexp.MustCompile(`^[a-z_]{2,}$`)

// Every other word of the language stands in some rule: declarations, clauses,
// types, the ends.
func TestTextMateHasEveryWord(t *testing.T) {
	t.Parallel()
	var rules strings.Builder
	readColouring(t).walk(func(rule *colouring) { rules.WriteString(rule.Match + "\n" + rule.Begin + "\n") })
	text := regexp.MustCompile(`\\[a-zA-Z]`).ReplaceAllString(rules.String(), " ")
	have := make(map[string]bool)
	for _, word := range regexp.MustCompile(`[A-Za-z_]+`).FindAllString(text, -1) {
		have[word] = true
	}
	words := readGrammar(t).words().literals
	if len(words) < 60 {
		t.Fatalf("the grammar has %d words only; did its form change?", len(words))
	}
	for _, word := range words {
		if wholeWord.MatchString(word) && !have[word] {
			t.Errorf("%s stands in no rule of %s", word, colouringFile)
		}
	}
}

const (
	colouredSample = "editor/testdata/sample.iter"
	colouredTokens = "editor/testdata/sample.tokens"
)

// The tokens of the sample were made from the grammar and the sample as they
// are, by the tokenizer that editors use.
func TestTextMateTokensAreFresh(t *testing.T) {
	t.Parallel()
	sum := func(name string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(readFile(t, name)))) }
	want := fmt.Sprintf("grammar %s\nsample %s\n", sum(colouringFile), sum(colouredSample))
	if got := readFile(t, colouredTokens); !strings.HasPrefix(got, want) {
		t.Errorf("%s is not of this grammar and this sample: run tokens.js beside it, and read what changed", colouredTokens)
	}
}

// colouredToken is a piece of the sample and the innermost thing it was taken for.
type colouredToken struct{ text, scope string }

func readTokens(t *testing.T) []colouredToken {
	t.Helper()
	var tokens []colouredToken
	for _, line := range strings.Split(readFile(t, colouredTokens), "\n") {
		rest, ok := strings.CutPrefix(line, "  ")
		if !ok {
			continue
		}
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			t.Fatalf("%s: %s: %v", filepath.Base(colouredTokens), line, err)
		}
		text, err := strconv.Unquote(quoted)
		if err != nil {
			t.Fatal(err)
		}
		scopes := strings.Fields(rest[len(quoted):])
		tokens = append(tokens, colouredToken{strings.TrimSpace(text), scopes[len(scopes)-1]})
	}
	return tokens
}

// What a person looks for in the sample has the colour that it should have.
func TestTextMateTokens(t *testing.T) {
	t.Parallel()
	tokens := readTokens(t)
	for _, want := range []colouredToken{
		{"agent", "storage.type.declaration.iter"},
		{"reviewer", "entity.name.function.node.iter"},
		{"finding", "entity.name.type.schema.iter"},
		{"model", "variable.other.property.iter"},  // a field
		{"model", "variable.other.readwrite.iter"}, // a variable
		{"model", "support.type.property-name.iter"},
		{"inherit_if_available", "support.constant.iter"},
		{"condition", "support.constant.iter"},
		{"string[]", "support.type.iter"},
		{"1h30m", "constant.numeric.iter"},
		{"-2.5e3", "constant.numeric.iter"},
		{"\\u00e9", "constant.character.escape.iter"},
		{"## this is text", "string.unquoted.prompt.iter"},
		{"# the shell's", "source.shell"},
		{"## a list over two lines", "comment.line.number-sign.iter"},
		{"outputs", "variable.language.root.iter"},
		{"PAWL_MODEL", "variable.other.environment.iter"},
		{"->", "keyword.operator.arrow.iter"},
		{"when", "keyword.control.when.iter"},
		{"again", "entity.name.label.loop.iter"},
		{"done", "constant.language.iter"},
		{"len", "support.function.iter"},
		{"and", "keyword.operator.word.iter"},
	} {
		if !slices.Contains(tokens, want) {
			t.Errorf("%s holds no %q as %s", colouredTokens, want.text, want.scope)
		}
	}
}

var (
	vimList   = regexp.MustCompile(`(?s)let s:(\w+) = join\(\[(.*?)\], `)
	vimQuoted = regexp.MustCompile(`'([a-z_]+)'`)
)

// The Vim syntax has every property and every word of a closed set, and no others.
func TestVimHasEveryWord(t *testing.T) {
	t.Parallel()
	have := make(map[string][]string)
	page := readFile(t, "editor/iter.vim")
	for _, m := range vimList.FindAllStringSubmatch(page, -1) {
		for _, word := range vimQuoted.FindAllStringSubmatch(m[2], -1) {
			have[m[1]] = append(have[m[1]], word[1])
		}
	}
	g, properties, words := readGrammar(t), map[string]bool{"vars": true}, map[string]bool{"null": true, "fail": true, "ask": true, "auto": true, "none": true}
	for _, production := range blocks {
		for name, values := range propertiesOf(g, production) {
			properties[name] = true
			for _, value := range values {
				words[value] = true
			}
		}
	}
	for list, want := range map[string]map[string]bool{"properties": properties, "words": words} {
		for word := range want {
			if !slices.Contains(have[list], word) {
				t.Errorf("s:%s of iter.vim lacks %s", list, word)
			}
		}
		for _, word := range have[list] {
			if !want[word] {
				t.Errorf("s:%s of iter.vim has %s, which the language has not", list, word)
			}
		}
	}
	for _, word := range []string{"agent", "judge", "router", "join", "human", "tool", "compute", "schema", "mcp_server", "workflow", "prompt"} {
		if !regexp.MustCompile(`let s:declarations = .*\b` + word + `\b`).MatchString(page) {
			t.Errorf("s:declarations of iter.vim lacks %s", word)
		}
	}
}

var jsonBlock = regexp.MustCompile("(?s)```json\n(.*?)```")

// What the page on editors shows as JSON is JSON, and so are the files beside it;
// the files that it names are there.
func TestEditorFiles(t *testing.T) {
	t.Parallel()
	page := readFile(t, "editor/README.md")
	texts := []string{readFile(t, "editor/language-configuration.json"), readFile(t, colouringFile)}
	for _, m := range jsonBlock.FindAllStringSubmatch(page, -1) {
		texts = append(texts, m[1])
	}
	if len(texts) < 3 {
		t.Error("editor/README.md shows no JSON")
	}
	for _, text := range texts {
		if !json.Valid([]byte(text)) {
			t.Errorf("this is no JSON:\n%s", text)
		}
	}
	for _, name := range []string{"iter.tmLanguage.json", "language-configuration.json", "iter.vim"} {
		if !strings.Contains(page, name) {
			t.Errorf("editor/README.md does not name %s", name)
		}
	}
}
