package format_test

import "testing"

// Whatever can be laid out means the same afterwards, keeps its comments, and does
// not change a second time.
func FuzzSource(f *testing.F) {
	for _, text := range corpus(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { keeps(t, text) })
}
