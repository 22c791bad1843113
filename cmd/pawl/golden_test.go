package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/runner/event"
)

// TestGoldenHistories decides the records of testdata/golden again. They were
// made by real runs and stay as they are: a record of an earlier version must be
// read and decided as it was then. A difference here is a change of what pawl
// does, and is never mended by making the record anew.
func TestGoldenHistories(t *testing.T) {
	t.Parallel()
	found, err := filepath.Glob(filepath.Join("..", "..", "testdata", "golden", "*", "runs", "*"))
	if err != nil || len(found) < 17 {
		t.Fatalf("%d golden histories, error %v", len(found), err)
	}
	for _, dir := range found {
		scenario, run := filepath.Base(filepath.Dir(filepath.Dir(dir))), filepath.Base(dir)
		t.Run(scenario+"/"+run, func(t *testing.T) {
			t.Parallel()
			store := copyStore(t, dir)
			for _, command := range []string{"verify-record", "replay", "report"} {
				var out, errOut bytes.Buffer
				args := []string{command, run, "--store-dir", store, "-C", t.TempDir()}
				if status := Main(context.Background(), args, strings.NewReader(""), &out, &errOut, nil); status != 0 {
					t.Errorf("pawl %s: exit status %d\n%s%s", command, status, &out, &errOut)
				}
			}
		})
	}
}

// copyStore puts a record where a test may write beside it.
func copyStore(t *testing.T, dir string) string {
	t.Helper()
	store := t.TempDir()
	if err := os.CopyFS(filepath.Join(store, "runs", filepath.Base(dir)), os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return store
}

// TestReplayNamesTheDifference alters a record with a sound chain and sequence,
// as a wrong engine would have written it.
func TestReplayNamesTheDifference(t *testing.T) {
	t.Parallel()
	store := copyStore(t, filepath.Join("..", "..", "testdata", "golden", "llm_router", "runs", "r"))
	forge(t, filepath.Join(store, "runs", "r", "events.jsonl"), `"to":"design","edge":1`, `"to":"backend","edge":0`)
	var out, errOut bytes.Buffer
	args := []string{"replay", "r", "--store-dir", store, "-C", t.TempDir()}
	status := Main(context.Background(), args, strings.NewReader(""), &out, &errOut, nil)
	text := errOut.String()
	if status != 3 || !strings.Contains(text, "event 8 (triage)") || !strings.Contains(text, `expected EdgeTaken {"to":"design","edge":1}`) ||
		!strings.Contains(text, `recorded EdgeTaken {"to":"backend","edge":0}`) {
		t.Errorf("exit status %d\n%s%s", status, &out, text)
	}
	out.Reset()
	if status := Main(context.Background(), append(args, "--json"), strings.NewReader(""), &out, &errOut, nil); status != 3 ||
		!strings.Contains(out.String(), `"same": false`) || !strings.Contains(out.String(), `"seq": 8`) {
		t.Errorf("exit status %d\n%s", status, &out)
	}
}

// forge replaces a text in one event of a record and chains it anew.
func forge(t *testing.T, path, from, to string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	events, _, err := event.ReadAll(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	var chain event.Chain
	var out []byte
	for i := range events {
		body, err := json.Marshal(events[i].Body)
		if err != nil {
			t.Fatal(err)
		}
		if altered := bytes.Replace(body, []byte(from), []byte(to), 1); !bytes.Equal(altered, body) {
			if err := json.Unmarshal(altered, events[i].Body); err != nil {
				t.Fatal(err)
			}
		}
		if out, err = chain.Append(out, &events[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, out, 0o644); err != nil {
		t.Fatal(err)
	}
}
