package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/runner/lang/diag"
)

// The skill is installed without the rest of the repository, so it holds copies;
// they are the same files.
func TestSkillHoldsWhatTheRepositoryHolds(t *testing.T) {
	t.Parallel()
	sameFile(t, filepath.Join(skill, "references", grammarFile), grammarFile)
	copies, err := filepath.Glob(skill + "/examples/*.iter")
	if err != nil || len(copies) < 4 {
		t.Fatalf("%d examples: %v", len(copies), err)
	}
	for _, name := range copies {
		sameFile(t, name, filepath.Join("..", "testdata", "workflows", filepath.Base(name)))
		if list := compile(name, readFile(t, name)); len(list) > 0 {
			t.Errorf("%s:\n%s", name, drawn(list))
		}
	}
}

func sameFile(t *testing.T, duplicate, original string) {
	t.Helper()
	text := readFile(t, original)
	if readFile(t, duplicate) == text {
		return
	}
	if *update {
		if err := os.WriteFile(duplicate, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s is not the same as %s: go test ./docs -update", duplicate, original)
}

// SKILL.md begins as the convention wants it, and names only what is there.
func TestSkillCanBeFound(t *testing.T) {
	t.Parallel()
	text := readFile(t, skill+"/SKILL.md")
	head, _, ok := strings.Cut(strings.TrimPrefix(text, "---\n"), "\n---\n")
	if !ok || !strings.HasPrefix(text, "---\n") {
		t.Fatal("SKILL.md has no front matter")
	}
	fields := make(map[string]string)
	for _, line := range strings.Split(head, "\n") {
		key, value, _ := strings.Cut(line, ": ")
		fields[key] = value
	}
	if fields["name"] != filepath.Base(skill) || !regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`).MatchString(fields["name"]) {
		t.Errorf("name is %q, want the folder's", fields["name"])
	}
	if n := len(fields["description"]); n == 0 || n > 1024 {
		t.Errorf("the description has %d characters, want 1 to 1024", n)
	}
	if n := strings.Count(text, "\n"); n > 500 {
		t.Errorf("SKILL.md has %d lines, which is more than an agent should have to read at once", n)
	}
}

// The skill tells every property and every word of every closed set, so that
// nothing else has to be read to write a file.
func TestSkillIsComplete(t *testing.T) {
	t.Parallel()
	g, text := readGrammar(t), readFile(t, skill+"/SKILL.md")
	for block, production := range blocks {
		for name, values := range propertiesOf(g, production) {
			for _, word := range append([]string{name}, values...) {
				if !slices.Contains(otherWords, word) && !regexp.MustCompile(`\b`+word+`\b`).MatchString(text) {
					t.Errorf("SKILL.md does not say %s, which %s has", word, block)
				}
			}
		}
	}
}

// otherWords are understood and not taught: the skill's writers use the first
// word of each pair, and settings of MCP that are rarely written.
var otherWords = []string{
	"delegate", "default_backend", "inherit_if_available", "xhigh", "max", "human", "llm_or_human", "auto",
	"servers", "disable", "inherit", "autoload_project", "false",
}

// The page of diagnostics is made from the register.
func TestSkillDiagnostics(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, rule := range diag.Rules() {
		fmt.Fprintf(&b, "\n## %s %s\n\n%s\n\n```diff\n%s```\n", rule.Code, rule.Title, rule.Why, difference(rule.Bad, rule.Good))
	}
	sameOrUpdate(t, skill+"/references/diagnostics.md", registerPart, b.String()+"\n")
}

// difference shows the lines that only one of two texts has, with one line of
// what they have in common in front.
func difference(before, after string) string {
	a, b := strings.Split(before, "\n"), strings.Split(after, "\n")
	common := make([][]int, len(a)+1) // longest common part of a[i:] and b[j:]
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if common[i][j] = max(common[i+1][j], common[i][j+1]); a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	var out strings.Builder
	context := ""
	line := func(sign, text string) {
		if context != "" {
			out.WriteString("  " + context + "\n")
			context = ""
		}
		out.WriteString(strings.TrimRight(sign+" "+text, " ") + "\n")
	}
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			context = a[i]
			i, j = i+1, j+1
		case i < len(a) && (j == len(b) || common[i+1][j] >= common[i][j+1]):
			line("-", a[i])
			i++
		default:
			line("+", b[j])
			j++
		}
	}
	return out.String()
}
