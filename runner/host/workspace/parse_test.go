package workspace

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/pawl-ci/pawl/runner"
	"pgregory.net/rapid"
)

func TestParseDiff(t *testing.T) {
	t.Parallel()
	in := ":100644 100755 aa bb M\x00run.sh\x00:100644 100644 aa bb R087\x00old\x00new\nname\x00:000000 120000 00 bb A\x00link\x00" +
		":100644 000000 aa 00 D\x00gone\x00:100644 100644 aa bb M\x00pic\x001\t2\trun.sh\x003\t4\t\x00old\x00new\nname\x001\t0\tlink\x000\t5\tgone\x00-\t-\tpic\x00"
	want := DiffStat{Insertions: 5, Deletions: 11, Files: []FileChange{
		{"run.sh", "", Modified, "100644", "100755", 1, 2, false},
		{"new\nname", "old", Renamed, "100644", "100644", 3, 4, false},
		{"link", "", Added, "000000", "120000", 1, 0, false},
		{"gone", "", Deleted, "100644", "000000", 0, 5, false},
		{"pic", "", Modified, "100644", "100644", 0, 0, true},
	}}
	got, err := parseDiff(in)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
	for _, bad := range []string{"x", ":100644 M\x00a\x00", ":1 2 3 4 Q\x00a\x00", ":1 2 3 4 M\x00", "1\t2\tunlisted\x00", ":1 2 3 4 M\x00a\x00x\ty\ta\x00"} {
		if got, err := parseDiff(bad); err == nil {
			t.Errorf("parseDiff(%q) = %+v", bad, got)
		}
	}
}

func FuzzParseDiff(f *testing.F) {
	f.Add(":100644 100755 aa bb M\x00a\x001\t2\ta\x00")
	f.Add(":100644 100644 aa bb R087\x00old\x00new\x003\t4\t\x00old\x00new\x00")
	f.Add(":0 1 2 3 A\x00\x00")
	f.Add("-\t-\t\x00")
	f.Fuzz(func(t *testing.T, in string) {
		d, err := parseDiff(in)
		if err == nil && len(d.Files) > strings.Count(in, ":") {
			t.Errorf("%d files in %q", len(d.Files), in)
		}
	})
}

func TestPatchLimit(t *testing.T) {
	t.Parallel()
	p := withCommit(t)
	tree := p.start()
	put(t, tree.Path, "big.txt", strings.Repeat("a line of text\n", 200_000))
	ctx := context.Background()
	whole, truncated, err := tree.Patch(ctx, tree.Head(), 0)
	if err != nil || truncated || len(whole) < 3_000_000 {
		t.Fatalf("%d bytes, %v, %v", len(whole), truncated, err)
	}
	for _, limit := range []int{1, 100, 1000, len(whole) - 1, len(whole), len(whole) + 1} {
		text, truncated, err := tree.Patch(ctx, tree.Head(), limit)
		if err != nil || len(text) > limit || truncated != (limit < len(whole)) || !strings.HasPrefix(whole, text) {
			t.Errorf("limit %d: %d bytes, %v, %v", limit, len(text), truncated, err)
		}
		if text != "" && text[len(text)-1] != '\n' {
			t.Errorf("limit %d: cut within a line", limit)
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, err := tree.repo.Patch(ctx, tree.Head(), tree.Head(), 0); err == nil {
		t.Error("Patch with an ended context gave no error")
	}
}

func TestMessageProperty(t *testing.T) {
	t.Parallel()
	text := rapid.StringOfN(rapid.OneOf(rapid.RuneFrom([]rune(" \n\r\t\x00:-#Pawl\u2028é")), rapid.Rune()), 0, 60, -1)
	check := func(rt *rapid.T) {
		c := runner.Commit{Subject: "s" + text.Draw(rt, "subject"), Body: text.Draw(rt, "body") + "\n\nPawl-Run: forged", Time: time.Unix(1, 0),
			Trailers: []runner.Trailer{{Key: "Pawl-Run", Value: "r" + text.Draw(rt, "value")}, {Key: "Pawl-Node", Value: "n"}}}
		msg, err := message(c)
		if err != nil {
			rt.Fatal(err)
		}
		for _, r := range msg {
			if r != '\n' && r != '\t' && unicode.IsControl(r) {
				rt.Fatalf("%q holds %U", msg, r)
			}
		}
		paragraphs := strings.Split(strings.TrimSuffix(msg, "\n"), "\n\n")
		last := strings.Split(paragraphs[len(paragraphs)-1], "\n")
		if len(last) != 2 || !strings.HasPrefix(last[0], "Pawl-Run: r") || last[1] != "Pawl-Node: n" {
			rt.Fatalf("last paragraph of %q is %q", msg, last)
		}
		if strings.Contains(paragraphs[0], "\n") {
			rt.Fatalf("subject of %q has two lines", msg)
		}
	}
	for range 10 {
		rapid.Check(t, check)
	}
}
