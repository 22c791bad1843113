package sandbox

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestKeeperAgainstTheWholeStream compares a keeper with one that keeps
// everything.
func TestKeeperAgainstTheWholeStream(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 40).Draw(t, "limit")
		notable := func(line []byte) bool { return bytes.HasPrefix(line, []byte("!")) }
		k := newKeeper(limit, notable)
		var whole []byte
		for range rapid.IntRange(0, 12).Draw(t, "writes") {
			p := []byte(rapid.StringOfN(rapid.RuneFrom([]rune("a!\n\r")), 0, 60, -1).Draw(t, "p"))
			k.add(p)
			whole = append(whole, p...)
			clear(p) // the keeper must not have kept it
		}
		o := k.output()
		if o.Total != int64(len(whole)) || o.Missing() < 0 {
			t.Fatalf("total %d, missing %d of %d", o.Total, o.Missing(), len(whole))
		}
		if !bytes.HasPrefix(whole, o.Head) || !bytes.HasSuffix(whole, o.Tail) {
			t.Fatalf("head %q and tail %q of %q", o.Head, o.Tail, whole)
		}
		if len(whole) <= 2*limit && (o.Missing() != 0 || o.String() != string(whole)) {
			t.Fatalf("%q became %q", whole, o.String())
		}
		if len(whole) > 2*limit && (len(o.Head) != limit || len(o.Tail) != limit) {
			t.Fatalf("kept %d and %d, want %d each", len(o.Head), len(o.Tail), limit)
		}
		var want []string
		middle := whole[len(o.Head) : len(whole)-len(o.Tail)]
		for _, line := range strings.SplitAfter(string(middle), "\n") {
			if strings.HasPrefix(line, "!") && strings.HasSuffix(line, "\n") {
				want = append(want, strings.TrimRight(line, "\r\n"))
			}
		}
		if strings.Join(o.Noted, "\n") != strings.Join(want, "\n") {
			t.Fatalf("noted %q, want %q, of %q", o.Noted, want, whole)
		}
	})
}

func TestNotedLinesAreBounded(t *testing.T) {
	t.Parallel()
	k := newKeeper(10, func([]byte) bool { return true })
	k.add([]byte(strings.Repeat("x", 10)))
	long := []byte(strings.Repeat("y", 5000))
	for range 100 {
		k.add(long)
		k.add(long)
		k.add([]byte("\n"))
	}
	k.add([]byte("0123456789"))
	size := 0
	for _, line := range k.output().Noted {
		if len(line) != notedLine {
			t.Fatalf("a line of %d bytes", len(line))
		}
		size += len(line)
	}
	if size < notedBytes/2 || size > notedBytes+notedLine {
		t.Errorf("%d bytes noted", size)
	}
}

func TestOutputSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		o    Output
		want string
	}{
		{Output{}, ""},
		{Output{Head: []byte("ab"), Tail: []byte("cd"), Total: 4}, "abcd"},
		{Output{Head: []byte("a"), Tail: []byte("d"), Total: 4}, "a\n[… 2 bytes left out …]\nd"},
		{Output{Head: []byte("a\n"), Tail: []byte("d"), Total: 9, Noted: []string{"FAIL x", "FAIL y"}},
			"a\n[… 6 bytes left out; lines of note among them:]\nFAIL x\nFAIL y\n[…]\nd"},
	} {
		if got := c.o.String(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func BenchmarkKeeper(b *testing.B) {
	p := bytes.Repeat([]byte("ok  	github.com/pawl-ci/pawl/runner	0.012s	coverage: 80%\n"), 1000)
	b.SetBytes(int64(len(p)))
	k := newKeeper(DefaultCap, nil)
	for b.Loop() {
		k.add(p)
	}
}
