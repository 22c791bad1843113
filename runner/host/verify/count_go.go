package verify

import (
	"encoding/json"
	"strings"

	"github.com/pawl-ci/pawl/runner/event"
)

// countGo reads `go test`, with -json, with -v or bare.
func countGo(lines []string) *event.Counts {
	if c := countGoJSON(lines); c != nil {
		return c
	}
	return countGoText(lines)
}

// goEvent is a line of `go test -json`.
type goEvent struct{ Action, Package, Test, ImportPath string }

func countGoJSON(lines []string) *event.Counts {
	var c event.Counts
	var failing names
	known := false
	broken := map[string]bool{} // packages with a failing test
	for _, line := range lines {
		var e goEvent
		if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &e) != nil || e.Action == "" || e.Package == "" {
			continue
		}
		known = true
		switch {
		case e.Test == "" && e.Action == "fail" && !broken[e.Package]:
			// A package that does not build, or ends without saying which test.
			c.Failed++
			failing.add(e.Package)
		case e.Test == "":
		case e.Action == "pass":
			c.Passed++
		case e.Action == "skip":
			c.Skipped++
		case e.Action == "fail":
			c.Failed++
			broken[e.Package] = true
			failing.add(e.Package + "." + e.Test)
		}
	}
	if !known {
		return nil
	}
	c.Failing = failing.leaves()
	return &c
}

var (
	goResult  = pattern(`^\s*--- (PASS|FAIL|SKIP): (\S+)(?: \([\d.]+s\))?$`)
	goPackage = pattern(`^(ok  |FAIL|\?   )\t(\S+)(?:[ \t](.*))?$`)
)

// goText is what the lines of `go test` without -json add up to.
type goText struct {
	tests, packages event.Counts
	verbose, known  bool
	failing         names
	fresh           bool // a test failed since the last package line
}

func countGoText(lines []string) *event.Counts {
	var g goText
	for _, line := range lines {
		if m := goResult().FindStringSubmatch(line); m != nil {
			g.result(m[1], m[2])
		} else if m := goPackage().FindStringSubmatch(line); m != nil {
			g.pkg(m[1], m[2], m[3])
		}
	}
	if !g.known {
		return nil
	}
	c := g.packages
	c.Unit = "package" // without -v, go test does not say how many tests passed
	if g.verbose {
		c = g.tests
	}
	c.Failing = g.failing.leaves()
	return &c
}

func (g *goText) result(kind, name string) {
	switch kind {
	case "PASS":
		g.tests.Passed++
		g.verbose = true
	case "SKIP":
		g.tests.Skipped++
		g.verbose = true
	case "FAIL":
		g.tests.Failed++
		g.fresh = true
		g.failing.add(name)
	}
}

func (g *goText) pkg(kind, name, rest string) {
	g.known = true
	switch {
	case kind == "ok  " && !strings.Contains(rest, "[no tests to run]"):
		g.packages.Passed++
	case kind == "FAIL":
		g.packages.Failed++
		if !g.fresh { // it does not build, or ended without saying which test
			g.tests.Failed++
			g.failing.add(strings.TrimSpace(name + " " + bracketed(rest)))
		}
		g.fresh = false
	}
}

// bracketed keeps "[build failed]" and drops a duration.
func bracketed(s string) string {
	if strings.HasPrefix(s, "[") {
		return s
	}
	return ""
}
