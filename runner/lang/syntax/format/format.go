package format

import (
	"slices"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/syntax"
)

// comparing are the errors of files whose form is right all the same: they speak
// of what is missing, what is there twice, and what does not go together.
var comparing = []diag.Code{"C006", "C007", "C023", "C024", "C025", "P121", "P122", "P124", "P125", "P128", "P129", "P145"}

// Source lays a file out. Where its form is wrong it returns the errors of form,
// sorted, and no text: nobody knows what was meant. Its cost grows with the length
// of the file and with nothing else.
func Source(f *diag.File) (text string, wrong diag.List) {
	_, found := syntax.Parse(f)
	for _, d := range found {
		if d.Severity == diag.Error && !slices.Contains(comparing, d.Code) {
			wrong = append(wrong, d)
		}
	}
	if len(wrong) > 0 {
		return "", wrong
	}
	return write(read(f.Text), len(f.Text)), nil
}
