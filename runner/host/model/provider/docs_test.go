package provider_test

import (
	"os"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/runner/host/model/provider"
)

// docs/models.md lists every provider with its variables.
func TestThePageListsTheProviders(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../../docs/models.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		rows++
		cells := strings.Split(line, "|")
		p, known := provider.ByName(strings.Trim(cells[1], " `"))
		if !known {
			t.Errorf("the page has %s, the table has not", cells[1])
			continue
		}
		for _, key := range p.Keys {
			if !strings.Contains(cells[2], "`"+key+"`") {
				t.Errorf("%s: the page lacks %s", p.Name, key)
			}
		}
		if !strings.Contains(cells[3], p.Bases[0]) && !strings.Contains(cells[3], p.Bases[len(p.Bases)-1]) {
			t.Errorf("%s: the page lacks %v", p.Name, p.Bases)
		}
	}
	if rows != len(provider.All()) {
		t.Errorf("the page lists %d providers, the table %d", rows, len(provider.All()))
	}
}
