package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/runner/event"
)

func TestCreateAppendOpenAgain(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "deep", "store")
	events := story(testRun, 12)
	r, err := Create(dir, testRun)
	if err != nil {
		t.Fatal(err)
	}
	before := r.Stats()
	add(t, r, events[0])
	add(t, r, events[1:8]...)
	add(t, r)
	holds(t, dir, testRun, events[:8])
	stats := r.Stats()
	info, err := os.Stat(filepath.Join(r.Dir(), "events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	want := Stats{Appends: 2, Events: 8, Bytes: info.Size(), Syncs: before.Syncs + 2}
	if stats != want {
		t.Errorf("stats %+v, want %+v: one sync for an append, none for an empty one", stats, want)
	}
	r.Close()
	r, got, cut, err := Open(dir, testRun)
	if err != nil || cut != 0 {
		t.Fatal(cut, err)
	}
	defer r.Close()
	same(t, got, events[:8])
	add(t, r, events[8:]...)
	holds(t, dir, testRun, events)
}

func TestCreateTwice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := create1(t, dir, testRun)
	add(t, r, story(testRun, 3)...)
	r.Close()
	if _, err := Create(dir, testRun); !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), string(testRun)) {
		t.Errorf("error %v, want that the run exists", err)
	}
	holds(t, dir, testRun, story(testRun, 3))
}

func TestCreateAfterACrashedCreate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	half := filepath.Join(dir, "runs", ".new-"+string(testRun))
	if err := os.MkdirAll(filepath.Join(half, "blobs"), 0o700); err != nil {
		t.Fatal(err)
	}
	create1(t, dir, testRun)
	if _, err := os.Stat(half); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the half-made directory is still there: %v", err)
	}
}

func TestModesAndGitignore(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), ".pawl")
	r := create1(t, dir, testRun)
	d, content := blob(1)
	if err := r.Put(d, content); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		want := fs.FileMode(0o600)
		if e.IsDir() {
			want = 0o700 | fs.ModeDir
		}
		if err == nil && info.Mode() != want {
			t.Errorf("%s has mode %s, want %s", path, info.Mode(), want)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, ".gitignore")); err != nil || string(text) != "*\n" {
		t.Errorf(".gitignore holds %q, error %v: want *", text, err)
	}
}

// TestForeignDirectoryIsNotHidden: "*" in a .gitignore of somebody's repository
// would hide all of it.
func TestForeignDirectoryIsNotHidden(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	create1(t, dir, testRun)
	if _, err := os.Stat(filepath.Join(dir, ".gitignore")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf(".gitignore was written into a directory that was not empty: %v", err)
	}
}

func TestFileInTheWay(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Create(path, testRun)
	if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "in the way") {
		t.Errorf("error %v, want one that names the file in the way", err)
	}
}

func TestIDsThatLeadElsewhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, id := range []event.RunID{
		"", ".", "..", "../x", "a/b", `a\b`, "/etc", "A", "a.b", "-a", "a b", "a\x00", "ä", ".new-a",
		event.RunID(strings.Repeat("a", 65)),
	} {
		_, createErr := Create(dir, id)
		_, _, _, openErr := Open(dir, id)
		_, _, _, readErr := OpenRead(dir, id)
		_, _, liveErr := Live(dir, id)
		for _, err := range []error{createErr, openErr, readErr, liveErr} {
			if err == nil || !strings.Contains(err.Error(), "is no run id") {
				t.Errorf("%q: error %v, want it refused", id, err)
			}
		}
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v were made", left)
	}
	create1(t, dir, event.RunID(strings.Repeat("a", 64)))
}

func TestOpenWithoutARun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, open := range []func(string, event.RunID) (*Run, []event.Event, int, error){Open, OpenRead} {
		if _, _, _, err := open(dir, "nobody"); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "there is no run nobody in "+dir) {
			t.Errorf("error %v, want that there is no such run", err)
		}
	}
	if pid, live, err := Live(dir, "nobody"); pid != 0 || live || err != nil {
		t.Errorf("pid %d, live %v, error %v: want nothing", pid, live, err)
	}
}

func TestOneProcessAtATime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := create1(t, dir, testRun)
	add(t, r, story(testRun, 2)...)
	var busy *BusyError
	if _, _, _, err := Open(dir, testRun); !errors.As(err, &busy) || busy.PID != os.Getpid() ||
		!strings.Contains(err.Error(), fmt.Sprintf("run %s is still going in process %d", testRun, os.Getpid())) {
		t.Errorf("error %v, want one that names this process", err)
	}
	if pid, live, err := Live(dir, testRun); pid != os.Getpid() || !live || err != nil {
		t.Errorf("pid %d, live %v, error %v: want this process", pid, live, err)
	}
	r.Close()
	if pid, live, err := Live(dir, testRun); pid != 0 || live || err != nil {
		t.Errorf("closed: pid %d, live %v, error %v: want nobody", pid, live, err)
	}
	open1(t, dir, testRun)
}

