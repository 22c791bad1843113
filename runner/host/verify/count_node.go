package verify

import (
	"strings"

	"github.com/pawl-ci/pawl/runner/event"
)

var (
	tapPoint  = pattern(`^(\s*)(not )?ok\b(?: \d+)?(?: -)? ?(.*)$`)
	tapPlan   = pattern(`^1\.\.\d+`)
	tapFooter = pattern(`^# (pass|fail|cancelled|skipped|todo|skip) +(\d+)$`)
)

// countTAP reads the Test Anything Protocol. The summary of node and others at
// its end counts subtests; without one, the points of the outermost level count.
func countTAP(lines []string) *event.Counts {
	var footer, points event.Counts
	var failing names
	planned, summed, held := false, false, ""
	for _, line := range lines {
		switch m := tapPoint().FindStringSubmatch(line); {
		case tapPlan().MatchString(line) || strings.HasPrefix(line, "TAP version "):
			planned = true
		case strings.HasPrefix(line, "Bail out!"):
			points.Failed++
		case strings.Contains(line, "failureType: 'subtestsFailed'"):
			held = "" // the subtests have been named
		case m != nil:
			failing.add(held)
			held = point(&points, m[1] == "", m[2] != "", m[3])
		default:
			if m := tapFooter().FindStringSubmatch(line); m != nil {
				summed = true
				footerLine(&footer, m[1], number(m[2]))
			}
		}
	}
	failing.add(held)
	switch {
	case !planned:
		return nil
	case summed:
		points = footer
	}
	points.Failing = failing.list
	return &points
}

// point counts a test point when it is on the outermost level, and returns its
// name when it failed.
func point(c *event.Counts, outer, failed bool, rest string) (failing string) {
	name, directive := " "+rest, ""
	if i := strings.LastIndex(name, " # "); i >= 0 {
		name, directive = name[:i], strings.ToUpper(name[i+3:])
	}
	todo := strings.HasPrefix(directive, "TODO") || strings.HasPrefix(directive, "SKIP")
	switch {
	case outer && todo:
		c.Skipped++
	case outer && failed:
		c.Failed++
	case outer:
		c.Passed++
	}
	if failed && !todo {
		return strings.ReplaceAll(name, `\#`, "#")
	}
	return ""
}

func footerLine(c *event.Counts, word string, n int) {
	switch word {
	case "pass":
		c.Passed += n
	case "fail", "cancelled":
		c.Failed += n
	default:
		c.Skipped += n
	}
}

var (
	specFooter = pattern(`^ℹ (pass|fail|cancelled|skipped|todo) (\d+)$`)
	specFailed = pattern(`^✖ (.+) \([\d.]+ms\)$`)
)

// countNodeSpec reads node's reporter for terminals.
func countNodeSpec(lines []string) *event.Counts {
	var c event.Counts
	var failing names
	known, list := false, false
	for _, line := range lines {
		if m := specFooter().FindStringSubmatch(line); m != nil {
			known = true
			footerLine(&c, m[1], number(m[2]))
		}
		if strings.HasPrefix(line, "✖ failing tests:") {
			list = true
		} else if m := specFailed().FindStringSubmatch(line); list && m != nil {
			failing.add(m[1])
		}
	}
	if !known {
		return nil
	}
	c.Failing = failing.list
	return &c
}

var jestWords = map[string]func(*event.Counts, int){"passed": addPassed, "failed": addFailed, "skipped": addSkipped, "todo": addSkipped, "pending": addSkipped, "total": addNone}

// countJest reads jest's summary: "Tests:  1 failed, 2 passed, 3 total".
func countJest(lines []string) *event.Counts {
	var sum *event.Counts
	var failing names
	for _, line := range lines {
		if rest, ok := strings.CutPrefix(line, "Tests:"); ok {
			if c, ok := tally(strings.Split(rest, ","), jestWords); ok {
				sum = add(sum, &c)
			}
		} else if strings.HasPrefix(line, "No tests found, exiting with code ") {
			sum = add(sum, &event.Counts{})
		} else if name, ok := strings.CutPrefix(strings.TrimSpace(line), "● "); ok && name != "Console" {
			failing.add(name)
		}
	}
	if sum != nil && sum.Failed > 0 {
		sum.Failing = failing.list
	}
	return sum
}

var vitestSummary = pattern(`^\s*Tests\s+(.+?)(?: \(\d+\))?$`)

// countVitest reads vitest's summary: "Tests  1 failed | 2 passed (3)".
func countVitest(lines []string) *event.Counts {
	var sum *event.Counts
	var failing names
	for _, line := range lines {
		if m := vitestSummary().FindStringSubmatch(line); m != nil {
			if c, ok := tally(strings.Split(m[1], "|"), jestWords); ok {
				sum = add(sum, &c)
			} else if m[1] == "no tests" {
				sum = add(sum, &event.Counts{})
			}
		} else if strings.HasPrefix(line, "No test files found, exiting with code ") {
			sum = add(sum, &event.Counts{})
		} else if name, ok := strings.CutPrefix(strings.TrimSpace(line), "FAIL "); ok && strings.Contains(name, " > ") {
			failing.add(name)
		}
	}
	if sum != nil && sum.Failed > 0 {
		sum.Failing = failing.list
	}
	return sum
}

var (
	mochaSummary = pattern(`^\s+(\d+) (passing|failing|pending)(?: \(\d+\w+\))?$`)
	mochaTitle   = pattern(`^\s+\d+\) (.+)$`)
)

// countMocha reads mocha's summary; behind "N failing" the titles of a failed
// test stand one below the other, the last one with a colon.
func countMocha(lines []string) *event.Counts {
	var c event.Counts
	var failing names
	known, list, title := false, false, ""
	for _, line := range lines {
		m := mochaSummary().FindStringSubmatch(line)
		t := mochaTitle().FindStringSubmatch(line)
		switch {
		case m != nil:
			known, list = true, m[2] == "failing"
			mochaWords[m[2]](&c, number(m[1]))
		case list && t != nil:
			title = t[1]
		case title != "" && len(title) < longestName && strings.TrimSpace(line) != "":
			title += " › " + strings.TrimSpace(line)
		}
		if whole, ok := strings.CutSuffix(title, ":"); ok {
			failing.add(whole)
			title = ""
		}
	}
	if !known {
		return nil
	}
	c.Failing = failing.list
	return &c
}

var mochaWords = map[string]func(*event.Counts, int){"passing": addPassed, "failing": addFailed, "pending": addSkipped}
