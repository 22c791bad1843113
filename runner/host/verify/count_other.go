package verify

import (
	"strings"

	"github.com/pawl-ci/pawl/runner/event"
)

var (
	pytestEnd   = pattern(`^(.+) in \d+\.\d+s(?: \([\d:]+\))?$`)
	pytestFail  = pattern(`^(?:FAILED|ERROR) (\S.*?)(?: - .*)?$`)
	pytestWords = map[string]func(*event.Counts, int){"passed": addPassed, "failed": addFailed, "error": addFailed, "errors": addFailed,
		"skipped": addSkipped, "xfailed": addSkipped, "xpassed": addPassed, "deselected": addNone, "warning": addNone, "warnings": addNone,
		"rerun": addNone, "subtests passed": addNone, "subtests failed": addNone}
)

// countPytest reads pytest's last line, with -q or without.
func countPytest(lines []string) *event.Counts {
	var sum *event.Counts
	var failing names
	for _, line := range lines {
		if m := pytestEnd().FindStringSubmatch(strings.Trim(line, "= ")); m != nil {
			if c, ok := tally(strings.Split(m[1], ","), pytestWords); ok {
				sum = add(sum, &c)
			} else if m[1] == "no tests ran" {
				sum = add(sum, &event.Counts{})
			}
		} else if m := pytestFail().FindStringSubmatch(line); m != nil && strings.Contains(m[1], ".py") {
			failing.add(m[1])
		}
	}
	if sum != nil {
		sum.Failing = failing.list
	}
	return sum
}

var (
	unitRan  = pattern(`^Ran (\d+) tests? in [\d.]+s$`)
	unitFail = pattern(`^(?:FAIL|ERROR): (.+)$`)
	unitTest = pattern(`^\S+ \([^()]*\)`)
	unitEnd  = pattern(`^(?:OK|FAILED)(?: \((.*)\))?$`)
)

// countUnittest reads Python's unittest. Failing subtests are counted with their
// test: the number of tests that ran does not know them.
func countUnittest(lines []string) *event.Counts {
	var c event.Counts
	var failing names
	var failures, expected int
	ran := -1
	for _, line := range lines {
		if m := unitFail().FindStringSubmatch(line); m != nil {
			name := m[1]
			if test := unitTest().FindString(name); test != "" {
				name = test // without the values of a subtest
			}
			failing.add(name)
		} else if m := unitRan().FindStringSubmatch(line); m != nil {
			ran = max(ran, 0) + number(m[1])
		} else if m := unitEnd().FindStringSubmatch(line); m != nil && ran >= 0 {
			for _, item := range strings.Split(m[1], ", ") {
				what, n, _ := strings.Cut(item, "=")
				switch what {
				case "skipped":
					c.Skipped += number(n)
				case "failures", "errors":
					failures += number(n)
				case "unexpected successes":
					expected += number(n)
				}
			}
		}
	}
	if ran < 0 {
		return nil
	}
	c.Failing = failing.list
	c.Failed = expected + failures
	if named := len(failing.list); named > 0 && named < failures {
		c.Failed = expected + named
	}
	c.Passed = max(0, ran-c.Failed-c.Skipped)
	return &c
}

var (
	cargoResult = pattern(`^test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored;`)
	cargoFailed = pattern(`^test (.+) \.\.\. FAILED$`)
)

// countCargo adds up the results of all test binaries.
func countCargo(lines []string) *event.Counts {
	var sum *event.Counts
	var failing names
	for _, line := range lines {
		if m := cargoResult().FindStringSubmatch(line); m != nil {
			sum = add(sum, &event.Counts{Passed: number(m[1]), Failed: number(m[2]), Skipped: number(m[3])})
		} else if m := cargoFailed().FindStringSubmatch(line); m != nil {
			failing.add(m[1])
		}
	}
	if sum != nil {
		sum.Failing = failing.list
	}
	return sum
}
