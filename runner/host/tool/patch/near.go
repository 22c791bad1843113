package patch

import (
	"fmt"
	"slices"
	"strings"
)

const (
	nearLines   = 50_000  // of a file that are compared
	nearShown   = 12      // lines of a stretch that are shown
	nearBytes   = 2 << 10 // of all that is shown
	nearEnough  = 0.5     // likeness from which a line is worth showing
	nearestMost = 3       // lines that are shown where no stretch is alike
)

// nearest says what in content comes closest to wanted, which is not in it.
func nearest(content, wanted string) string {
	lines := strings.Split(content, "\n")
	lines = lines[:min(len(lines), nearLines)]
	for i, l := range lines {
		lines[i] = strings.TrimSuffix(l, "\r")
	}
	want := strings.Split(strings.Trim(wanted, "\n"), "\n")
	at, same := stretch(lines, want)
	switch {
	case same == len(want):
		return fmt.Sprintf("; lines %d–%d differ from it only in white space:\n%s", at+1, at+len(want), numbered(lines, at, len(want)))
	case at >= 0 && len(want) > 1:
		return fmt.Sprintf("; lines %d–%d come closest, %s:\n%s", at+1, min(at+len(want), len(lines)),
			firstDifference(lines, want, at), numbered(lines, at, len(want)))
	}
	alike := alikeLines(lines, want)
	if len(alike) == 0 {
		return ", nor anything like it"
	}
	var b strings.Builder
	for _, i := range alike {
		b.WriteString(numbered(lines, i, 1))
	}
	return "; these lines come closest:\n" + strings.TrimSuffix(b.String(), "\n")
}

// stretch finds where most lines of want stand, white space aside. Lines without
// a letter or digit count only when all others agree.
func stretch(lines, want []string) (at, same int) {
	trimmed := make([]string, len(want))
	telling := 0
	for i, l := range want {
		trimmed[i] = squeezed(l)
		if tells(trimmed[i]) {
			telling++
		}
	}
	squeeze := make([]string, len(lines))
	for i, l := range lines {
		squeeze[i] = squeezed(l)
	}
	at, best := -1, 0
	for i := range lines {
		n, all := 0, 0
		for j, w := range trimmed {
			if i+j < len(squeeze) && squeeze[i+j] == w {
				all++
				if tells(w) {
					n++
				}
			}
		}
		if all == len(want) {
			return i, all
		}
		if n > best {
			at, best, same = i, n, all
		}
	}
	if best*3 < telling {
		return -1, 0
	}
	return at, same
}

func squeezed(line string) string { return strings.Join(strings.Fields(line), " ") }

func tells(line string) bool {
	return strings.ContainsFunc(line, func(r rune) bool {
		return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r > 0x7f
	})
}

// firstDifference says where the stretch of lines first differs from want.
func firstDifference(lines, want []string, at int) string {
	for j, w := range want {
		switch {
		case at+j >= len(lines):
			return fmt.Sprintf("but the file ends after line %d", len(lines))
		case squeezed(lines[at+j]) != squeezed(w):
			return fmt.Sprintf("but line %d is not %q", at+j+1, cut(w, 160))
		}
	}
	return ""
}

// alikeLines are the lines most like the first telling line of want.
func alikeLines(lines, want []string) []int {
	i := slices.IndexFunc(want, tells)
	if i < 0 {
		return nil
	}
	pairs := bigrams(squeezed(want[i]))
	var found []int
	score := map[int]float64{}
	for n, l := range lines {
		if s := likeness(pairs, bigrams(squeezed(cut(l, 400)))); s >= nearEnough {
			found, score[n] = append(found, n), s
		}
	}
	slices.SortStableFunc(found, func(a, b int) int {
		if score[a] > score[b] {
			return -1
		} else if score[a] < score[b] {
			return 1
		}
		return 0
	})
	return found[:min(len(found), nearestMost)]
}

// bigrams counts the pairs of neighbouring bytes.
func bigrams(s string) map[[2]byte]int {
	pairs := map[[2]byte]int{}
	for i := 1; i < len(s); i++ {
		pairs[[2]byte{s[i-1], s[i]}]++
	}
	return pairs
}

// likeness is twice the number of shared pairs over the number of all pairs.
func likeness(a, b map[[2]byte]int) float64 {
	shared, all := 0, 0
	for pair, n := range a {
		shared += min(n, b[pair])
		all += n
	}
	for _, n := range b {
		all += n
	}
	if all == 0 {
		return 0
	}
	return 2 * float64(shared) / float64(all)
}

// numbered shows count lines from at on, each with its number.
func numbered(lines []string, at, count int) string {
	var b strings.Builder
	for i := at; i < min(at+count, len(lines)); i++ {
		if i-at == nearShown || b.Len() > nearBytes {
			b.WriteString("…\n")
			break
		}
		fmt.Fprintf(&b, "%d: %s\n", i+1, cut(lines[i], 400))
	}
	return b.String()
}
