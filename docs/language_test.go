package docs_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/runner/host/agent"
	"github.com/pawl-ci/pawl/runner/host/tool"
	"github.com/pawl-ci/pawl/runner/lang/check"
	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/front"
)

var update = flag.Bool("update", false, "write the lists in the pages anew that are made from the register")

// skill is the folder of the agent skill.
const skill = "../.agents/skills/pawl-iter"

// pages are the pages whose examples are run.
func pages(t *testing.T) []string {
	t.Helper()
	list := []string{"../README.md"}
	for _, pattern := range []string{"*.md", skill + "/*.md", skill + "/references/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d pages, %v", pattern, len(found), err)
		}
		list = append(list, found...)
	}
	return list
}

// compile does what pawl validate does.
func compile(name, text string) diag.List {
	w, list := front.Load(diag.NewFile(name, text), front.Options{})
	if w != nil && !list.HasErrors() {
		list = append(list, check.Run(w, check.Options{
			Writes: tool.Writes,
			Tools:  tool.Canonical, ToolNames: slices.Sorted(slices.Values(tool.Names())), Backends: agent.Names(), Prices: budget.Prices(),
		})...)
	}
	list.Sort()
	return list
}

// example is a code block of a page.
type example struct {
	page string
	line int
	info string // behind iter: "", "fragment", "error C019"
	text string
}

func (e example) String() string { return fmt.Sprintf("%s:%d", filepath.Base(e.page), e.line) }

var fence = regexp.MustCompile("(?ms)^```iter[ ]*([^\n]*)\n(.*?)^```$")

func examples(t *testing.T, page string) []example {
	t.Helper()
	text := readFile(t, page)
	var all []example
	for _, m := range fence.FindAllStringSubmatchIndex(text, -1) {
		info := text[m[2]:m[3]]
		if strings.HasSuffix(info, ".iter") {
			continue // a file that the page's own test runs
		}
		all = append(all, example{page, 1 + strings.Count(text[:m[0]], "\n"), info, text[m[4]:m[5]]})
	}
	return all
}

// Every example does what its page says: a file is right, a fragment is right
// when what it leaves out is added, and what is said to be wrong is wrong in that
// way, on that line, and in no other.
func TestExamples(t *testing.T) {
	t.Parallel()
	count := 0
	for _, page := range pages(t) {
		for _, e := range examples(t, page) {
			count++
			kind, code, _ := strings.Cut(e.info, " ")
			if strings.HasSuffix(kind, ".iter") {
				kind = "" // a whole file, with the name that the page gives it
			}
			switch kind {
			case "":
				if list := compile(e.String(), e.text); len(list) > 0 {
					t.Errorf("%s:\n%s", e, drawn(list))
				}
			case "fragment":
				if list := fragment(e); len(list) > 0 {
					t.Errorf("%s:\n%s", e, drawn(list))
				}
			case "error", "warning":
				finding(t, e, kind, diag.Code(code))
			default:
				t.Errorf("%s: a block is iter, iter fragment, iter error CODE or iter warning CODE, not %s", e, e.info)
			}
		}
	}
	if count < 25 {
		t.Errorf("only %d examples were found", count)
	}
}

// finding demands one diagnostic, on the line that names its code in a comment.
func finding(t *testing.T, e example, severity string, code diag.Code) {
	t.Helper()
	list := compile(e.String(), e.text)
	if len(list) != 1 || list[0].Code != code || list[0].Severity.String() != severity {
		t.Errorf("%s: want one %s %s, got:\n%s", e, severity, code, drawn(list))
		return
	}
	lines := strings.Split(e.text, "\n")
	if at := list[0].Span.Position().Line; !strings.HasSuffix(lines[at-1], "## "+string(code)) {
		t.Errorf("%s: %s stands on line %d, which is not the one that is marked:\n%s", e, code, at, drawn(list))
	}
}

// fragment compiles a part of a file. What it refers to and does not declare is
// added, and a workflow that leads through its nodes.
func fragment(e example) diag.List {
	text := e.text
	var list diag.List
	for range 20 {
		whole := text
		if !strings.Contains(whole, "\nworkflow ") {
			whole = withWorkflow(text)
		}
		list = slices.DeleteFunc(compile(e.String(), whole), unavoidable)
		added := missing(list)
		if added == "" {
			return list
		}
		text = added + text
	}
	return list
}

// unavoidable is what a fragment cannot help.
func unavoidable(d diag.Diagnostic) bool { return d.Code == "P161" || d.Code == "P172" }

var (
	declared = regexp.MustCompile(`(?m)^(agent|judge|human|tool|compute) ([a-z_]+):`)
	absent   = regexp.MustCompile(`there is no (schema|prompt) ([a-z_]+)`)
)

func withWorkflow(text string) string {
	var b strings.Builder
	b.WriteString(text + "\nworkflow fragment:\n")
	nodes := declared.FindAllStringSubmatch(text, -1)
	if len(nodes) == 0 {
		return "tool nothing:\n  command: \"true\"\n  readonly: true\n\n" + b.String() + "  entry: nothing\n  nothing -> done\n"
	}
	fmt.Fprintf(&b, "  entry: %s\n", nodes[0][2])
	for i, n := range nodes {
		to := "done"
		if i+1 < len(nodes) {
			to = nodes[i+1][2]
		}
		fmt.Fprintf(&b, "  %s -> %s\n", n[2], to)
	}
	return b.String()
}

func missing(list diag.List) string {
	for _, d := range list {
		if m := absent.FindStringSubmatch(d.Message); m != nil && m[1] == "schema" {
			return "schema " + m[2] + ":\n  field?: string\n\n"
		} else if m != nil {
			return "prompt " + m[2] + ":\n  Text.\n\n"
		}
	}
	return ""
}

var registerPart = regexp.MustCompile(`(?s)(<!-- register:[^\n]*-->\n).*?(<!-- end of register -->)`)

// The lists of diagnostics say what the register says.
func TestDiagnosticsInThePages(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	table.WriteString("| code | what it is about |\n| --- | --- |\n")
	for _, rule := range diag.Rules() {
		fmt.Fprintf(&table, "| %s | %s |\n", rule.Code, rule.Title)
	}
	sameOrUpdate(t, "language.md", registerPart, table.String())
}

// sameOrUpdate compares the part of a page that is made with what it should be.
func sameOrUpdate(t *testing.T, page string, part *regexp.Regexp, want string) {
	t.Helper()
	text := readFile(t, page)
	if !part.MatchString(text) {
		t.Fatalf("%s has no part %s", page, part)
	}
	made := part.ReplaceAllStringFunc(text, func(old string) string {
		m := part.FindStringSubmatch(old)
		return m[1] + want + m[2]
	})
	if made == text {
		return
	}
	if *update {
		if err := os.WriteFile(page, []byte(made), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s is not up to date: go test ./docs -update", page)
}
