package language

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pawl-ci/pawl/runner/lang/diag"
)

func TestCodeOf(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]diag.Code{
		"C001": "C001", "c001": "C001", "c1": "C001", "C19": "C019", "[P100]": "P100", "p100": "P100", "": "", "c": "C", "19": "19", "loop": "LOOP",
	} {
		if got := codeOf(given); got != want {
			t.Errorf("%q is read as %q, want %q", given, got, want)
		}
	}
}

// TestWrapped: no word is lost, and no line is too long that need not be.
func TestWrapped(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOf(rapid.StringMatching(`[a-zä漢]{1,90}`)).Draw(t, "words")
		text := wrapped(strings.Join(words, " "))
		if strings.Join(strings.Fields(text), " ") != strings.Join(words, " ") {
			t.Fatalf("%q became %q", words, text)
		}
		for _, line := range strings.Split(text, "\n") {
			if len([]rune(line)) > lineWidth && strings.Contains(line, " ") {
				t.Fatalf("a line of %d characters: %q", len([]rune(line)), line)
			}
		}
	})
}
