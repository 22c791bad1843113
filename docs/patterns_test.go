package docs_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const workflows = "../testdata/workflows"

// Every pattern is validated, is in both lists, and has a scripted model and a run.
func TestPatterns(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(workflows + "/*.iter")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d patterns: %v", len(files), err)
	}
	page, list := readFile(t, "patterns.md"), readFile(t, workflows+"/README.md")
	for _, name := range files {
		text := readFile(t, name)
		if findings := compile(name, text); len(findings) > 0 {
			t.Errorf("%s:\n%s", name, drawn(findings))
		}
		base := filepath.Base(name)
		if !strings.Contains(page, "]("+name+")") || !strings.Contains(list, "]("+base+")") {
			t.Errorf("%s is missing in patterns.md or in %s/README.md", base, workflows)
		}
		for _, other := range []string{".yaml", ".txtar"} {
			readFile(t, strings.TrimSuffix(name, ".iter")+other)
		}
		if !strings.HasPrefix(text, "## Pattern ") {
			t.Errorf("%s does not begin with what it is for", base)
		}
	}
}

// Large files hold no errors; warnings they may have, such as for variables of
// the environment that are not set here.
func TestLargeFiles(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(workflows + "/large/*.iter")
	if err != nil || len(files) < 6 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, name := range files {
		text := readFile(t, name)
		findings := compile(name, text)
		if findings.HasErrors() {
			t.Errorf("%s:\n%s", name, drawn(findings))
		}
		if n := strings.Count(text, "\n"); n < 200 {
			t.Errorf("%s has %d lines: it is no large file", name, n)
		}
	}
}

var link = regexp.MustCompile(`\]\(([^)#\s]+)(?:#([^)]*))?\)`)

// Links between the pages lead somewhere.
func TestLinks(t *testing.T) {
	t.Parallel()
	for _, page := range append(pages(t), workflows+"/README.md", workflows+"/large/README.md") {
		for _, m := range link.FindAllStringSubmatch(readFile(t, page), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			target := filepath.Join(filepath.Dir(page), m[1])
			if found, err := filepath.Glob(target); err != nil || len(found) == 0 {
				t.Errorf("%s links to %s, which is not there", page, m[1])
			}
		}
	}
}