// TestGlancesDoNotKeepOthersOut: whoever asks whether a run is live holds its
// lock for a moment.
func TestGlancesDoNotKeepOthersOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := create1(t, dir, testRun)
	add(t, r, story(testRun, 2)...)
	r.Close()
	stop, done := make(chan struct{}), make(chan error, 4)
	for range cap(done) {
		go func() {
			for {
				select {
				case <-stop:
					done <- nil
					return
				default:
				}
				if _, _, err := Live(dir, testRun); err != nil {
					done <- err
					return
				}
			}
		}()
	}
	for range 200 {
		r, _, _, err := openRun(idleDisk{}, dir, testRun)
		if err != nil {
			t.Error(err)
			break
		}
		r.Close()
	}
	close(stop)
	for range cap(done) {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestOpenReadChangesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := create1(t, dir, testRun)
	d, content := blob(1)
	if err := r.Put(d, content); err != nil {
		t.Fatal(err)
	}
	events := story(testRun, 4)
	add(t, r, events[:3]...)
	reader, got, _, err := OpenRead(dir, testRun)
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, events[:3])
	if back, err := reader.Get(d); err != nil || string(back) != string(content) {
		t.Errorf("blob: %v", err)
	}
	other, more := blob(2)
	if err := reader.Put(other, more); !errors.Is(err, ErrReadOnly) {
		t.Errorf("Put: %v, want ErrReadOnly", err)
	}
	if err := reader.Append(context.Background(), events[3:]); !errors.Is(err, ErrReadOnly) {
		t.Errorf("Append: %v, want ErrReadOnly", err)
	}
	reader.Close()
	add(t, r, events[3:]...) // the writer did not notice
	holds(t, dir, testRun, events)
}

func TestAppendKeepsOrder(t *testing.T) {
	t.Parallel()
	events := story(testRun, 6)
	foreign := story("another", 6)
	for name, batch := range map[string][]event.Event{
		"again":       events[1:3],
		"gap":         events[3:4],
		"backwards":   {events[3], events[2]},
		"another run": foreign[2:3],
	} {
		dir := t.TempDir()
		r := create1(t, dir, testRun)
		add(t, r, events[:2]...)
		if name == "backwards" {
			add(t, r, events[2])
			batch = []event.Event{events[3], events[3]}
		}
		before := r.Stats()
		if err := r.Append(context.Background(), batch); err == nil {
			t.Errorf("%s: accepted", name)
		}
		if r.Stats() != before {
			t.Errorf("%s: something was written", name)
		}
		if err := r.Append(context.Background(), events[2:3]); !errors.Is(err, ErrUnknownState) {
			t.Errorf("%s: the next append gives %v, want ErrUnknownState", name, err)
		}
	}
}

func TestAppendWhenCancelled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := create1(t, dir, testRun)
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("the user went home")
	cancel(why)
	if err := r.Append(ctx, story(testRun, 1)); !errors.Is(err, why) {
		t.Errorf("error %v, want the cause of the cancellation", err)
	}
	if err := r.Append(context.Background(), story(testRun, 1)); !errors.Is(err, ErrUnknownState) || !errors.Is(err, why) {
		t.Errorf("error %v, want ErrUnknownState with what came first", err)
	}
	holds(t, dir, testRun, nil)
}

func TestRemovedRecordIsNoticed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := create1(t, dir, testRun)
	add(t, r, story(testRun, 2)...)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	err := r.Append(context.Background(), story(testRun, 3)[2:])
	var w *WriteError
	if !errors.As(err, &w) || !strings.Contains(err.Error(), "removed") || !strings.Contains(err.Error(), "cannot be resumed") {
		t.Errorf("error %v, want that the record was removed", err)
	}
}

