package docs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/syntax/format"
)

// What people copy is laid out as pawl fmt would: the patterns, and the whole
// files among the examples. -update lays them out.
func TestWhatIsCopiedIsLaidOut(t *testing.T) {
	t.Parallel()
	patterns, err := filepath.Glob(workflows + "/*.iter")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range patterns {
		text := readFile(t, name)
		laidOut(t, name, text, text)
	}
	for _, page := range pages(t) {
		for _, e := range examples(t, page) {
			if e.info == "" {
				laidOut(t, page, readFile(t, page), e.text)
			}
		}
	}
}

// laidOut compares a part of a file with its canonical layout.
func laidOut(t *testing.T, name, whole, part string) {
	t.Helper()
	want, wrong := format.Source(diag.NewFile(name, part))
	if len(wrong) > 0 || want == part {
		return // what is wrong is for other tests to say
	}
	if *update {
		if err := os.WriteFile(name, []byte(strings.Replace(whole, part, want, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s is not laid out as pawl fmt would:\n%s\nwant\n%s", name, part, want)
}

// A random sentence that is laid out is a sentence of the grammar, and laying it
// out again changes nothing.
func TestLaidOutSentencesAreRecognised(t *testing.T) {
	t.Parallel()
	g := readGrammar(t)
	r := g.recogniser()
	count := 0
	for seed := range sentences() / 4 {
		want, wrong := format.Source(diag.NewFile("random.iter", g.file(seed)))
		if len(wrong) > 0 {
			continue
		}
		count++
		if got, wrong := format.Source(diag.NewFile("random.iter", want)); len(wrong) > 0 || got != want {
			t.Fatalf("sentence %d is laid out twice in two ways:\n%s\n%s\n%s", seed, want, got, drawn(wrong))
		}
		if err := accept(r, want); err != nil {
			t.Fatalf("sentence %d: %v\n%s", seed, err, want)
		}
	}
	if count < 30 {
		t.Errorf("only %d sentences could be laid out", count)
	}
}
