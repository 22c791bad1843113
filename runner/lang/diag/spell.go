package diag

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// longestWord bounds what is compared: nobody mistypes a name of 100 letters by
// three, and a hostile one should cost nothing.
const longestWord = 100

// Nearest returns the candidate that word is most likely a misspelling of, or
// "". Letters left out, added, changed or swapped with their neighbour count one
// each, and at most a third of the word may be wrong; case does not count. A
// word that only begins a candidate also finds it. Among equals the one of the
// word's own length wins, then the first in the alphabet, whatever the order of
// the candidates.
func Nearest(word string, candidates []string) string {
	if word == "" || len(word) > longestWord {
		return ""
	}
	lower := strings.ToLower(word)
	best, distance := "", 0
	for _, c := range candidates {
		d, near := misspelt(lower, strings.ToLower(c))
		if near && (best == "" || cmp.Or(d-distance, skew(word, c)-skew(word, best), strings.Compare(c, best)) < 0) {
			best, distance = c, d
		}
	}
	return best
}

// skew is by how much two words differ in length.
func skew(a, b string) int { return max(len(a)-len(b), len(b)-len(a)) }

// misspelt is how far candidate is from word, and whether that is near.
func misspelt(word, candidate string) (distance int, near bool) {
	const beginning = 4 // a candidate that only continues comes after real misspellings
	if len(candidate) > longestWord || candidate == "" {
		return 0, false
	}
	limit := min(3, max(len(word), len(candidate))/3)
	if skew(word, candidate) <= limit {
		if d := editDistance(word, candidate); d <= limit {
			return d, true
		}
	}
	return beginning, len(word) >= 3 && strings.HasPrefix(candidate, word)
}

// editDistance counts the insertions, deletions, changes and swaps of neighbours
// that lead from a to b, no byte being touched twice.
func editDistance(a, b string) int {
	before, previous, current := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := 1; i <= len(a); i++ {
		current[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			d := min(previous[j]+1, current[j-1]+1, previous[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, before[j-2]+1)
			}
			current[j] = d
		}
		before, previous, current = previous, current, before
	}
	return previous[len(b)]
}

// mostChoices is how many right answers a hint lists.
const mostChoices = 24

// Suggest is a hint: the nearest spelling of word, if there is one, and the
// sorted set of right answers, cut where it would be too long to read. An empty
// word only lists.
func Suggest(word string, candidates []string) string {
	if len(candidates) == 0 {
		return "there is none to choose from"
	}
	hint := "one of: " + choices(candidates)
	if near := Nearest(word, candidates); near != "" {
		hint = "did you mean " + near + "? " + hint
	}
	return hint
}

func choices(candidates []string) string {
	sorted := slices.Compact(slices.Sorted(slices.Values(candidates)))
	more := len(sorted) - mostChoices
	if more <= 0 {
		return strings.Join(sorted, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(sorted[:mostChoices], ", "), more)
}
