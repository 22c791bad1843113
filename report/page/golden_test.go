package page_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/report"
	"github.com/pawl-ci/pawl/report/page"
	"github.com/pawl-ci/pawl/report/reporttest"
)

var update = flag.Bool("update", false, "write what is drawn to testdata/golden")

// compare holds got against the golden file of that name.
func compare(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(got, want) {
		return
	}
	gotLines, wantLines := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i, line := range gotLines {
		if i >= len(wantLines) || line != wantLines[i] {
			t.Fatalf("%s differs from line %d on (see -update and git diff): %.300q", file, i+1, line)
		}
	}
	t.Errorf("%s is longer than what is drawn now", file)
}

func markdown(t *testing.T, s report.Summary, o page.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := page.Markdown(&b, s, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for _, h := range reporttest.Histories() {
		t.Run(h.Name, func(t *testing.T) {
			t.Parallel()
			s := h.Summary()
			compare(t, h.Name+".md", []byte(markdown(t, s, page.Options{})))
			var text bytes.Buffer
			if err := page.Text(&text, s, false); err != nil {
				t.Fatal(err)
			}
			compare(t, h.Name+".txt", text.Bytes())
		})
	}
}
