package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/runner/event"
)

// attempt is what a process was told before it ended.
type attempt struct {
	created   bool
	confirmed int // events
	asked     int // events, the last append included
	blobs     []event.Digest
}

// plan is a run of seven events; the third holds its output in a blob, and so
// does the first in part.
func plan() (events []event.Event, blobs map[event.Digest][]byte) {
	events, blobs = story(testRun, 7), make(map[event.Digest][]byte)
	put := func(d event.Digest, content []byte) error { blobs[d] = content; return nil }
	source := events[0].Body.(*event.RunStarted)
	source.Source = event.Inline(json.RawMessage(fmt.Sprintf("%q", strings.Repeat("source ", 1000))))
	events[2].Body = &event.NodeFinished{Visit: 1, Output: event.Inline(json.RawMessage(fmt.Sprintf("%q", strings.Repeat("output ", 1000))))}
	for i := range events {
		if err := events[i].Store(put); err != nil {
			panic(err)
		}
	}
	return events, blobs
}

// payloads are the digests that an event needs.
func payloads(t *testing.T, e event.Event, get func(event.Digest) ([]byte, error)) {
	t.Helper()
	switch b := e.Body.(type) {
	case *event.RunStarted:
		if err := b.Source.Load(get); err != nil {
			t.Errorf("event %d: %v", e.Seq, err)
		}
	case *event.NodeFinished:
		if err := b.Output.Load(get); err != nil {
			t.Errorf("event %d: %v", e.Seq, err)
		}
	}
}

// live plays the plan on d until something fails.
func live(t *testing.T, d disk, dir string) (a attempt) {
	t.Helper()
	r, err := create(d, dir, testRun)
	if err != nil {
		return a
	}
	a.created = true
	defer dies(r)
	carryOn(t, r, &a)
	return a
}

// carryOn plays what is left of the plan: blobs before the batch that needs them.
func carryOn(t *testing.T, r *Run, a *attempt) {
	t.Helper()
	events, blobs := plan()
	batches := [][2]int{{0, 2}, {2, 5}, {5, 6}, {6, 7}}
	for _, b := range batches {
		if b[1] <= a.confirmed {
			continue
		}
		batch := events[max(b[0], a.confirmed):b[1]]
		for _, e := range batch {
			for _, digest := range needs(e) {
				if err := r.Put(digest, blobs[digest]); err != nil {
					return
				}
				a.blobs = append(a.blobs, digest)
			}
		}
		a.asked = b[1]
		if err := r.Append(context.Background(), batch); err != nil {
			if err := r.Append(context.Background(), batch); !errors.Is(err, ErrUnknownState) {
				t.Errorf("append after a failed one: %v, want ErrUnknownState", err)
			}
			return
		}
		a.confirmed = b[1]
	}
}

func needs(e event.Event) []event.Digest {
	var out []event.Digest
	switch b := e.Body.(type) {
	case *event.RunStarted:
		out = append(out, b.Source.Blob)
	case *event.NodeFinished:
		if b.Output.Blob != "" {
			out = append(out, b.Output.Blob)
		}
	}
	return out
}

// dies ends a process without its last words: the system closes its files, and
// its number stays in the lock.
func dies(r *Run) {
	if r.log != nil {
		r.log.(*faultFile).file.Close()
		r.log = nil
	}
	if r.lock != nil {
		r.lock.drop()
		r.lock = nil
	}
}

// survives requires that a new process finds everything that was confirmed,
// nothing that was not asked for, and can carry on to the end.
func survives(t *testing.T, dir string, a attempt) {
	t.Helper()
	events, blobs := plan()
	list, err := List(dir)
	if err != nil {
		t.Fatal(err)
	}
	r, got, _, err := openRun(idleDisk{}, dir, testRun)
	if errors.Is(err, fs.ErrNotExist) && !a.created {
		if len(list) > 0 {
			t.Fatal("a run that was never created is listed")
		}
		r, err = create(idleDisk{}, dir, testRun)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if len(got) < a.confirmed || len(got) > a.asked {
		t.Fatalf("%d events, want %d to %d", len(got), a.confirmed, a.asked)
	}
	if (len(list) == 1) != (len(got) > 0) || len(list) == 1 && list[0].Last.Seq != event.Seq(len(got)) {
		t.Errorf("listed %+v, the record holds %d events", list, len(got))
	}
	same(t, got, events[:len(got)])
	for _, e := range got {
		payloads(t, e, r.Get)
	}
	for _, digest := range a.blobs {
		if content, err := r.Get(digest); err != nil || string(content) != string(blobs[digest]) {
			t.Errorf("blob that was put: %v", err)
		}
	}
	wholeBlobs(t, r.at.blobs)
	again := attempt{confirmed: len(got)}
	carryOn(t, r, &again)
	if again.confirmed != len(events) {
		t.Fatalf("stuck behind event %d", again.confirmed)
	}
	holds(t, dir, testRun, events)
	if err := event.CheckSequence(got); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, ".gitignore")); err != nil || strings.TrimSpace(string(text)) != "*" {
		t.Errorf(".gitignore holds %q, error %v", text, err)
	}
}

