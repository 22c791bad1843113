package syntax_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/syntax"
)

// The parser finds its own rules in the register's bad examples, nothing in the
// others, and nothing in any good one.
func TestRegisterExamples(t *testing.T) {
	t.Parallel()
	ours := codesInSource(t)
	for _, rule := range diag.Rules() {
		if strings.HasPrefix(rule.Good, "-- ") {
			continue // several files: about a recipe, not about a workflow
		}
		t.Run(string(rule.Code), func(t *testing.T) {
			t.Parallel()
			if _, list := syntax.Parse(diag.NewFile("good.iter", rule.Good)); len(list) > 0 {
				t.Errorf("the good example is not silent:\n%s", drawn(t, list))
			}
			_, list := syntax.Parse(diag.NewFile("bad.iter", rule.Bad))
			if !ours[rule.Code] {
				if len(list) > 0 {
					t.Errorf("the bad example should parse, a later stage judges it:\n%s", drawn(t, list))
				}
				return
			}
			if len(list) == 0 {
				t.Errorf("the bad example is silent")
			}
			for _, d := range list {
				if d.Code != rule.Code {
					t.Errorf("the bad example triggers %s:\n%s", d.Code, drawn(t, list))
				}
			}
		})
	}
}

// Every code of the parser stands in the register, and every P1 code below P161
// in the register is one of the parser's.
func TestCodes(t *testing.T) {
	t.Parallel()
	ours := codesInSource(t)
	for code := range ours {
		if _, known := diag.Lookup(code); !known {
			t.Errorf("%s is not in the register", code)
		}
	}
	for _, rule := range diag.Rules() {
		if rule.Code >= "P100" && rule.Code < "P161" && !ours[rule.Code] {
			t.Errorf("%s is in the register, and the parser never says it", rule.Code)
		}
	}
}

var codeInSource = regexp.MustCompile(`"([CP]\d{3})"`)

func codesInSource(t *testing.T) map[diag.Code]bool {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, "grammar/tables.go")
	codes := make(map[diag.Code]bool)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range codeInSource.FindAllStringSubmatch(string(text), -1) {
			codes[diag.Code(m[1])] = true
		}
	}
	if len(codes) < 30 {
		t.Fatalf("found %d codes in the source; did the way they are written change?", len(codes))
	}
	return codes
}

func drawn(t *testing.T, list diag.List) string {
	t.Helper()
	var b strings.Builder
	if err := diag.Render(&b, list, false); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
