package event_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/pawl-ci/pawl/runner/event"
)

// reads decodes record and requires the first want events of events, no error
// and cut torn bytes.
func reads(t *testing.T, record []byte, want []event.Event, cut int) {
	t.Helper()
	got, gotCut, err := event.ReadAll(bytes.NewReader(record))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) || gotCut != cut {
		t.Fatalf("%d events and %d torn bytes, want %d and %d", len(got), gotCut, len(want), cut)
	}
	if len(want) > 0 && string(encode(t, got)) != string(encode(t, want)) {
		t.Fatal("the events are not those that were written")
	}
}

func TestReadAllEmpty(t *testing.T) {
	t.Parallel()
	reads(t, nil, nil, 0)
}

func TestReadAllCutsATornTailAtEveryByte(t *testing.T) {
	t.Parallel()
	events := visits(12, 40)
	record := encode(t, events)
	for size := range record {
		torn := record[:size]
		whole := bytes.Count(torn, []byte("\n"))
		tail := size - (bytes.LastIndexByte(torn, '\n') + 1)
		reads(t, torn, events[:whole], tail)
		if size%7 == 0 { // blocks that never reached the disk
			reads(t, append(bytes.Clone(torn), make([]byte, 5000)...), events[:whole], tail+5000)
		}
	}
}

func TestReaderSaysWhereAWriterContinues(t *testing.T) {
	t.Parallel()
	events := visits(3, 40)
	record := encode(t, events)
	last := bytes.LastIndexByte(record[:len(record)-1], '\n') + 1
	r := event.NewReader(bytes.NewReader(record[:len(record)-1]), testRun)
	if _, err := r.ReadAll(); err != nil {
		t.Fatal(err)
	}
	if c := r.Chain(); c.Size != int64(last) || c.Seq != event.Seq(len(events)-1) || r.Cut() != len(record)-1-last {
		t.Fatalf("chain %+v, cut %d: want to continue at byte %d", c, r.Cut(), last)
	}
	chain := r.Chain()
	again, err := chain.Append(bytes.Clone(record[:last]), &events[len(events)-1])
	if err != nil || !bytes.Equal(again, record) {
		t.Errorf("the chain was not continued as it was: %v", err)
	}
}

// damaged requires that record breaks at the given line.
func damaged(t *testing.T, record []byte, line int, reason string) {
	t.Helper()
	events, _, err := event.ReadAll(bytes.NewReader(record))
	var d *event.DamagedError
	if !errors.As(err, &d) {
		t.Fatalf("error %v, want damage at line %d", err, line)
	}
	if d.Line != line || d.Seq != event.Seq(line) || len(events) != line-1 || !strings.Contains(d.Reason, reason) {
		t.Fatalf("%d events before %v: want damage at line %d, %q", len(events), d, line, reason)
	}
	want := 0
	for range line - 1 {
		want += bytes.IndexByte(record[want:], '\n') + 1
	}
	if d.Offset != int64(want) {
		t.Fatalf("damage at byte %d, want %d", d.Offset, want)
	}
}

func TestReadAllFindsAFlippedByte(t *testing.T) {
	t.Parallel()
	record := encode(t, visits(3, 20))
	lines := bytes.SplitAfter(record, []byte("\n"))
	const middle = 5
	start := len(bytes.Join(lines[:middle-1], nil))
	for at := start; at < start+len(lines[middle-1]); at++ {
		for _, flip := range []byte{1, 2, 8, 0x20, 0x80, record[at], record[at] ^ '\n'} {
			if flip == 0 {
				continue // the newline itself
			}
			broken := bytes.Clone(record)
			broken[at] ^= flip
			damaged(t, broken, middle, "")
		}
	}
}

func TestReadAllFindsDamage(t *testing.T) {
	t.Parallel()
	lines := bytes.SplitAfter(encode(t, visits(3, 20)), []byte("\n"))
	lines = lines[:len(lines)-1]
	join := func(parts ...[][]byte) []byte { return bytes.Join(bytesOf(parts), nil) }
	last := len(lines)
	wrong := bytes.Clone(lines[last-1])
	wrong[len(wrong)-5] ^= 1
	hole := bytes.Clone(lines[4])
	clear(hole[10:60])
	other := script(opening(), &event.NodeStarted{Visit: 1})
	other[1].Run = "other"
	var chain event.Chain
	mixed, err := chain.Append(nil, &other[0])
	if err != nil {
		t.Fatal(err)
	}
	foreign, _, err := event.Encode(nil, &other[1], chain.Head)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		record []byte
		line   int
		reason string
	}{
		"line missing":                {join(lines[:3], lines[4:]), 4, "number 5, 4 was expected"},
		"first line missing":          {join(lines[1:]), 1, "number 2, 1 was expected"},
		"line twice":                  {join(lines[:4], lines[3:]), 5, "number 4, 5 was expected"},
		"lines swapped":               {join(lines[:3], lines[4:5], lines[3:4], lines[5:]), 4, "number 5, 4 was expected"},
		"line of another record":      {join(lines[:1], [][]byte{mustEncode(t, script(opening(), &event.NodeStarted{Visit: 9}))[1]}, lines[2:]), 3, "does not follow"},
		"blank line":                  {join(lines[:3], [][]byte{[]byte("\n")}, lines[3:]), 4, "not a complete event"},
		"blank line at the end":       {join(lines, [][]byte{[]byte("\n")}), last + 1, "not a complete event"},
		"complete last line is wrong": {join(lines[:last-1], [][]byte{wrong}), last, "hash does not fit"},
		"hole before whole lines":     {join(lines[:4], [][]byte{hole}, lines[5:]), 5, "hash does not fit"},
		"NULs before whole lines":     {join(lines[:4], [][]byte{make([]byte, 99), []byte("\n")}, lines[4:]), 5, "not a complete event"},
		"event of another run":        {append(mixed, foreign...), 2, "belongs to run other"},
		"not a record":                {[]byte("hello\n"), 1, "not a complete event"},
	} {
		t.Run(name, func(t *testing.T) { damaged(t, c.record, c.line, c.reason) })
	}
}