// wholeBlobs requires that what lies under a digest's name is all of it.
func wholeBlobs(t *testing.T, dir string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "??", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if content, err := os.ReadFile(path); err != nil || string(event.DigestOf(content)) != filepath.Base(path) {
			t.Errorf("%s holds something else: %v", path, err)
		}
	}
}

// aftermath is what happens between a process's end and the next one that the
// test looks at.
type aftermath int

const (
	nothingLost aftermath = iota
	powerLost
	powerLostLater // first another process carries on to the end
)

func (a aftermath) String() string {
	return [...]string{"nothing lost", "power lost", "carried on, then power lost"}[a]
}

// strike lets the aftermath happen.
func (a aftermath) strike(t *testing.T, d *faultDisk, dir string, did *attempt) {
	t.Helper()
	d.at, d.crashed = 0, false
	if a == nothingLost {
		return
	}
	if a == powerLostLater {
		r, got, _, err := openRun(d, dir, testRun)
		if err == nil {
			did.created, did.confirmed = true, len(got)
			carryOn(t, r, did)
			dies(r)
		}
	}
	if err := d.losePower(); err != nil {
		t.Fatal(err)
	}
}

// eachFault runs play with every fault at every operation, and every aftermath.
func eachFault(t *testing.T, operations int, play func(*testing.T, *faultDisk, aftermath)) {
	t.Helper()
	for at := 1; at <= operations; at++ {
		for _, f := range faults {
			for _, after := range []aftermath{nothingLost, powerLost, powerLostLater} {
				t.Run(fmt.Sprintf("operation %d %s, %s", at, f, after), func(t *testing.T) {
					play(t, &faultDisk{at: at, fault: f}, after)
				})
			}
		}
	}
}

func TestCrashTable(t *testing.T) {
	t.Parallel()
	count := &faultDisk{}
	if a := live(t, count, filepath.Join(t.TempDir(), "store")); a.confirmed != 7 || len(a.blobs) != 2 {
		t.Fatalf("without a fault: %+v", a)
	}
	eachFault(t, count.op, func(t *testing.T, d *faultDisk, after aftermath) {
		dir := filepath.Join(t.TempDir(), "store")
		a := live(t, d, dir)
		if d.op < d.at {
			t.Fatalf("only %d operations", d.op)
		}
		after.strike(t, d, dir, &a)
		survives(t, dir, a)
	})
}

// TestCrashTableOfResume crashes the process that opens a torn record, and goes
// on working in it.
func TestCrashTableOfResume(t *testing.T) {
	t.Parallel()
	torn := func(t *testing.T) (string, attempt) {
		dir := filepath.Join(t.TempDir(), "store")
		d := &faultDisk{at: 1 << 30}
		a := live(t, d, dir)
		path := pathsOf(dir, testRun).log
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, info.Size()-70); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(pathsOf(dir, testRun).blobs, halfPrefix+"1"), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
		a.confirmed--
		return dir, a
	}
	resume := func(t *testing.T, d disk, dir string, a *attempt) {
		r, got, cut, err := openRun(d, dir, testRun)
		if err != nil {
			return
		}
		defer dies(r)
		if len(got) != a.confirmed || cut == 0 {
			t.Fatalf("%d events, cut %d", len(got), cut)
		}
		carryOn(t, r, a)
	}
	dir, a := torn(t)
	count := &faultDisk{}
	if resume(t, count, dir, &a); a.confirmed != 7 {
		t.Fatalf("without a fault: %+v", a)
	}
	eachFault(t, count.op, func(t *testing.T, d *faultDisk, after aftermath) {
		dir, a := torn(t)
		resume(t, d, dir, &a)
		after.strike(t, d, dir, &a)
		survives(t, dir, a)
	})
}

// TestTornAtEveryByte cuts a record at every byte of its last 4 KB, as a crash
// in the middle of an append may, also with blocks behind that were never
// written.
func TestTornAtEveryByte(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	events := story(testRun, 20)
	r := create1(t, dir, testRun)
	add(t, r, events[:4]...)
	confirmed := r.Stats().Bytes
	add(t, r, events[4:]...)
	r.Close()
	path := filepath.Join(r.Dir(), "events.jsonl")
	record, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(record))-confirmed < 4096 {
		t.Fatalf("the last batch has %d bytes, want at least 4 KB", int64(len(record))-confirmed)
	}
	for size := len(record) - 4096; size <= len(record); size++ {
		zeros := size % 3 * 2000
		if err := os.WriteFile(path, append(record[:size:size], make([]byte, zeros)...), 0o600); err != nil {
			t.Fatal(err)
		}
		r, got, cut, err := openRun(idleDisk{}, dir, testRun)
		if err != nil {
			t.Fatalf("cut at byte %d: %v", size, err)
		}
		whole := strings.Count(string(record[:size]), "\n")
		line := size - (strings.LastIndex(string(record[:size]), "\n") + 1)
		if len(got) != whole || whole < 4 || cut != line+zeros {
			t.Fatalf("cut at byte %d: %d events and %d torn bytes, want %d and %d", size, len(got), cut, whole, line+zeros)
		}
		if whole < len(events) {
			add(t, r, events[whole:]...)
		}
		r.Close()
		if again, err := os.ReadFile(path); err != nil || string(again) != string(record) {
			t.Fatalf("cut at byte %d and carried on: the record differs (%v)", size, err)
		}
	}
	holds(t, dir, testRun, events)
}