func TestDamageIsRefusedAndShown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := create1(t, dir, testRun)
	events := story(testRun, 9)
	add(t, r, events...)
	r.Close()
	path := filepath.Join(r.Dir(), "events.jsonl")
	log, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	log[strings.Index(string(log), `"seq":6`)+40] ^= 4
	if err := os.WriteFile(path, log, 0o600); err != nil {
		t.Fatal(err)
	}
	var damaged *event.DamagedError
	if _, _, _, err := Open(dir, testRun); !errors.As(err, &damaged) || damaged.Seq != 6 || !strings.Contains(err.Error(), string(testRun)) {
		t.Errorf("Open: %v, want damage at event 6", err)
	}
	_, got, _, err := OpenRead(dir, testRun)
	if !errors.As(err, &damaged) {
		t.Errorf("OpenRead: %v, want damage", err)
	}
	same(t, got, events[:5])
	if after, _ := os.ReadFile(path); string(after) != string(log) {
		t.Error("the damaged record was changed")
	}
	if _, live, _ := Live(dir, testRun); live {
		t.Error("a refused Open keeps the lock")
	}
}

func TestRecordOfAnotherRunIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := create1(t, dir, "one")
	add(t, r, story("one", 3)...)
	r.Close()
	if err := os.Rename(r.Dir(), filepath.Join(dir, "runs", "two")); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := Open(dir, "two"); err == nil || !strings.Contains(err.Error(), "belongs to run one, not to two") {
		t.Errorf("error %v, want that the record is another run's", err)
	}
}

// TestCopyWithoutEmptyDirectories: a record that came through git has no blobs
// directory when it had no blobs, and no lock.
func TestCopyWithoutEmptyDirectories(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := create1(t, dir, testRun)
	events := story(testRun, 3)
	add(t, r, events[:2]...)
	r.Close()
	for _, name := range []string{"blobs", "lock"} {
		if err := os.RemoveAll(filepath.Join(r.Dir(), name)); err != nil {
			t.Fatal(err)
		}
	}
	disk := &faultDisk{}
	r, _, _, err := openRun(disk, dir, testRun)
	if err != nil {
		t.Fatal(err)
	}
	d, content := blob(1)
	if err := r.Put(d, content); err != nil {
		t.Fatal(err)
	}
	add(t, r, events[2])
	dies(r)
	if err := disk.losePower(); err != nil {
		t.Fatal(err)
	}
	holds(t, dir, testRun, events)
	r, _, _ = open1(t, dir, testRun)
	if _, err := r.Get(d); err != nil {
		t.Error(err)
	}
}

func TestBlobs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := create1(t, dir, testRun)
	d, content := blob(1)
	if _, err := r.Get(d); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "missing from the record of run "+string(testRun)) {
		t.Errorf("missing blob: %v", err)
	}
	if err := r.Put(d, content); err != nil {
		t.Fatal(err)
	}
	once := r.Stats()
	if err := r.Put(d, content); err != nil {
		t.Fatal(err)
	}
	if r.Stats() != once {
		t.Errorf("stats %+v after putting it twice, want %+v", r.Stats(), once)
	}
	path := filepath.Join(r.Dir(), "blobs", string(d[:2]), string(d))
	if got, err := os.ReadFile(path); err != nil || string(got) != string(content) {
		t.Errorf("%s: %v", path, err)
	}
	if err := r.Put(d, []byte("something else")); err == nil {
		t.Error("content was accepted under another's digest")
	}
	for _, bad := range []event.Digest{"", "ab", "../../../../../../../../../../../../../../../../../etc/passwd/../..", event.Digest(strings.ToUpper(string(d)))} {
		if _, err := r.Get(bad); err == nil || !strings.Contains(err.Error(), "is no digest") {
			t.Errorf("Get(%q): %v", bad, err)
		}
		if err := r.Put(bad, nil); err == nil {
			t.Errorf("Put(%q) was accepted", bad)
		}
	}
}

func TestDamagedBlob(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := create1(t, dir, testRun)
	d, content := blob(1)
	if err := r.Put(d, content); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.blobPath(d), content[:100], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Get(d); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("Get: %v, want damage", err)
	}
	r.Close()
	r, _, _ = open1(t, dir, testRun)
	if err := r.Put(d, content); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Get(d); err != nil || !reflect.DeepEqual(got, content) {
		t.Errorf("after putting it again: %v", err)
	}
}

func TestHalfBlobsAreCleared(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := create1(t, dir, testRun)
	d, content := blob(1)
	if err := r.Put(d, content); err != nil {
		t.Fatal(err)
	}
	r.Close()
	if err := os.WriteFile(filepath.Join(r.Dir(), "blobs", halfPrefix+"7"), []byte("to"), 0o600); err != nil {
		t.Fatal(err)
	}
	open1(t, dir, testRun)
	left, err := os.ReadDir(filepath.Join(r.Dir(), "blobs"))
	if err != nil || len(left) != 1 || left[0].Name() != string(d[:2]) {
		t.Errorf("blobs holds %v, error %v", left, err)
	}
}