func bytesOf(parts [][][]byte) [][]byte {
	var all [][]byte
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

func mustEncode(t *testing.T, events []event.Event) [][]byte {
	t.Helper()
	return bytes.SplitAfter(encode(t, events), []byte("\n"))
}

func TestReaderRefusesAnotherRun(t *testing.T) {
	t.Parallel()
	r := event.NewReader(bytes.NewReader(encode(t, visits(1, 1))), "wanted")
	events, err := r.ReadAll()
	var d *event.DamagedError
	if !errors.As(err, &d) || len(events) != 0 || !strings.Contains(d.Reason, "not to wanted") {
		t.Errorf("%d events, error %v: want damage", len(events), err)
	}
}

func TestReadAllNewerVersionIsNoDamage(t *testing.T) {
	t.Parallel()
	record := append(encode(t, visits(1, 1)), newerLine(t)...)
	events, _, err := event.ReadAll(bytes.NewReader(record))
	var newer *event.NewerError
	if !errors.As(err, &newer) || len(events) != 4 || !strings.Contains(err.Error(), "line 5") {
		t.Errorf("%d events, error %v: want all before line 5 and a newer version", len(events), err)
	}
}

// TestReadAllLongAndMany mixes lines far longer than a block with many blocks of
// short ones.
func TestReadAllLongAndMany(t *testing.T) {
	t.Parallel()
	events := visits(2000, 50)
	for _, i := range []int{2, 3002} {
		b := *events[i].Body.(*event.NodeFinished)
		b.Output = event.Inline([]byte(fmt.Sprintf("%q", strings.Repeat("long ", 200_000))))
		events[i].Body = &b
	}
	record := encode(t, events)
	reads(t, record, events, 0)
	reads(t, record[:len(record)-1], events[:len(events)-1], len(record)-1-(bytes.LastIndexByte(record[:len(record)-1], '\n')+1))
	broken := bytes.Clone(record)
	broken[len(broken)-700_000] ^= 1
	if _, _, err := event.ReadAll(bytes.NewReader(broken)); err == nil {
		t.Error("damage in a late block was not seen")
	}
}

func TestReadAllDoesNotDependOnReadSizes(t *testing.T) {
	t.Parallel()
	events := visits(20, 30)
	record := encode(t, events)
	for name, r := range map[string]io.Reader{
		"one byte": iotest.OneByteReader(bytes.NewReader(record)),
		"half":     iotest.HalfReader(bytes.NewReader(record)),
		"data+EOF": iotest.DataErrReader(bytes.NewReader(record)),
	} {
		got, cut, err := event.ReadAll(r)
		if err != nil || cut != 0 || len(got) != len(events) {
			t.Errorf("%s: %d events, cut %d, error %v", name, len(got), cut, err)
		}
	}
}

func TestReadAllReportsReadErrors(t *testing.T) {
	t.Parallel()
	record := encode(t, visits(2, 30))
	broken := errors.New("disk on fire")
	events, _, err := event.ReadAll(io.MultiReader(bytes.NewReader(record), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) || len(events) != 7 {
		t.Errorf("%d events, error %v: want all of them and the disk's error", len(events), err)
	}
}

func FuzzReadAll(f *testing.F) {
	events := visits(3, 20)
	record := encode(f, events)
	f.Add(record, 0, []byte(nil))
	f.Add(record, len(record)-10, []byte(nil))
	f.Add(record, 40, []byte("\n"))
	f.Add(record[:700], 300, []byte{0, 0, 0})
	f.Fuzz(func(t *testing.T, record []byte, at int, patch []byte) {
		if at >= 0 && at < len(record) {
			copy(record[at:], patch)
		}
		got, cut, err := event.ReadAll(bytes.NewReader(record))
		if err != nil {
			return
		}
		whole := len(record) - cut
		if whole > 0 && record[whole-1] != '\n' || bytes.IndexByte(record[whole:], '\n') >= 0 {
			t.Fatalf("cut %d of %q: want the bytes behind the last newline", cut, record)
		}
		if lines := bytes.Count(record, []byte("\n")); len(got) != lines {
			t.Fatalf("%d events in %d lines", len(got), lines)
		}
		if again, _, err := event.ReadAll(bytes.NewReader(record[:whole])); err != nil || !reflect.DeepEqual(again, got) {
			t.Fatalf("without its torn tail the record reads differently: %v", err)
		}
	})
}
