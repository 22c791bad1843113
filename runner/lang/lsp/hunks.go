package lsp

import "strings"

// hunk puts text in the place of the bytes [start, end).
type hunk struct {
	start, end int
	text       string
}

// lookahead is how many lines further on two texts are compared to find where
// they agree again.
const lookahead = 64

// hunks are changes, in order, that make one text of another. Lines that both
// have stay untouched, so that a cursor in them stays where it is.
func hunks(before, after string) []hunk {
	a, b := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	var list []hunk
	at := 0
	for len(a) > 0 || len(b) > 0 {
		if len(a) > 0 && len(b) > 0 && a[0] == b[0] {
			at += len(a[0])
			a, b = a[1:], b[1:]
			continue
		}
		i, j := agree(a, b)
		h := hunk{start: at, end: at + size(a[:i]), text: strings.Join(b[:j], "")}
		if h.end > h.start || h.text != "" {
			list = append(list, h)
		}
		at = h.end
		a, b = a[i:], b[j:]
	}
	return list
}

// agree finds the nearest lines a[i] and b[j] that are the same, from the front;
// everything when there is none near.
func agree(a, b []string) (i, j int) {
	for sum := 1; sum <= 2*lookahead; sum++ {
		for i := max(0, sum-len(b)+1); i <= sum && i < len(a); i++ {
			if j := sum - i; j < len(b) && a[i] == b[j] && strings.TrimSpace(a[i]) != "" {
				return i, j
			}
		}
	}
	return len(a), len(b)
}

func size(lines []string) int {
	n := 0
	for _, line := range lines {
		n += len(line)
	}
	return n
}
