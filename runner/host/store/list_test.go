package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-ci/pawl/runner/event"
)

// store1 is a store with one closed run per id, each a minute younger than the
// one before.
func store1(t *testing.T, ids ...event.RunID) string {
	t.Helper()
	dir := t.TempDir()
	for i, id := range ids {
		events := story(id, 4)
		for j := range events {
			events[j].Time = events[j].Time.Add(time.Duration(i) * time.Minute)
		}
		r := create1(t, dir, id)
		add(t, r, events...)
		r.Close()
	}
	return dir
}

func listed(t *testing.T, dir string) []Summary {
	t.Helper()
	list, err := List(dir)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func names(list []Summary) string {
	var out []string
	for _, s := range list {
		out = append(out, string(s.Run))
	}
	return strings.Join(out, " ")
}

func TestListNewestFirst(t *testing.T) {
	t.Parallel()
	dir := store1(t, "beta", "alpha", "gamma")
	list := listed(t, dir)
	if got := names(list); got != "gamma alpha beta" {
		t.Fatalf("listed %s, want the newest first", got)
	}
	s := list[0]
	info, err := os.Stat(pathsOf(dir, s.Run).log)
	if err != nil {
		t.Fatal(err)
	}
	start, ok := s.First.Body.(*event.RunStarted)
	if !ok || start.Workflow != "ci_fix" || s.Last.Seq != 4 || s.Size != info.Size() || s.Live || s.Err != nil {
		t.Errorf("summary %+v", s)
	}
}

func TestListOfTheSameInstant(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, id := range []event.RunID{"b", "c", "a"} {
		add(t, create1(t, dir, id), story(id, 1)...)
	}
	if got := names(listed(t, dir)); got != "c b a" {
		t.Errorf("listed %s, want an order that does not depend on the directory", got)
	}
}

func TestListWithoutAStore(t *testing.T) {
	t.Parallel()
	if list := listed(t, filepath.Join(t.TempDir(), "nothing")); len(list) != 0 {
		t.Errorf("listed %v", list)
	}
}

func TestListOfALiveRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := create1(t, dir, testRun)
	if list := listed(t, dir); len(list) != 0 {
		t.Errorf("listed %+v before its first event", list)
	}
	add(t, r, story(testRun, 5)...)
	f, err := os.OpenFile(pathsOf(dir, testRun).log, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"v":1,"seq":6,"ts":"2026`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	list := listed(t, dir)
	if len(list) != 1 || !list[0].Live || list[0].PID != os.Getpid() || list[0].Last.Seq != 5 || list[0].Err != nil {
		t.Errorf("listed %+v, want a live run with five events", list)
	}
}

// TestListLongLines: the ends of a record may be longer than one read.
func TestListLongLines(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	events := story(testRun, 5)
	start := events[0].Body.(*event.RunStarted)
	start.NodeDigests = make(map[string]event.Digest)
	for i := range 5000 {
		start.NodeDigests[fmt.Sprintf("node_%d", i)] = "digest"
	}
	events[4].Body = &event.RunStopped{Detail: strings.Repeat("long ", 20_000)}
	r := create1(t, dir, testRun)
	add(t, r, events[0])
	if s := listed(t, dir)[0]; s.First.Seq != 1 || s.Last.Seq != 1 {
		t.Errorf("one line: first %d, last %d", s.First.Seq, s.Last.Seq)
	}
	add(t, r, events[1:4]...)
	if s := listed(t, dir)[0]; s.First.Seq != 1 || s.Last.Seq != 4 {
		t.Errorf("short last line: first %d, last %d", s.First.Seq, s.Last.Seq)
	}
	add(t, r, events[4])
	if s := listed(t, dir)[0]; s.First.Seq != 1 || s.Last.Seq != 5 || len(s.First.Body.(*event.RunStarted).NodeDigests) != 5000 {
		t.Errorf("long last line: first %d, last %d", s.First.Seq, s.Last.Seq)
	}
}

func TestListShowsDamage(t *testing.T) {
	t.Parallel()
	dir := store1(t, "first", "last", "sound")
	spoil := func(id event.RunID, at func(string) int) {
		path := pathsOf(dir, id).log
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text[at(string(text))] ^= 1
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	spoil("first", func(s string) int { return strings.Index(s, "ci_fix") })
	spoil("last", func(s string) int { return strings.LastIndex(s, `"token"`) + 1 })
	list := listed(t, dir)
	if got := names(list); got != "sound last first" {
		t.Fatalf("listed %s, want the unreadable one last", got)
	}
	if list[0].Err != nil || list[1].Err == nil || !strings.Contains(list[1].Err.Error(), "run last: last event") ||
		list[2].Err == nil || !strings.Contains(list[2].Err.Error(), "run first: first event") {
		t.Errorf("errors: %v; %v; %v", list[0].Err, list[1].Err, list[2].Err)
	}
}

func TestListIgnoresStrangers(t *testing.T) {
	t.Parallel()
	dir := store1(t, "mine")
	runs := filepath.Join(dir, "runs")
	for _, path := range []string{".new-half", "Upper", "empty"} {
		if err := os.Mkdir(filepath.Join(runs, path), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range map[string]string{"file": "x", ".new-half/events.jsonl": "x\n"} {
		if err := os.WriteFile(filepath.Join(runs, path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	create1(t, dir, "torn")
	if err := os.WriteFile(pathsOf(dir, "torn").log, []byte(`{"v":1,"seq":1`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := names(listed(t, dir)); got != "mine" {
		t.Errorf("listed %s, want mine only", got)
	}
}

// shrinking is a log that a resume cuts between two reads.
type shrinking struct{ reads int }

// ReadAt implements io.ReaderAt.
func (s *shrinking) ReadAt(p []byte, _ int64) (int, error) {
	if s.reads++; s.reads == 1 {
		return copy(p, "first\nsecond\n"), io.EOF
	}
	return 0, io.EOF
}

func TestEndLinesOfALogThatIsCutMeanwhile(t *testing.T) {
	t.Parallel()
	first, last, err := endLines(&shrinking{}, 13)
	if err != nil || string(first) != "first" || string(last) != "first" {
		t.Errorf("%q, %q, error %v; want the line that is still known", first, last, err)
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	dir := store1(t, "fix-12", "fix-123", "fix-2", "other", "many-1", "many-2", "many-3", "many-4", "many-5", "many-6", "many-7")
	create1(t, dir, "other-unbegun")
	for text, want := range map[string]event.RunID{"fix-12": "fix-12", "fix-123": "fix-123", "fix-2": "fix-2", "o": "other"} {
		if got, err := Resolve(dir, text); err != nil || got != want {
			t.Errorf("%s: %s, error %v; want %s", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"fix-1":   `"fix-1" is the beginning of several runs: fix-12, fix-123`,
		"many":    "many-1, many-2, many-3, many-4, many-5, and 2 more",
		"":        `called ""`,
		"x":       `no run in ` + dir + ` is called "x"`,
		"../x":    `called "../x"`,
		"other-u": "other-u",
	} {
		got, err := Resolve(dir, text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, error %v; want %s", text, got, err, want)
		}
		if missing := !strings.Contains(want, ","); missing != errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: error %v has the wrong kind", text, err)
		}
	}
}
