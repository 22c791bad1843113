package diag

import (
	"slices"
	"testing"
)

// TestFamilies: every rule is of a family that has a title, and no family is
// empty.
func TestFamilies(t *testing.T) {
	t.Parallel()
	count := make(map[string]int)
	for _, r := range Rules() {
		count[r.Family]++
	}
	for _, f := range Families() {
		if count[f.Name] == 0 || f.Title == "" {
			t.Errorf("family %s (%q) has %d rules", f.Name, f.Title, count[f.Name])
		}
		delete(count, f.Name)
	}
	for name, n := range count {
		t.Errorf("%d rules are of %s, which is not in the list of families", n, name)
	}
	Families()[0].Title = "changed"
	if slices.ContainsFunc(Families(), func(f Family) bool { return f.Title == "changed" }) {
		t.Error("a caller changes the list for everybody")
	}
}
