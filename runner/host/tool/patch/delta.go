package patch

import "strings"

// Lines counts lines, the last of which may have no end.
func Lines(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

// mostCompared bounds the table of an exact comparison.
const mostCompared = 4 << 20

// Delta counts the lines that are new and those that are gone: exactly, or from
// the first to the last difference where that would take too long.
func Delta(old, new string) (added, removed int) {
	a, b := strings.SplitAfter(old, "\n"), strings.SplitAfter(new, "\n")
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	same := 0
	if len(a)*len(b) <= mostCompared {
		same = common(a, b)
	}
	return Lines(strings.Join(b, "")) - same, Lines(strings.Join(a, "")) - same
}

// common is the length of the longest common subsequence.
func common(a, b []string) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		diagonal := 0
		for j, y := range b {
			above := row[j+1]
			if x == y && x != "" {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	return row[len(b)]
}
