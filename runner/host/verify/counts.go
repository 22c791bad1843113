package verify

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-ci/pawl/runner/event"
)

// A reader finds the counts of one kind of test runner in output; nil when the
// output is not of that kind.
type reader func(lines []string) *event.Counts

// readers by the name of a command; any other command may have run anything.
var readers = map[string][]reader{
	"go":     {countGo},
	"cargo":  {countCargo},
	"python": {countPytest, countUnittest},
	"npm":    nodeReaders, "pnpm": nodeReaders, "yarn": nodeReaders, "bun": nodeReaders, "node": nodeReaders, "npx": nodeReaders,
}

var (
	nodeReaders = []reader{countTAP, countNodeSpec, countJest, countVitest, countMocha}
	allReaders  = append([]reader{countGo, countCargo, countPytest, countUnittest}, nodeReaders...)
)

const maxFailing = 20 // names kept of failing tests

// countTests reads the output of the command called name. The result is nil when
// no known test runner's summary is in it.
//
// `go test` without -v does not say how many tests passed: then packages are
// counted, and Failing still names tests.
func countTests(name, output string) *event.Counts {
	kinds, known := readers[name]
	if !known {
		kinds = allReaders
	}
	lines := strings.Split(plainText(output), "\n")
	var sum *event.Counts
	for _, read := range kinds {
		sum = add(sum, read(lines))
	}
	if sum != nil && len(sum.Failing) > maxFailing {
		sum.Failing = sum.Failing[:maxFailing]
	}
	return sum
}

// add sums two counts; nil is nothing known.
func add(a, b *event.Counts) *event.Counts {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	return &event.Counts{Passed: a.Passed + b.Passed, Failed: a.Failed + b.Failed, Skipped: a.Skipped + b.Skipped,
		Failing: append(slices.Clip(a.Failing), b.Failing...)}
}

// escapes are colours and cursor movements, and hyperlinks.
var escapes = pattern("\x1b(\\[[0-9;?]*[ -/]*[@-~]|\\][^\x07\x1b]*(\x07|\x1b\\\\)|[@-Z\\\\-_])")

// plainText is output without escapes and carriage returns, in valid UTF-8.
func plainText(output string) string {
	output = escapes().ReplaceAllString(strings.ToValidUTF8(output, "\uFFFD"), "")
	output = strings.ReplaceAll(output, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, output)
}

// number reads digits; what does not fit counts as 0.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > 1e9 {
		return 0
	}
	return n
}

const longestName = 200 // bytes

// names collects the names of failing tests, each once.
type names struct{ list []string }

func (n *names) add(name string) {
	name = strings.TrimSpace(name)
	if len(name) > longestName {
		name = strings.ToValidUTF8(name[:longestName], "") + "…"
	}
	if name != "" && !slices.Contains(n.list, name) && len(n.list) < maxFailing*4 {
		n.list = append(n.list, name)
	}
}

// leaves drops the names of tests whose subtests are in the list as well.
func (n *names) leaves() []string {
	return slices.DeleteFunc(n.list, func(parent string) bool {
		return slices.ContainsFunc(n.list, func(name string) bool { return strings.HasPrefix(name, parent+"/") })
	})
}

// tally adds up "<number> <word>" pairs by the meaning of their words. ok is
// false when an item is not of that form or its word is unknown.
func tally(items []string, words map[string]func(*event.Counts, int)) (c event.Counts, ok bool) {
	for _, item := range items {
		digits, word, _ := strings.Cut(strings.TrimSpace(item), " ")
		put, known := words[word]
		if _, err := strconv.Atoi(digits); err != nil || !known {
			return event.Counts{}, false
		}
		put(&c, number(digits))
	}
	return c, len(items) > 0
}

func addPassed(c *event.Counts, n int)  { c.Passed += n }
func addFailed(c *event.Counts, n int)  { c.Failed += n }
func addSkipped(c *event.Counts, n int) { c.Skipped += n }
func addNone(_ *event.Counts, _ int)    {}
